"""Bad input to the vector envs: one clear error, and nothing has changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.rules.match import IllegalActionError
from tests.envs.vectors import Player, same_step, snapshot


@pytest.fixture
def env() -> SelfPlayVectorEnv:
    env = SelfPlayVectorEnv(64, final_observation=True)
    env.reset(0)
    return env


def illegal_at(env: SelfPlayVectorEnv, rows: list[int], action: int = 200) -> np.ndarray:
    actions = Player(env)().copy()
    actions[rows] = action
    return actions


def test_illegal_actions_are_named_and_no_match_moves(env: SelfPlayVectorEnv) -> None:
    step = env.step(Player(env)())
    games, shown = env.games.tobytes(), snapshot(step)
    actions = Player(env)().copy()
    actions[[5, 9]] = 119, 120  # all have tiles that fit, or these two would be legal
    actions[[20, 30, 40, 50]] = -1, 121, 2**62, -(2**63)
    with pytest.raises(IllegalActionError) as caught:
        env.step(actions)
    said = str(caught.value)
    assert said == (
        "6 illegal actions: match 5 action 119 (draw a tile), match 9 action 120 (pass), match 20 action -1 (no "
        "action), match 30 action 121 (no action) and 2 more; no match was moved"
    )
    assert env.games.tobytes() == games and same_step(shown, snapshot(step))
    # The step that follows is the one that would have been.
    twin = SelfPlayVectorEnv(64, final_observation=True)
    twin.reset(0)
    twin.step(Player(twin)())
    actions = Player(env)()
    assert same_step(snapshot(env.step(actions)), snapshot(twin.step(actions)))


def test_one_illegal_action_is_named_alone(env: SelfPlayVectorEnv) -> None:
    with pytest.raises(
        IllegalActionError, match=r"^1 illegal action: match 63 action 200 \(no action\); no match was moved$"
    ):
        env.step(illegal_at(env, [63]))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint64])
def test_any_integers_are_actions(dtype: type, env: SelfPlayVectorEnv) -> None:
    twin = SelfPlayVectorEnv(64, final_observation=True)
    twin.reset(0)
    actions = Player(env)().copy()
    given = actions.astype(dtype)
    assert same_step(snapshot(env.step(given)), snapshot(twin.step(actions)))
    wide = np.zeros((64, 2), dtype)
    wide[:, 0] = Player(env)()
    frozen = Player(env)().astype(dtype)
    frozen.setflags(write=False)
    assert same_step(snapshot(env.step(wide[:, 0])), snapshot(twin.step(frozen)))


@pytest.mark.parametrize(
    "actions",
    [np.zeros(63, np.int64), np.zeros((64, 1), np.int64), np.zeros(64), np.zeros(64, bool), 0, [0.0] * 64, None, "x"],
)
def test_what_is_not_one_integer_per_match_is_refused(actions: Any, env: SelfPlayVectorEnv) -> None:
    games = env.games.tobytes()
    with pytest.raises(ValueError, match=r"^actions must be integers \[64\], not "):
        env.step(actions)
    assert env.games.tobytes() == games


def test_step_wants_a_reset_first() -> None:
    with pytest.raises(ValueError, match=r"call reset\(\) before step\(\)"):
        SelfPlayVectorEnv(1).step(np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="the first reset must deal all matches"):
        SelfPlayVectorEnv(2).reset(0, reset_mask=np.array([True, False]))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda out: replace(out, observation=out.observation[:63].copy()), r"out\.observation"),
        (lambda out: replace(out, observation=out.observation.astype(np.float64)), r"out\.observation"),
        (lambda out: replace(out, observation=np.asfortranarray(out.observation)), r"out\.observation"),
        (lambda out: replace(out, action_mask=out.action_mask[:, :120].copy()), r"out\.action_mask"),
        (lambda out: replace(out, action_mask=out.action_mask.astype(bool)), r"out\.action_mask"),
        (lambda out: replace(out, facts=out.facts[:1]), r"out\.facts"),
        (lambda out: replace(out, final_observation=out.final_observation[:0]), r"out\.final_observation"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: Any, named: str, env: SelfPlayVectorEnv) -> None:
    games, out = env.games.tobytes(), change(env.arrays())
    for use in (lambda: env.step(Player(env)(), out=out), lambda: env.reset(1, out=out)):
        with pytest.raises(ValueError, match=f"^{named} must be a writable C-contiguous array"):
            use()
    assert env.games.tobytes() == games


BAD_SELF_PLAY: list[tuple[dict[str, Any], str]] = [
    ({"num_matches": 0}, "num_matches must be an integer from 1 to 262144, not 0"),
    ({"num_matches": 262_145}, "num_matches must be an integer from 1 to 262144, not 262145"),
    ({"num_matches": 2.0}, "num_matches must be an integer from 1 to 262144, not 2.0"),
    ({"num_players": 5}, "num_players must be 2, 3 or 4"),
    ({"num_players": [2, 3]}, "num_players must be 2, 3 or 4, or 3 of them"),
    ({"num_players": [2, 3, 1]}, "num_players must be 2, 3 or 4, or 3 of them"),
    ({"num_players": 2.5}, "num_players must be 2, 3 or 4"),
    ({"dtype": np.float64}, "dtype must be float32 or uint8"),
    ({"dtype": "tiny"}, "dtype must be float32 or uint8, not 'tiny'"),
    ({"threads": 0}, "threads must be an integer from 1 to"),
    ({"threads": 10_000}, "threads must be an integer from 1 to"),
    ({"skip_single": True}, 'skip_single needs draws="auto"'),
    ({"draws": "never"}, "draws must be one of 'explicit', 'auto', not 'never'"),
    ({"observation": "dict"}, "observation='dict' is not available in the vector env"),
    ({"history_length": 3}, "history_length=3 is not available in the vector env"),
    (
        {"num_players": [2, 3, 4], "starting_scores": (5, 5)},
        "starting_scores cannot be given for a mix of two and three",
    ),
    ({"starting_scores": (5, 5, 5)}, "scores are 2 integers"),
]
BAD_LEARNER: list[tuple[dict[str, Any], str]] = [
    ({"num_envs": 0}, "num_envs must be an integer from 1 to 262144, not 0"),
    ({"num_players": 5}, "num_players must be an integer from 2 to 4, not 5"),
    ({"num_players": "4"}, "num_players must be an integer from 2 to 4, not '4'"),
    ({"dtype": np.float16}, "dtype must be float32 or uint8"),
    ({"seat": 4}, 'seat must be "random" or from 0 to 3, not 4'),
    ({"seat": "first"}, "seat must be \"random\" or from 0 to 3, not 'first'"),
    ({"autoreset_mode": "never"}, "autoreset_mode must be NEXT_STEP, SAME_STEP, DISABLED, not 'never'"),
    ({"opponents": "nobody"}, "there is no agent 'nobody'"),
    ({"opponents": ["random"] * 3}, "opponents must be one agent or 2"),
    ({"num_players": 2, "partner": "random"}, "only four players have partners"),
    ({"observation": "dict"}, "the vector env has flat observations without history only"),
    ({"history_length": 3}, "the vector env has flat observations without history only"),
]


@pytest.mark.parametrize(("given", "said"), BAD_SELF_PLAY)
def test_self_play_names_the_bad_option(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        SelfPlayVectorEnv(**{"num_matches": 3, **given})
    assert said in str(caught.value)


@pytest.mark.parametrize(("given", "said"), BAD_LEARNER)
def test_the_gymnasium_env_names_the_bad_option(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        FiveUpVectorEnv(**{"num_envs": 3, **given})
    assert said in str(caught.value)


@pytest.mark.parametrize("make", [SelfPlayVectorEnv, FiveUpVectorEnv])
def test_an_unknown_option_is_named(make: Any) -> None:
    with pytest.raises(TypeError, match="there is no option 'colour'"):
        make(3, colour="red")


BAD_RESET: list[tuple[dict[str, Any], str]] = [
    ({"seed": -1}, "a seed is an integer from 0 to"),
    ({"seed": 1.5}, "a seed is an integer from 0 to"),
    ({"seed": "one"}, "a seed is an integer from 0 to"),
    ({"seed": [1, 2]}, r"seed must be one integer or 64, one per match, not \[2\] of them"),
    ({"seed": [1.5] * 64}, "a seed is an integer from 0 to"),
    ({"seed": np.zeros((64, 1), int)}, r"seed must be one integer or 64, one per match, not \[64, 1\] of them"),
    ({"scores": (5, 5, 5)}, r"scores are raw points per side, \[2\] or \[64, 2\]"),
    ({"scores": (5, 7)}, "a score is a multiple of 5 below 305"),
    ({"scores": (0, 305)}, "a score is a multiple of 5 below 305"),
    ({"scores": 5}, r"scores are raw points per side, \[2\] or \[64, 2\]"),
    ({"scores": [(0, 0)] * 63 + [(0, 1)]}, "a score is a multiple of 5 below 305"),
    ({"reset_mask": [1] * 64}, r"reset_mask must be a bool array \[64\]"),
    ({"reset_mask": np.ones(63, bool)}, r"reset_mask must be a bool array \[64\]"),
]


@pytest.mark.parametrize(("given", "said"), BAD_RESET)
def test_a_bad_reset_changes_nothing(given: dict[str, Any], said: str, env: SelfPlayVectorEnv) -> None:
    games, rows = env.games.tobytes(), env._rows.tobytes()
    with pytest.raises(ValueError, match=said):
        env.reset(**given)
    assert env.games.tobytes() == games and env._rows.tobytes() == rows
    learner = FiveUpVectorEnv(64)
    learner.reset(seed=0)
    games, rows = learner.games.tobytes(), learner._rows.tobytes()
    with pytest.raises(ValueError, match=said):
        learner.reset(seed=given.get("seed"), options={k: v for k, v in given.items() if k != "seed"})
    assert learner.games.tobytes() == games and learner._rows.tobytes() == rows


def test_scores_are_refused_where_sides_differ() -> None:
    mixed = SelfPlayVectorEnv(3, num_players=[2, 3, 4])
    with pytest.raises(ValueError, match="scores cannot be given for a mix of two and three sides"):
        mixed.reset(0, scores=(5, 5))
    even = SelfPlayVectorEnv(2, num_players=[2, 4])
    even.reset(0, scores=(5, 10))
    assert (even.games["scores"][:, :2] == (5, 10)).all()


def test_the_gymnasium_env_names_illegal_actions_and_moves_no_match() -> None:
    env = FiveUpVectorEnv(8, num_players=2, autoreset_mode="disabled")
    observation, _ = env.reset(seed=0)
    legal = observation["action_mask"].argmax(1)
    games, rows = env.games.tobytes(), env._rows.tobytes()
    with pytest.raises(IllegalActionError, match=r"^2 illegal actions: match 1 action 120 \(pass\), match 6"):
        env.step(np.where(np.isin(np.arange(8), (1, 6)), 120, legal))
    assert env.games.tobytes() == games and env._rows.tobytes() == rows
    with pytest.raises(ValueError, match=r"^actions must be integers \[8\]"):
        env.step(legal[:7])
    with pytest.raises(ValueError, match="there is no reset option 'score'"):
        env.reset(options={"score": (0, 0)})
    with pytest.raises(ValueError, match=r"call reset\(\) before step\(\)"):
        FiveUpVectorEnv(8).step(legal)
