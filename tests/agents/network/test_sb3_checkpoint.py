"""Policies over MaskablePPO checkpoints, with untrained networks."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest

from fiveup_env.agents.network.sb3_checkpoint import MaskablePPOPolicy
from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.rules.match import Match
from fiveup_env.views.observation import observation_size
from fiveup_env.views.view import View, Views
from tests.agents.network.support import batch, model, vector, with_mask
from tests.agents.support import collected, repeated, undecided
from tests.rules.statistics import assert_uniform

sb3_contrib = pytest.importorskip("sb3_contrib")


def with_history(num_players: int, length: int) -> gymnasium.spaces.Dict:
    return gymnasium.spaces.Dict(
        dict(with_mask(num_players).spaces)
        | {
            "history": gymnasium.spaces.Box(-1, 32767, (length, 3), np.int16),
            "history_mask": gymnasium.spaces.Box(0, 1, (length,), np.int8),
        }
    )


def with_belief(num_players: int) -> gymnasium.spaces.Dict:
    belief = gymnasium.spaces.Box(0, 1, (num_players, 28), np.float32)
    return gymnasium.spaces.Dict(dict(with_mask(num_players).spaces) | {"belief": belief})


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A policy for four players, saved."""
    path = tmp_path_factory.mktemp("policies") / "four.zip"
    model(with_mask(4)).save(path)
    return path


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("sample", [False, True])
def test_always_legal(num_players, sample):
    agent = MaskablePPOPolicy(model(vector(observation_size(num_players))), sample=sample)
    assert agent.num_players == num_players
    games = collected(num_players, seed=20)
    views, keys = batch(games)
    actions = agent.act_many(views, keys)
    assert actions.dtype == np.int64
    assert views.observe()[1][np.arange(len(games)), actions].all()


@pytest.mark.parametrize(
    "space",
    [
        with_mask(4),
        with_history(4, 6),
        pytest.param(with_belief(4), marks=pytest.mark.jit),
        vector(observation_size(4), np.uint8),
    ],
    ids=["dict", "history", "belief", "codes"],
)
def test_inputs_that_are_understood(space):
    views, keys = batch(collected(4, seed=21))
    actions = MaskablePPOPolicy(model(space)).act_many(views, keys)
    assert views.observe()[1][np.arange(len(views)), actions].all()


def test_the_most_likely_action_is_the_models_own(checkpoint):
    agent, reference = make_agent(checkpoint, 4), sb3_contrib.MaskablePPO.load(checkpoint, device="cpu")
    for match in undecided(4, seed=22, matches=2):
        view = View.of(match)
        seen = {"observation": view.observation(), "action_mask": view.action_mask()}
        expected, _ = reference.predict(seen, deterministic=True, action_masks=view.action_mask())
        assert agent.act(view) == expected


def test_samples_follow_the_probabilities():
    """A head of zeros is uniform over the legal actions; a bias of ln 3 makes one three times as likely."""
    agent = MaskablePPOPolicy(model(with_mask(4)), sample=True)
    match = Match(4, seed=0)
    games = repeated(match, 4000)
    keys = np.random.default_rng(0).integers(0, 2**64, len(games), np.uint64)
    first, *others = match.legal_actions()
    head = agent._policy.action_net
    head.weight.data.zero_()
    head.bias.data.zero_()
    head.bias.data[first] = np.log(3)
    actions = agent.act_many(Views(games, games["turn"]), keys)
    assert set(actions) == {first, *others}
    assert_uniform([int((actions == action).sum()) for action in others])
    share, expected = (actions == first).mean(), 3 / (3 + len(others))
    assert abs(share - expected) < 4 * (expected * (1 - expected) / len(actions)) ** 0.5


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99, "all but the middle"])
def test_a_damaged_checkpoint(checkpoint, tmp_path, keep):
    data, broken = bytearray(checkpoint.read_bytes()), tmp_path / "broken.zip"
    if isinstance(keep, str):
        data[len(data) // 2 - 200 : len(data) // 2 + 200] = bytes(400)
    else:
        del data[keep if isinstance(keep, int) else int(len(data) * keep) :]
    broken.write_bytes(data)
    with pytest.raises(AgentError, match=r"broken\.zip is broken or not a checkpoint of MaskablePPO") as caught:
        make_agent(broken)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("space", "actions", "message"),
    [
        (vector(10), 121, r"observations of shape \(10,\); this version's lengths are \d+ \(2 players\), "),
        (vector(observation_size(4)), 5, "trained on other actions than the game's 121"),
        (gymnasium.spaces.Dict({"pixels": vector(10)}), 121, "observations that are not this game's"),
    ],
)
def test_a_model_of_another_game(space, actions, message):
    with pytest.raises(AgentError, match=message):
        MaskablePPOPolicy(model(space, actions))


def test_without_the_libraries(checkpoint, monkeypatch):
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    with pytest.raises(AgentError, match=r"four.zip needs stable-baselines3, .* pip install 'fiveup-env\[train\]'"):
        make_agent(checkpoint)


def test_frameworks_are_imported_late():
    check = "print({'torch', 'stable_baselines3', 'sb3_contrib'} & set(sys.modules))"
    code = f"import sys, fiveup_env.agents.network.sb3_checkpoint; {check}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
