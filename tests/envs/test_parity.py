"""All environments are the same game: the same seeds and actions give the same bits everywhere.

The yardstick is `play_out`: `Match` and plain Python. Every environment is given the yardstick's actions and must show
what it shows: seats, observations, masks, beliefs, rewards, ends. What is seen at the end of a truncated episode, where
`Match` has dealt the next round already, is compared between the environments.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import pytest

from fiveup_env import fiveup_v0
from fiveup_env.agents.protocol import Policy
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv, StepArrays
from fiveup_env.jit.compilation import JIT_DISABLED
from fiveup_env.views.observation import units
from fiveup_env.views.rewards import REWARDS
from fiveup_env.views.view import View
from tests.envs.environments import same
from tests.envs.trace import CLOSE, ENDS, Chooser, Ply, Trace, episodes, exact, same_bits, sides_of

SEEDS = (3, 2**64 - 1)
EPISODES = 2
Seen: TypeAlias = dict[str, np.ndarray]


def start(num_players: int, setting: dict[str, Any]) -> tuple[int, ...] | None:
    """Raw points to start from."""
    return None if "target" in setting else CLOSE[: sides_of(num_players)]


def first_traces(num_players: int, setting: dict[str, Any]) -> list[list[Trace]]:
    """Per seed the first episodes."""
    scores = start(num_players, setting)
    return [list(islice(episodes(num_players, seed, scores=scores, **setting), EPISODES)) for seed in SEEDS]


def options(num_players: int, reward: str, setting: dict[str, Any]) -> dict[str, Any]:
    scores = start(num_players, setting)
    return {"num_players": num_players, "reward": reward, "starting_scores": scores, **setting}


def shows(seen: Seen, ply: Ply) -> bool:
    """Whether an observation is what the yardstick shows, to the last bit."""
    wanted = {"observation": ply.observation, "action_mask": ply.mask}
    if ply.belief is not None:
        wanted["belief"] = ply.belief
    return seen.keys() == wanted.keys() and all(same_bits(seen[name], wanted[name]) for name in wanted)


def row_of(step: StepArrays, i: int, prefix: str = "") -> Seen:
    """Observation of one row; with the prefix "final_" that at the end of its episode."""
    arrays = {name: getattr(step, prefix + name, None) for name in ("observation", "action_mask", "belief")}
    return {name: array[i] for name, array in arrays.items() if array is not None and len(array)}


def play_aec(traces: list[list[Trace]], reward: str, given: dict[str, Any]) -> list[list[list[Seen]]]:
    """The AEC env against the yardstick; returns what every seat sees at the end, by seed and episode."""
    env = fiveup_v0.raw_env(**given)
    ends: list[list[list[Seen]]] = []
    for seed, of_seed in zip(SEEDS, traces, strict=True):
        ends.append([])
        for number, trace in enumerate(of_seed):
            env.reset(seed=None if number else seed)
            seats = {agent: seat for seat, agent in enumerate(env.possible_agents)}
            for ply in trace.plies:
                assert seats[env.agent_selection] == ply.seat
                seen, _, terminated, truncated, info = env.last()
                assert shows(seen, ply) and same_bits(info["action_mask"], ply.mask) and not (terminated or truncated)
                env.step(ply.action)
                sides = sides_of(len(seats))
                assert all(env.rewards[agent] == ply.gains[reward][seat % sides] for agent, seat in seats.items())
                assert set(env.terminations.values()) == {ply.terminated}
                assert set(env.truncations.values()) == {ply.truncated}
            assert env.match.scores == trace.scores or trace.plies[-1].truncated
            ends[-1].append([env.observe(agent) for agent in env.possible_agents])
            for seat, end in enumerate(ends[-1][-1]):
                assert not end["action_mask"].any()
                assert "belief" not in end or same_bits(end["belief"], exact(View(env.match.game, seat)))
    return ends


def play_self(traces: list[list[Trace]], reward: str, given: dict[str, Any], ends: list) -> None:
    """`SelfPlayVectorEnv`, every row its own seed, against the yardstick and the AEC env's ends."""
    env = SelfPlayVectorEnv(len(SEEDS), final_observation=True, **given)
    step = env.reset(np.array(SEEDS, np.uint64))
    at = [(0, 0)] * len(SEEDS)  # per row: episode, ply
    sides = sides_of(given["num_players"])
    while any(number < EPISODES for number, _ in at):
        actions = step.action_mask.argmax(1)  # for rows that have shown all
        for i, (number, k) in enumerate(at):
            if number < EPISODES:
                ply = traces[i][number].plies[k]
                assert (step.seat[i], step.side[i]) == (ply.seat, ply.seat % sides)
                assert shows(row_of(step, i), ply)
                actions[i] = ply.action
        step = env.step(actions)
        for i, (number, k) in enumerate(at):
            if number == EPISODES:
                continue
            trace = traces[i][number]
            ply = trace.plies[k]
            assert same_bits(step.rewards[i].copy(), np.array(ply.gains[reward], np.float32))
            assert (step.terminated[i], step.truncated[i]) == (ply.terminated, ply.truncated)
            at[i] = (number, k + 1)
            if ply.terminated or ply.truncated:
                at[i] = (number + 1, 0)
                assert step.final_winner[i] == (-1 if trace.winner is None else trace.winner)
                assert step.final_rounds[i] == trace.rounds and step.final_length[i] == len(trace.plies)
                assert tuple(step.final_scores[i]) == trace.scores
                final = row_of(step, i, "final_")
                assert any(all(same_bits(final[name], end[name]) for name in final) for end in ends[i][number])


def play_learner(
    traces: list[list[Trace]], reward: str, given: dict[str, Any], ends: list, seat: int, **around: Any
) -> None:
    """`FiveUpEnv` and `FiveUpVectorEnv` with the learner at `seat` against the yardstick and the AEC env's ends."""
    single = FiveUpEnv(seat=seat, **around, **given)
    many = FiveUpVectorEnv(len(SEEDS), seat=seat, **around, **given)
    batch, info = many.reset(seed=SEEDS)
    seats = [seat] if given["num_players"] != 4 or around.get("partner") else [seat, (seat + 2) % 4]
    mine = [[trace.learner(seats, reward) for trace in of_seed] for of_seed in traces]
    assert all(decisions for of_seed in mine for decisions in of_seed), "another seed: the learner must have a decision"
    for i, seed in enumerate(SEEDS):
        for number, decisions in enumerate(mine[i]):
            seen, told = single.reset(seed=None if number else seed)
            for k, (ply, gain) in enumerate(decisions):
                assert told["seat"] == ply.seat and same_bits(told["action_mask"], ply.mask)
                assert shows(seen, ply)
                seen, got, terminated, truncated, told = single.step(ply.action)
                last, end = k + 1 == len(decisions), traces[i][number].plies[-1]
                assert (terminated, truncated) == ((end.terminated, end.truncated) if last else (False, False))
                assert got == gain
            assert same(seen, ends[i][number][ply.seat])
            assert told["winner"] == traces[i][number].winner
    at = [(0, 0)] * len(SEEDS)
    while any(number < EPISODES for number, _ in at):
        actions = batch["action_mask"].argmax(1)
        for i, (number, k) in enumerate(at):
            if number < EPISODES:
                ply, _ = mine[i][number][k]
                assert info["seat"][i] == ply.seat and info["side"][i] == ply.seat % sides_of(given["num_players"])
                assert shows({name: array[i] for name, array in batch.items()}, ply)
                assert same_bits(info["action_mask"][i], ply.mask)
                actions[i] = ply.action
        batch, rewards, terminated, truncated, info = many.step(actions)
        for i, (number, k) in enumerate(at):
            if number == EPISODES:
                continue
            trace, decisions = traces[i][number], mine[i][number]
            ply, gain = decisions[k]
            last, end = k + 1 == len(decisions), trace.plies[-1]
            assert rewards[i] == gain
            assert (terminated[i], truncated[i]) == ((end.terminated, end.truncated) if last else (False, False))
            at[i] = (number, k + 1)
            if last:
                at[i] = (number + 1, 0)
                assert same(info["final_obs"][i], ends[i][number][ply.seat])
                final = info["final_info"]
                assert final["winner"][i] == (-1 if trace.winner is None else trace.winner)
                assert final["is_success"][i] == (trace.winner == ply.seat % sides_of(trace.num_players))
                assert tuple(final["scores"][i]) == trace.scores and final["rounds"][i] == trace.rounds
                assert final["length"][i] == len(decisions)
                assert final["return"][i] == pytest.approx(sum(gain for _, gain in decisions), abs=1e-12)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("draws", ["explicit", "auto"])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_match_aec_single_and_both_vector_envs_are_one_game(num_players: int, draws: str, end: str) -> None:
    setting = {"draws": draws, **ENDS[end]}
    traces = first_traces(num_players, setting)
    for reward in REWARDS:
        given = options(num_players, reward, setting)
        ends = play_aec(traces, reward, given)
        play_self(traces, reward, given, ends)
        for seat, around in learners(num_players):
            play_learner(traces, reward, given, ends, seat, **around)
    assert (end == "truncated") == any(trace.plies[-1].truncated for of_seed in traces for trace in of_seed)


TINY = {n: {"hand_size": 2, "target": 11, "max_pip": 2 if n == 2 else 3} for n in (2, 3, 4)}


@pytest.mark.parametrize("draws", ["explicit", "auto"])
@pytest.mark.parametrize("tiny", [False, True])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_beliefs_are_those_of_the_seat_in_all_of_them(num_players: int, tiny: bool, draws: str) -> None:
    """belief="exact" adds a key and changes no other, at the end of an episode too (D5)."""
    if JIT_DISABLED and not tiny:
        pytest.skip("too many deals to count in plain Python")
    setting = {"draws": draws, "belief": "exact", "max_rounds": 3, **(TINY[num_players] if tiny else {})}
    traces = first_traces(num_players, setting)
    given = options(num_players, "points", setting)
    ends = play_aec(traces, "points", given)
    play_self(traces, "points", given, ends)
    for seat, around in learners(num_players):
        play_learner(traces, "points", given, ends, seat, **around)


def learners(num_players: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Where the learner sits, and who plays around it."""
    chooser: Policy = Chooser()
    yield num_players - 1, {"opponents": chooser}
    if num_players == 4:
        yield 0, {"opponents": [chooser, chooser], "partner": chooser}


def test_a_mixed_batch_is_the_same_game_and_codes_are_the_observations() -> None:
    players = (2, 3, 4, 4, 3, 2)
    traces = [next(episodes(n, i, draws="auto", max_rounds=1)) for i, n in enumerate(players)]
    envs = [
        SelfPlayVectorEnv(len(players), num_players=players, draws="auto", max_rounds=1, dtype=dtype)
        for dtype in (np.float32, np.uint8)
    ]
    steps = [env.reset(np.arange(len(players))) for env in envs]
    for k in range(max(len(trace.plies) for trace in traces)):
        actions = np.zeros(len(players), np.int64)
        for i, n in enumerate(players):
            if k < len(traces[i].plies):
                ply = traces[i].plies[k]
                size = len(ply.observation)
                assert same_bits(steps[0].observation[i, :size], ply.observation)
                assert same_bits(steps[1].observation[i, :size] * units(n), ply.observation)
                assert not steps[0].observation[i, size:].any() and not steps[1].observation[i, size:].any()
                actions[i] = ply.action
            else:
                actions[i] = steps[0].action_mask[i].argmax()
        steps = [env.step(actions) for env in envs]
        for i in range(len(players)):
            if k < len(traces[i].plies):
                ply = traces[i].plies[k]
                wanted = np.zeros(3, np.float32)
                wanted[: len(ply.gains["win"])] = ply.gains["win"]
                for step in steps:
                    assert same_bits(step.rewards[i].copy(), wanted)
                    assert (step.terminated[i], step.truncated[i]) == (ply.terminated, ply.truncated)
