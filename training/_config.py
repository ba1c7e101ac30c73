"""Reading configs: YAML files, checked by pydantic models; whatever is wrong is one line that says where.

A script declares its fields once, as models derived from `Section`, each field with a description. Unknown keys, wrong
types and values out of range are refused.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from fiveup_env.system.training_scripts import ConfigError

Place = tuple[str, ...]
"""Where in a file: the keys (and numbers of list items) that lead there."""


class Section(BaseModel):
    """A config, or a part of one with keys of its own."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _no_text(value: Any) -> Any:
    """YAML takes `1e-3` for text (it wants 1.0e-3); people do not, so it counts as a number."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


Real = Annotated[float, BeforeValidator(_no_text)]
"""A number."""
Positive = Annotated[Real, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[Real, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[Real, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]

Model = TypeVar("Model", bound=Section)


def read_config(path: Path, model: type[Model], **changes: Any) -> Model:
    """The config in a YAML file.

    Args:
        path: the file.
        model: what is expected in it.
        changes: values for keys at the top, in place of the file's; None changes nothing.

    Raises:
        ConfigError: one line with the file, the line and the key of everything that is wrong.
    """
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), yaml.SafeLoader)
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: a config is a list of `key: value` lines")
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
    """Every key of a YAML document with its line."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*above, str(key.value))
            yield here, key.start_mark.line + 1
            yield from _places(value, here)
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            yield from _places(value, (*above, str(i)))


def _explained(problem: Any, model: type[Section], lines: dict[Place, int]) -> str:
    """One pydantic error for people: line, key, what is wrong."""
    place: Place = tuple(str(part) for part in problem["loc"] if part != "[key]")
    known = next((lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in lines), None)
    where = f"line {known}: " if known else ": "
    if problem["type"] == "extra_forbidden":
        names = _names(model, place[:-1])
        close = difflib.get_close_matches(place[-1], names, 1)
        instead = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names)}"
        return f"{where}there is no key {_dotted(place)!r}, {instead}"
    if problem["type"] == "missing":
        return f"{where}the key {_dotted(place)!r} is missing"
    message = problem["msg"].removeprefix("Value error, ")
    if not place:
        return f"{where}{message}"
    message = message[0].lower() + message[1:]
    given = problem["input"]
    return f"{where}{_dotted(place)}: {message}, not {given!r}"


def _names(model: type[Section], place: Place) -> list[str]:
    """The keys that a section has."""
    for part in place:
        inner = model.model_fields[part].annotation
        assert isinstance(inner, type) and issubclass(inner, Section)
        model = inner
    return list(model.model_fields)


def _dotted(place: Place) -> str:
    return ".".join(place)
