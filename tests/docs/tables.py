"""Tables of the README and docs/*.md that describe the environment, made from the running environment.

A table is between `<!-- table: NAME -->` and `<!-- end -->`. `python -m tests.docs.tables` rewrites all of them in
place; a test fails while they differ.
"""

from __future__ import annotations

import inspect
import itertools
import re
from pathlib import Path

import gymnasium
import numpy as np

from fiveup_env import Match, fiveup_v0
from fiveup_env.envs.env_options import EnvOptions
from fiveup_env.rules.actions import DRAW, LAY_DOUBLE, LAY_END, LAY_SPINNER, NUM_ACTIONS, PASS, decode, describe
from fiveup_env.views.observation import offsets, sections

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table. A bar inside code would end the cell, so such code is written as HTML."""
    code = re.compile(r"`([^`]*\|[^`]*)`")
    escaped = [
        [code.sub(lambda m: f"<code>{m[1].replace('|', '&#124;')}</code>", cell) for cell in row] for row in rows
    ]
    lines = [head, ["---"] * len(head), *escaped]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def observation_table() -> str:
    """Sections with their index ranges for 2, 3 and 4 players."""
    rows = []
    for i, section in enumerate(sections(4)):
        ranges = []
        for players in (2, 3, 4):
            start, stop = (int(offset) for offset in offsets(players)[i : i + 2])
            ranges.append(f"{start}" if stop == start + 1 else f"{start}-{stop - 1}")
        unit = "0 or 1" if section.unit == 1 else f"count / {round(1 / section.unit)}"
        shape = "x".join(map(str, section.shape))
        rows.append([f"`{section.name}`", shape, *ranges, unit, section.meaning])
    total = ["**length**", "", *(f"**{int(offsets(n)[-1])}**" for n in (2, 3, 4)), "", ""]
    return table(["section", "shape (4)", "2 players", "3 players", "4 players", "values", "meaning"], [*rows, total])


def action_table() -> str:
    """Ranges of action ids with an example of each."""
    bounds = [0, LAY_DOUBLE, LAY_END, LAY_SPINNER, DRAW, PASS, NUM_ACTIONS]
    rows = []
    for first, stop in itertools.pairwise(bounds):
        ids = f"{first}" if stop == first + 1 else f"{first}-{stop - 1}"
        rows.append([ids, str(stop - first), f"`{describe(stop - 1)}`"])
    return table(["ids", "count", "example (the last id)"], rows)


def option_table() -> str:
    """Options that all environments share, with their defaults."""
    attributes = EnvOptions.__doc__.split("Attributes:")[1].split("Raises:")[0]  # type: ignore[union-attr]
    meanings = {}
    for names, text in re.findall(r"^ {8}([\w, ]+): (.+?)(?=^ {8}\w|\Z)", attributes, re.M | re.S):
        for name in names.split(", "):
            meanings[name] = " ".join(text.split())
    defaults = EnvOptions()
    return table(
        ["option", "default", "meaning"],
        [[f"`{name}`", f"`{getattr(defaults, name)!r}`", text] for name, text in meanings.items()],
    )


def summary_table() -> str:
    """Summary in the style of PettingZoo's pages."""
    rows = []
    for n in (2, 3, 4):
        env = fiveup_v0.raw_env(num_players=n)
        box = env.observation_space("player_0")["observation"]
        agents = ", ".join(f"`{agent}`" for agent in env.possible_agents)
        sides = "`player_0` + `player_2` against `player_1` + `player_3`" if n == 4 else "each for itself"
        state = env.state_space.shape
        rows.append(
            [str(n), agents, sides, f"`{box.shape}` {box.dtype}", f"`{env.action_space('player_0')}`", f"`{state}`"]
        )
    return table(["players", "agents", "sides", "`observation`", "actions", "`state()`"], rows)


def facts_table() -> str:
    """Facts about making the environments."""
    env = gymnasium.make("fiveup_env/FiveUp-v0")
    aec = fiveup_v0.raw_env()
    modes = ", ".join(f'`"{mode}"`' for mode in aec.metadata["render_modes"])
    return table(
        ["", ""],
        [
            ["import", "`from fiveup_env import fiveup_v0`"],
            ["PettingZoo", "`fiveup_v0.env()`, `raw_env()`, `parallel_env()`"],
            ["Gymnasium", f'`gymnasium.make("{env.spec.id}")`, `gymnasium.make_vec(...)`'],  # type: ignore[union-attr]
            ["players", "2, 3, or 4 in two partnerships (`num_players`, 4 by default)"],
            ["parallelizable", "yes" if aec.metadata["is_parallelizable"] else "no"],
            ["manual control", "`fiveup play you greedy`"],
            ["actions", f"`{aec.action_space('player_0')}`, masked"],
            ["observations", f"{_kind(aec.observation_space('player_0'))}"],
            ["range of values", _range(aec.observation_space("player_0")["observation"])],
            ["render modes", modes],
        ],
    )


def _kind(space: gymnasium.Space) -> str:
    assert isinstance(space, gymnasium.spaces.Dict)
    return "dict of " + ", ".join(f"`{name}` {part.dtype}" for name, part in space.spaces.items())


def _range(box: gymnasium.Space) -> str:
    assert isinstance(box, gymnasium.spaces.Box)
    return f"{box.low.min():g} to {box.high.max():g}; most are 0 or 1"


def sides_table() -> str:
    """Rewards of every scheme in two short matches, played here."""
    deal = {"hands": [[(1, 4)], [(4, 4), (2, 2)]], "boneyard": [(0, 0)], "opener": 0}
    rows = []
    for reward in ("win", "points", "equity"):
        paid = []
        for scores in ((290, 0), (0, 0)):
            env = fiveup_v0.raw_env(num_players=2, reward=reward)
            env.reset(seed=0, options={"deal": deal, "scores": scores})
            env.step(int(np.flatnonzero(env.observe("player_0")["action_mask"])[0]))
            paid.append(", ".join(f"{value:+.3f}" for value in env.rewards.values()))
        rows.append([f"`{reward}`", *(f"`{text}`" for text in paid)])
    return table(["scheme", "from 58 points: 61, match won", "from 0 points: 3 of 61"], rows)


def decode_table() -> str:
    """Ids of every kind with their named actions."""
    rows = []
    for number in (0, 27, LAY_DOUBLE, LAY_DOUBLE + 6, LAY_END, LAY_END + 1, LAY_SPINNER, LAY_SPINNER + 41, DRAW, PASS):
        rows.append([str(number), f"`{decode(number)}`", describe(number)])
    return table(["id", "`decode(id)`", "`describe(id)`"], rows)


def arguments_table() -> str:
    """Arguments of each environment in addition to the shared options."""
    from fiveup_env.envs.gymnasium_single import FiveUpEnv
    from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
    from fiveup_env.envs.pettingzoo_aec import FiveUpAEC
    from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv

    rows = []
    for made in (FiveUpAEC, FiveUpEnv, FiveUpVectorEnv, SelfPlayVectorEnv):
        own = [
            f"`{p.name}={_default(p)}`" if p.default is not p.empty else f"`{p.name}`"
            for p in inspect.signature(made).parameters.values()
            if p.kind is not p.VAR_KEYWORD
        ]
        rows.append([f"`{made.__name__}`", ", ".join(own)])
    return table(["class", "arguments in addition to the options above"], rows)


def _default(parameter: inspect.Parameter) -> str:
    value = parameter.default
    return value.__name__ if isinstance(value, type) else getattr(value, "name", None) or repr(value)


INFOS = {
    "action_mask": "int8 [121], legal actions of the agent to act; zeros for other agents and at the end",
    "actions": "(seat, action) from the last decision on, that included; a draw does not show its tile (D6)",
    "events": "scoring events of the last step by any side, in order: `fiveup_env.Event`, `net` in raw points",
    "forced": 'with draws="auto": draws and passes that the last step took automatically, in order, as (agent, action)',
    "illegal_action": "id of the illegal action that ended the episode",
    "is_success": "True if the learner's side is the winner",
    "length": "decisions of the learner's side in the episode",
    "return": "sum of the rewards of the episode",
    "round_number": "1 in the first round",
    "rounds": "rounds of the episode",
    "scores": "raw points per side",
    "seat": "seat that observes and acts",
    "side": "the side of that seat",
    "winner": 'side that won the match (episode="round": the round); None (in vectors -1) if no side did',
}
"""Meaning of each key of infos, in all environments."""


def infos_table() -> str:
    """Keys of infos, read from a running environment of each kind."""
    every, end = "every step", "at the end"
    found = {"PettingZoo": _aec_infos(), "Gymnasium": {}, "vector": {}}
    single = gymnasium.make("fiveup_env/FiveUp-v0", num_players=2, episode="round")
    vector = gymnasium.make_vec("fiveup_env/FiveUp-v0", num_envs=1, num_players=2, episode="round")
    for illegal in (False, True):
        _, info = single.reset(seed=0)
        found["Gymnasium"] |= dict.fromkeys(info, every)
        over = False
        while not over:
            legal = int(info["action_mask"].argmax())
            _, _, terminated, truncated, info = single.step(119 if illegal else legal)  # at the first turn no draw
            over = terminated or truncated
        found["Gymnasium"] |= dict.fromkeys(set(info) - set(found["Gymnasium"]), end)
    _, info = vector.reset(seed=0)
    found["vector"] |= dict.fromkeys(info, every)
    while "final_info" not in info:
        _, _, _, _, info = vector.step(info["action_mask"].argmax(1))
    ended = {key for key in info["final_info"] if not key.startswith("_")}
    found["vector"] |= dict.fromkeys(ended, "in `final_info`")
    keys = sorted({key for there in found.values() for key in there})
    rows = [[f"`{key}`", *(there.get(key, "") for there in found.values()), INFOS[key]] for key in keys]
    return table(["key", *found, "meaning"], rows)


def _aec_infos() -> dict[str, str]:
    aec = fiveup_v0.raw_env(num_players=2)
    aec.reset(seed=0)
    return dict.fromkeys(aec.infos["player_0"], "every step")


def seeds_table() -> str:
    """First deal of some seeds: the opener, and the hand of player_0."""
    rows = []
    for seed in (0, 1, 2**64 - 1):
        match = Match(4, seed)
        hand = " ".join(f"[{low}\\|{high}]" for low, high in match.hands[0])
        rows.append([str(seed), f"`player_{match.turn}`", hand])
    return table(["seed", "opens", "`player_0` holds"], rows)


def history_text() -> str:
    """The part of the changelog on versions of the environment."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    parts = re.findall(r"^## \[(.+?)\].*?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    lines = []
    for version, part in parts:
        found = re.search(r"^### Environment\n\n(.*?)(?=^### |\Z)", part, re.M | re.S)
        if found:
            lines += [f"Package {version}:", "", found[1].strip()]
    return "\n".join(lines)


TABLES = {
    "observation": observation_table,
    "actions": action_table,
    "options": option_table,
    "summary": summary_table,
    "facts": facts_table,
    "rewards": sides_table,
    "decode": decode_table,
    "arguments": arguments_table,
    "infos": infos_table,
    "seeds": seeds_table,
    "history": history_text,
}
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.S)


def pages() -> list[Path]:
    """README.md and docs/*.md."""
    return [README, *sorted((ROOT / "docs").glob("*.md"))]


def rewritten(text: str) -> str:
    """A page's text with every table between its two markers made again.

    Raises:
        ValueError: if there is no table of that name.
    """

    def made(match: re.Match[str]) -> str:
        if match[2] not in TABLES:
            raise ValueError(f"there is no table {match[2]!r}: {', '.join(TABLES)}")
        return f"{match[1]}{TABLES[match[2]]()}\n{match[3]}"

    return MARKED.sub(made, text)


if __name__ == "__main__":
    for page in pages():
        page.write_text(rewritten(page.read_text(encoding="utf-8")), encoding="utf-8")
