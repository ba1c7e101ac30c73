"""Positions labelled by a search: a value for every action of every decision of whole matches.

A *shard* is a file of positions from separate matches. Its content depends on (source, number of the shard) alone, so
processes can write shards in any order, and existing files are kept.

| array    | dtype, shape      | meaning                                                                          |
|----------|-------------------|----------------------------------------------------------------------------------|
| codes    | uint8 [N, F]      | observation of the seat to act, as codes                                         |
| belief   | uint8 [N, n, 28]  | likely places of the tiles (`belief.approximation`), in 255ths                   |
| mask     | uint8 [N, 16]     | legal actions (at least two), packed bits                                        |
| values   | float32 [M]       | mean value of every legal action, by position and action id                      |
| worlds   | uint16 [M]        | number of worlds of each mean                                                    |
| spread   | float32 [N]       | standard deviation over worlds of the best action's value                    |

Values are win probabilities of the seat's side (see `agents.search.equity`). The search sees views only.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.agents.protocol import Policy, is_policy, keys_of
from fiveup_env.agents.registry import make_agent
from fiveup_env.agents.search.pimc import PIMC, Estimator, in_the_race
from fiveup_env.belief.belief_section import LIKELY, belief_shape, beliefs_of
from fiveup_env.evaluation.match_play_kernels import take_choices
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.rules.record import PLAYING, RAW_PER_POINT, Variant, deal_matches, new_games
from fiveup_env.system.training_scripts import ConfigError
from fiveup_env.views.observation import observation_size
from fiveup_env.views.view import Views

from ._checkpoint import write_file, write_json

TEACHER = "teacher"
"""Name of the search's own choice among the players."""

LANES = 64  # parallel matches of a shard; few, so that a shard contains whole matches


@dataclass(frozen=True)
class Source:
    """Settings that determine labelled positions.

    Attributes:
        num_players: 2, 3 or 4.
        teacher: name of the `pimc` agent that labels.
        players: share of the sides by agent name or `teacher`.
        random: share of random decisions, so that the positions include mistakes.
        scattered: share of the matches that start from random scores instead of 0 : 0.
        shard: positions per shard.
        seed: seed of all shards.
    """

    num_players: int
    teacher: str
    players: dict[str, float]
    random: float
    scattered: float
    shard: int
    seed: int

    def identity(self) -> dict[str, Any]:
        """Return the settings with files identified by their content instead of their path."""
        players = {}
        for name, share in self.players.items():
            path = Path(name)
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else None
            players[f"{path.name} {digest}" if digest else name] = share
        return asdict(self) | {"players": players}


def labeller(spec: str, num_players: int) -> Estimator:
    """Return the estimator of a `pimc` agent.

    Raises:
        AgentError: if there is no such agent.
        ConfigError: if it is not a `pimc` agent with a number of worlds.
    """
    agent = make_agent(spec, num_players)
    if not isinstance(agent, PIMC) or agent.ms is not None:
        raise ConfigError(f"the teacher must be a pimc agent with a number of worlds, not {spec!r}")
    return Estimator(agent, num_players)


def make_shard(source: Source, number: int) -> dict[str, np.ndarray]:
    """Return the arrays of a shard."""
    rng = np.random.default_rng((source.seed, number))
    variant = Variant(source.num_players)
    label = labeller(source.teacher, source.num_players)
    agents = [None if name == TEACHER else _policy(name, source.num_players) for name in source.players]
    shares = np.array(list(source.players.values())) / sum(source.players.values())
    games = new_games(LANES, variant)
    who = np.zeros((LANES, variant.num_sides), np.int64)
    seeds = np.zeros((2, LANES), np.uint64)  # of the labels, and of the players
    fresh, rows = np.arange(LANES), np.arange(LANES)
    steps = []
    for _ in range(-(-source.shard // LANES)):
        if len(fresh):
            deal_matches(games, fresh, rng.integers(2**64, size=len(fresh), dtype=np.uint64))
            scores = RAW_PER_POINT * rng.integers(61, size=(len(fresh), variant.num_sides))
            scores[rng.random(len(fresh)) >= source.scattered] = 0
            games["scores"][fresh, : variant.num_sides] = scores
            who[fresh] = rng.choice(len(agents), (len(fresh), variant.num_sides), p=shares)
            seeds[:, fresh] = rng.integers(2**64, size=(2, len(fresh)), dtype=np.uint64)
        turns = games["turn"].astype(np.int64)
        views = Views(games, turns)
        codes, masks = views.observe(np.uint8)
        beliefs = np.rint(255 * beliefs_of(views, LIKELY)).astype(np.uint8)
        values, worlds, spreads = label(views, keys_of(views, seeds[0]), masks)
        steps.append((codes, beliefs, masks, values, worlds, spreads))
        actions = best_actions(values, worlds)
        keys = keys_of(views, seeds[1])
        players = who[rows, turns % variant.num_sides]
        for i, agent in enumerate(agents):
            here = np.flatnonzero(players == i)
            if agent is not None and len(here):
                actions[here] = agent.act_many(Views(games[here], turns[here]), keys[here])
        stray = np.flatnonzero(rng.random(LANES) < source.random)
        actions[stray] = (masks[stray] * rng.random((len(stray), NUM_ACTIONS))).argmax(1)
        assert take_choices(games, rows, actions, 0) == -1
        fresh = np.flatnonzero(games["phase"] != PLAYING)
    codes, beliefs, masks, values, worlds, spreads = (
        np.concatenate(part)[: source.shard] for part in zip(*steps, strict=True)
    )
    legal = masks > 0
    return {
        "codes": codes,
        "belief": beliefs,
        "mask": np.packbits(legal, axis=1),
        "values": values[legal],
        "worlds": worlds[legal].astype(np.uint16),
        "spread": spreads,
    }


def best_actions(values: np.ndarray, worlds: np.ndarray) -> np.ndarray:
    """Return the search's choice, int64 [N]: the best of the actions that it did not drop early."""
    return np.where(in_the_race(worlds), values, -np.inf).argmax(1)


def _policy(name: str, num_players: int) -> Policy:
    agent = make_agent(name, num_players)
    if not is_policy(agent):
        raise ConfigError(f"{name} cannot play here: it has no act_many")
    return agent


def shard_file(folder: Path, number: int) -> Path:
    """Return the path of a shard."""
    return folder / f"shard-{number:04d}.npz"


def write_shard(source: Source, folder: Path, number: int) -> int:
    """Write a shard; returns its number."""
    buffer = io.BytesIO()
    np.savez(buffer, **make_shard(source, number))
    write_file(shard_file(folder, number), buffer.getvalue())
    return number


def make_positions(
    source: Source, folder: Path, count: int, processes: int, progress: Callable[[int, int], None]
) -> list[Path]:
    """Create the missing shards of a folder, and return all its files.

    Args:
        source: settings; a folder holds the positions of one source.
        folder: created if it does not exist.
        count: number of positions, rounded up to whole shards.
        processes: number of processes.
        progress: called with the numbers of positions created so far and to be created in this call.

    Raises:
        ConfigError: if the folder holds positions of another source.
    """
    folder.mkdir(parents=True, exist_ok=True)
    told, identity = folder / "source.json", source.identity()
    if told.exists() and json.loads(told.read_text()) != identity:
        raise ConfigError(f"{folder} holds positions of another source (see {told}): choose another folder")
    write_json(told, identity, indent=2)
    numbers = range(-(-count // source.shard))
    missing = [number for number in numbers if not shard_file(folder, number).exists()]
    for done, _ in enumerate(_made(source, folder, missing, processes), 1):
        progress(done * source.shard, len(missing) * source.shard)
    return [shard_file(folder, number) for number in numbers]


def _made(source: Source, folder: Path, numbers: list[int], processes: int) -> Iterable[int]:
    if processes == 1 or len(numbers) < 2:
        yield from (write_shard(source, folder, number) for number in numbers)
        return
    # Forking after compiled code has run can hang; a new interpreter does not.
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for future in as_completed([pool.submit(write_shard, source, folder, number) for number in numbers]):
            yield future.result()


@dataclass(frozen=True)
class Positions:
    """Labelled positions in memory.

    Attributes:
        codes: uint8 [N, F].
        belief: uint8 [N, n, 28], in 255ths.
        values: float16 [N, 121], value of every action minus the value of the search's choice, at most 0; -inf where
            illegal.
        value: float32 [N], value of the search's choice.
        spread: float32 [N], see above.
    """

    codes: np.ndarray
    belief: np.ndarray
    values: np.ndarray
    value: np.ndarray
    spread: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)


def load_positions(files: list[Path], num_players: int) -> Positions:
    """Return the positions of many shards, in order."""
    with_sizes = [(file, _rows(file)) for file in files]
    count = sum(rows for _, rows in with_sizes)
    codes = np.empty((count, observation_size(num_players)), np.uint8)
    belief = np.empty((count, *belief_shape(num_players)), np.uint8)
    values = np.full((count, NUM_ACTIONS), -np.inf, np.float16)
    value, spread = np.empty(count, np.float32), np.empty(count, np.float32)
    at = 0
    for file, rows in with_sizes:
        here = slice(at, at + rows)
        with np.load(file) as shard:
            legal = np.unpackbits(shard["mask"], axis=1, count=NUM_ACTIONS).astype(np.bool_)
            dense, worlds = np.full(legal.shape, -np.inf, np.float32), np.zeros(legal.shape, np.uint16)
            dense[legal], worlds[legal] = shard["values"], shard["worlds"]
            codes[here], belief[here], spread[here] = shard["codes"], shard["belief"], shard["spread"]
        value[here] = dense[np.arange(rows), best_actions(dense, worlds)]
        values[here] = np.minimum(dense - value[here, None], 0)
        at += rows
    return Positions(codes, belief, values, value, spread)


def _rows(file: Path) -> int:
    with np.load(file) as shard:
        return len(shard["spread"])
