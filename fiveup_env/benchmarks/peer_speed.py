"""The same random play in other libraries: tensor or observation and mask as NumPy arrays at every decision.

A peer that is not installed is named and left out. What chance does before the first decision (the deal) is not on the
clock where the library lets us copy a dealt state; what it does later is.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Any

import numpy as np

from fiveup_env.benchmarks.timing import Case, Clock

OPEN_SPIEL = ("spades", "euchre", "hearts", "bridge(use_double_dummy_result=false)", "skat", "python_team_dominoes")
"""Card games with hidden hands for three and four, of which a survey of all games with hidden information in C++ for
three and more found none that is faster and has tensors of a hundred values or more; and the only dominoes for four."""
RLCARD = ("gin-rummy", "uno", "doudizhu")
PGX = ("sparrow_mahjong", "backgammon", "leduc_holdem")
PGX_MATCHES = 1024
DEALS = 64


def peer_cases() -> tuple[list[Case], list[str]]:
    """Cases of the peers that are there, and what to say of those that are not."""
    cases: list[Case] = []
    missing: list[str] = []
    for package, names, make in (
        ("pyspiel", OPEN_SPIEL, _open_spiel),
        ("shimmy", ("hanabi_v5.raw_env", "hanabi_v5.env"), _hanabi),
        ("rlcard", RLCARD, _rlcard),
        ("pgx", PGX, _pgx),
    ):
        if find_spec(package) is None:
            missing.append(f"{', '.join(names)}: {package} is not installed")
            continue
        for name in names:
            try:
                cases.append(make(name))
            except Exception as error:  # whatever another library raises: it is named, the others run
                missing.append(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:100]}")
    return cases, missing


def _open_spiel(name: str) -> Case:
    import pyspiel

    if name.startswith("python_"):
        import_module(f"open_spiel.python.games.{name.removeprefix('python_')}")  # registers it
    game = pyspiel.load_game(name)
    random = Random(0)
    seen, num_actions = _tensor_writer(game), game.num_distinct_actions()
    deals = [_dealt(game, random) for _ in range(DEALS)]

    def run(calls: int, clock: Clock) -> None:
        state, number = deals[0].clone(), 0
        for _ in range(calls):
            while state.is_chance_node():
                _by_chance(state, random)
            if state.is_terminal():
                number += 1
                state = deals[number % DEALS].clone()
            player = state.current_player()
            seen.set_from(state, player)
            # Faster than `legal_actions_mask`, a list as long as there are actions.
            legal = state.legal_actions()
            mask = np.zeros(num_actions, np.int8)
            mask[legal] = 1
            state.apply_action(legal[int(random.random() * len(legal))])

    plain = name.split("(")[0]
    language = "Python" if plain.startswith("python_") else "C++"
    facts = {"peer": "open_spiel", "players": game.num_players(), "bytes": seen.tensor.nbytes + num_actions}
    return Case(f"OpenSpiel {plain} ({language}), tensor and mask", run, facts=facts)


def _tensor_writer(game: Any) -> Any:
    """Writes the tensor of a player into a NumPy array without a detour over lists."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    recall = not game.get_type().provides_observation_tensor
    return make_observation(game, pyspiel.IIGObservationType(perfect_recall=recall))


def _dealt(game: Any, random: Random) -> Any:
    state = game.new_initial_state()
    while state.is_chance_node():
        _by_chance(state, random)
    return state


def _by_chance(state: Any, random: Random) -> None:
    outcomes, weights = zip(*state.chance_outcomes(), strict=True)
    state.apply_action(random.choices(outcomes, weights)[0])


def _hanabi(name: str) -> Case:
    from pettingzoo.classic import hanabi_v5

    from fiveup_env.benchmarks.aec_speed import agent_steps_per_second

    env = hanabi_v5.raw_env() if name.endswith("raw_env") else hanabi_v5.env()

    def run(calls: int, clock: Clock) -> None:
        agent_steps_per_second(env, calls)

    return Case(f"PettingZoo {name}", run, facts={"peer": "pettingzoo"})


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

    # Its own threads do the work.
    return Case(f"Pgx {name} on CPU, {PGX_MATCHES} matches", run, PGX_MATCHES, {"peer": "pgx", "threads": "its own"})
