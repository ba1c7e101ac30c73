"""Read training configs: YAML files checked by pydantic models, with one-line errors that name file, line and key.

A config is a model derived from `ConfigSection` in which every field has a description. Unknown keys, wrong types and
values out of range are errors.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from fiveup_env.system.training_scripts import ConfigError

Place = tuple[str, ...]
"""Path in a file: keys and indices of list items."""


class ConfigSection(BaseModel):
    """A config, or a nested part of one."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _number(value: Any) -> Any:
    """Convert text such as `1e-3`, which YAML does not read as a number (it requires 1.0e-3)."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


Real = Annotated[float, BeforeValidator(_number)]
Positive = Annotated[Real, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[Real, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[Real, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]

Model = TypeVar("Model", bound=ConfigSection)


def with_defaults(section: type[Model], **defaults: Any) -> type[Model]:
    """Return a subclass of the same name in which some fields have other default values."""
    changed = type(section)(
        section.__name__, (section,), {"__doc__": section.__doc__, "__module__": section.__module__}
    )
    for name, value in defaults.items():
        changed.model_fields[name].default = value
    changed.model_rebuild(force=True)
    return changed


def read_config(path: Path, model: type[Model], **changes: Any) -> Model:
    """Return the config in a YAML file.

    Args:
        path: the file.
        model: model of the config.
        changes: values that replace top-level keys of the file; None changes nothing.

    Raises:
        ConfigError: in one line, with file, line and key of every error.
    """
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), yaml.SafeLoader)
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: a config must be a list of `key: value` lines")
    lines: dict[Place, int] = {}
    for place, line in _places(node, ()):
        if place in lines:
            raise ConfigError(f"{path} line {line}: {_dotted(place)} is given twice")
        lines[place] = line
    content |= {key: value for key, value in changes.items() if value is not None}
    try:
        return model.model_validate(content)
    except ValidationError as error:
        wrong = [_explained(problem, model, lines) for problem in error.errors(include_url=False)]
        raise ConfigError(f"{path} {'; '.join(wrong)}") from error


def _places(node: yaml.Node | None, above: Place) -> Iterator[tuple[Place, int]]:
    """Yield every key of a YAML document with its line."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*above, str(key.value))
            yield here, key.start_mark.line + 1
            yield from _places(value, here)
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            yield from _places(value, (*above, str(i)))


def _explained(problem: Any, model: type[ConfigSection], lines: dict[Place, int]) -> str:
    """Return a pydantic error as text: line, key, problem."""
    place: Place = tuple(str(part) for part in problem["loc"] if part != "[key]")
    known = next((lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in lines), None)
    where = f"line {known}: " if known else ": "
    if problem["type"] == "extra_forbidden":
        names = _names(model, place[:-1])
        close = difflib.get_close_matches(place[-1], names, 1)
        instead = f"did you mean {close[0]!r}?" if close else f"keys: {', '.join(names)}"
        return f"{where}there is no key {_dotted(place)!r}, {instead}"
    if problem["type"] == "missing":
        return f"{where}the key {_dotted(place)!r} is missing"
    message = problem["msg"].removeprefix("Value error, ")
    if not place:
        return f"{where}{message}"
    message = message[0].lower() + message[1:]
    given = problem["input"]
    return f"{where}{_dotted(place)}: {message}, not {given!r}"


def _names(model: type[ConfigSection], place: Place) -> list[str]:
    """Return the keys of a section; `place` may lead through lists of sections and optional ones."""
    for part in place:
        if not part.isdigit():
            annotation = model.model_fields[part].annotation
            kinds = get_args(annotation) or (annotation,)
            model = next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, ConfigSection))
    return list(model.model_fields)


def _dotted(place: Place) -> str:
    return ".".join(place)
