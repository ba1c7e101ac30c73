"""Random play through the AEC loop and in other libraries: observation and mask as NumPy arrays at every decision.

A library that is not installed is named and left out. The deal before the first decision is not timed where the library
can copy a dealt state; later chance events are.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Any, ClassVar

import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from fiveup_env.benchmarks.timing import Case, Clock
from fiveup_env.fiveup_v0 import raw_env

OPEN_SPIEL = ("spades", "euchre", "hearts", "bridge(use_double_dummy_result=false)", "skat", "python_team_dominoes")
"""The fastest C++ games with hidden hands for three and more players and at least a hundred values in the tensor, and
the only dominoes for four players."""
RLCARD = ("gin-rummy", "uno", "doudizhu")
PGX = ("sparrow_mahjong", "backgammon", "leduc_holdem")
PGX_MATCHES = 1024
DEALS = 64


class EmptyAEC(AECEnv[str, dict[str, Any], int]):
    """Environment with the game's agents and spaces whose step only turns to the next agent.

    `observe` always returns the same arrays, so this is an upper limit for the speed of any environment.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "empty_v0", "render_modes": [], "is_parallelizable": True}

    def __init__(self, num_players: int = 4) -> None:
        super().__init__()
        game = raw_env(num_players=num_players)
        game.reset(seed=0)
        self.possible_agents = game.possible_agents
        self.observation_spaces = game.observation_spaces
        self.action_spaces = game.action_spaces
        self.render_mode = None
        self._seen = game.observe(game.agent_selection)
        self._next = dict(zip(self.possible_agents, self.possible_agents[1:] + self.possible_agents[:1], strict=True))

    def observation_space(self, agent: str) -> Any:
        """As in the game."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """As in the game."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin with the first agent."""
        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[0]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the same arrays every time."""
        return self._seen

    def step(self, action: int) -> None:
        """Turn to the next agent."""
        self.agent_selection = self._next[self.agent_selection]


def in_wrappers(env: AECEnv) -> AECEnv:
    """PettingZoo's usual wrappers, as in `fiveup_v0.env`."""
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    env = wrappers.AssertOutOfBoundsWrapper(env)
    return wrappers.OrderEnforcingWrapper(env)


def play_aec(env: AECEnv, steps: int) -> None:
    """Play `steps` agent-steps in the plain loop: `last()`, a uniformly random legal action, `step`.

    Dead steps count as steps, and resets are part of the work.
    """
    random = Random(0).random
    env.reset(seed=0)
    for _ in range(steps):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            if not env.agents:
                env.reset()
            continue
        legal = observation["action_mask"].nonzero()[0]
        env.step(int(legal[int(random() * len(legal))]))


def aec_cases(num_players: int = 4) -> Iterator[Case]:
    """Our own and the empty AEC environment, raw and in PettingZoo's wrappers."""
    for name, make in (("five up", raw_env), ("empty", EmptyAEC)):
        facts = {"players": num_players}
        yield _aec(f"AEC {name}, raw", make(num_players=num_players), facts)
        yield _aec(f"AEC {name}, wrapped", in_wrappers(make(num_players=num_players)), facts)


def hanabi_case(name: str) -> Case:
    """PettingZoo's hanabi: `hanabi_v5.raw_env` or `hanabi_v5.env`."""
    from pettingzoo.classic import hanabi_v5

    make = hanabi_v5.raw_env if name.endswith("raw_env") else hanabi_v5.env
    return _aec(f"PettingZoo {name}", make(), {"peer": "pettingzoo"})


def _aec(name: str, env: AECEnv, facts: dict[str, Any]) -> Case:
    def run(calls: int, clock: Clock) -> None:
        play_aec(env, calls)

    return Case(name, run, facts=facts)


def peer_cases() -> tuple[list[Case], list[str]]:
    """Cases of the installed libraries, and a line for each one that is missing or failed."""
    cases: list[Case] = []
    missing: list[str] = []
    for package, names, make in (
        ("pyspiel", OPEN_SPIEL, _open_spiel),
        ("shimmy", ("hanabi_v5.raw_env", "hanabi_v5.env"), hanabi_case),
        ("rlcard", RLCARD, _rlcard),
        ("pgx", PGX, _pgx),
    ):
        if find_spec(package) is None:
            missing.append(f"{', '.join(names)}: {package} is not installed")
            continue
        for name in names:
            try:
                cases.append(make(name))
            except Exception as error:  # any error of another library: name it and run the others
                missing.append(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:100]}")
    return cases, missing


def _open_spiel(name: str) -> Case:
    import pyspiel
    from open_spiel.python.observation import make_observation

    if name.startswith("python_"):
        import_module(f"open_spiel.python.games.{name.removeprefix('python_')}")  # registers it
    game = pyspiel.load_game(name)
    random = Random(0)
    recall = not game.get_type().provides_observation_tensor
    seen = make_observation(game, pyspiel.IIGObservationType(perfect_recall=recall))
    num_actions = game.num_distinct_actions()
    deals = [_after_chance(game.new_initial_state(), random) for _ in range(DEALS)]

    def run(calls: int, clock: Clock) -> None:
        state, number = deals[0].clone(), 0
        for _ in range(calls):
            _after_chance(state, random)
            if state.is_terminal():
                number += 1
                state = deals[number % DEALS].clone()
            player = state.current_player()
            seen.set_from(state, player)
            # Faster than `legal_actions_mask`, a list with one element per action.
            legal = state.legal_actions()
            mask = np.zeros(num_actions, np.int8)
            mask[legal] = 1
            state.apply_action(legal[int(random.random() * len(legal))])

    plain = name.split("(")[0]
    language = "Python" if plain.startswith("python_") else "C++"
    facts = {"peer": "open_spiel", "players": game.num_players(), "bytes": seen.tensor.nbytes + num_actions}
    return Case(f"OpenSpiel {plain} ({language}), tensor and mask", run, facts=facts)


def _after_chance(state: Any, random: Random) -> Any:
    while state.is_chance_node():
        outcomes, weights = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(random.choices(outcomes, weights)[0])
    return state


def _rlcard(name: str) -> Case:
    import rlcard

    env = rlcard.make(name, config={"seed": 0})
    random = Random(0)

    def run(calls: int, clock: Clock) -> None:
        state, _ = env.reset()
        for _ in range(calls):
            if env.is_over():
                state, _ = env.reset()
            legal = list(state["legal_actions"])
            mask = np.zeros(env.num_actions, np.int8)
            mask[legal] = 1
            state, _ = env.step(legal[int(random.random() * len(legal))])

    env.reset()
    return Case(f"RLCard {name}", run, facts={"peer": "rlcard"})


def _pgx(name: str) -> Case:
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    step = auto_reset(env.step, env.init)

    def turn(state: Any, key: Any) -> tuple[Any, Any]:
        key, chosen, chance = jax.random.split(key, 3)
        noise = jax.random.uniform(chosen, state.legal_action_mask.shape)
        actions = (state.legal_action_mask * (1 + noise)).argmax(-1)
        return jax.vmap(step)(state, actions, jax.random.split(chance, PGX_MATCHES)), key

    turn_compiled = jax.jit(turn)
    key = jax.random.PRNGKey(0)
    kept = [jax.jit(jax.vmap(env.init))(jax.random.split(key, PGX_MATCHES)), key]

    def run(calls: int, clock: Clock) -> None:
        for _ in range(calls):
            kept[:] = turn_compiled(*kept)
            np.asarray(kept[0].observation), np.asarray(kept[0].legal_action_mask)

    # JAX uses its own threads.
    return Case(f"Pgx {name} on CPU, {PGX_MATCHES} matches", run, PGX_MATCHES, {"peer": "pgx", "threads": "its own"})
