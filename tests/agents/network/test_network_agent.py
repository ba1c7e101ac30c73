"""Policies over weights files, with random networks."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import save_file

from fiveup_env.agents.network.network_agent import NetworkPolicy, NumpyNetwork
from fiveup_env.agents.network.weights_file import METADATA, read_weights
from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.belief.belief_section import beliefs_of
from fiveup_env.rules.match import Match
from fiveup_env.views.observation import observation_size
from fiveup_env.views.view import View, Views
from tests.agents.network.support import about, batch, random_tensors, write
from tests.agents.support import collected, repeated, reshuffled, undecided
from tests.rules.statistics import assert_uniform


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    return write(tmp_path_factory.mktemp("policies") / "four.safetensors")


def test_the_forward_pass_is_the_documented_formula(four):
    w, x = random_tensors(), np.random.default_rng(1).random((5, observation_size(4)), np.float32)
    h = np.maximum(x @ w["input.weight"].T + w["input.bias"], 0)
    for i in range(2):
        inner = np.maximum(h @ w[f"blocks.{i}.first.weight"].T + w[f"blocks.{i}.first.bias"], 0)
        h = h + inner @ w[f"blocks.{i}.second.weight"].T + w[f"blocks.{i}.second.bias"]
    h = np.maximum(h, 0)
    logits, values = NumpyNetwork(read_weights(four))(x)
    assert logits.dtype == values.dtype == np.float32
    np.testing.assert_allclose(logits, h @ w["policy.weight"].T + w["policy.bias"], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(values, (h @ w["value.weight"].T + w["value.bias"])[:, 0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("placements", [0, 24])
@pytest.mark.parametrize("belief", [False, True])
def test_the_same_as_in_torch(tmp_path, num_players, placements, belief):
    torch = pytest.importorskip("torch")
    from fiveup_env.agents.network.torch_network import PolicyNetwork
    from training._network import save_weights

    torch.manual_seed(num_players)
    network, path = PolicyNetwork(num_players, 32, 1, placements, belief), tmp_path / "policy.safetensors"
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    save_weights(path, network, {"decisions": 3})
    agent = make_agent(path)
    games = collected(num_players, seed=30)
    views = Views(games, games["turn"])
    observation, masks = views.observe()
    seen = (torch.from_numpy(array) for array in (observation, masks, beliefs_of(views, "likely")))
    with torch.no_grad():
        logits, values = (tensor.numpy() for tensor in network(*seen))
    ours, our_values = agent.logits(Views(games, games["turn"]))
    assert (np.isfinite(ours) == (masks > 0)).all()
    np.testing.assert_allclose(ours[masks > 0], logits[masks > 0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(our_values, values, rtol=1e-4, atol=1e-4)
    assert agent.num_players == num_players and agent.trained == {"decisions": 3}


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("sample", ["", ":sample=true"])
def test_always_legal(tmp_path, num_players, sample):
    path = write(tmp_path / "any.safetensors", random_tensors(num_players, 8, 0), **about(num_players, 8, 0))
    views, keys = batch(collected(num_players, seed=31))
    actions = make_agent(f"{path}{sample}", num_players).act_many(views, keys)
    assert actions.dtype == np.int64
    assert views.observe()[1][np.arange(len(views)), actions].all()


def test_samples_follow_the_probabilities(tmp_path):
    """A head of zeros is uniform over the legal actions; a bias of ln 3 makes one three times as likely."""
    match = Match(4, seed=0)
    first, *others = match.legal_actions()
    tensors = random_tensors()
    tensors["policy.weight"][:] = tensors["policy.bias"][:] = 0
    tensors["policy.bias"][first] = np.log(3)
    path = write(tmp_path / "known.safetensors", tensors)
    games = repeated(match, 4000)
    keys = np.random.default_rng(0).integers(0, 2**64, len(games), np.uint64)
    for temperature, times in ((1, 3), (0.5, 9)):
        agent = make_agent(f"{path}:sample=true,temperature={temperature}")
        actions = agent.act_many(Views(games, games["turn"]), keys)
        assert set(actions) == {first, *others}
        assert_uniform([int((actions == action).sum()) for action in others])
        share, expected = (actions == first).mean(), times / (times + len(others))
        assert abs(share - expected) < 4 * (expected * (1 - expected) / len(actions)) ** 0.5
    assert set(make_agent(path).act_many(Views(games, games["turn"]), keys)) == {first}


def test_matches_that_look_the_same_are_played_the_same(tmp_path):
    """R2.2, D6, with a belief."""
    path = write(tmp_path / "any.safetensors", random_tensors(belief=True), belief=True)
    rng, agent = random.Random(5), make_agent(f"{path}:sample=true")
    agent.reset(1)
    for match in undecided(4, seed=33, matches=2):
        assert agent.act(View.of(match)) == agent.act(View.of(reshuffled(match, rng)))


def test_half_precision(tmp_path):
    """Rounded weights give nearly the same logits, still in float32."""
    halves = {name: tensor.astype(np.float16) for name, tensor in random_tensors().items()}
    x = np.random.default_rng(1).random((5, observation_size(4)), np.float32)
    logits, _ = NumpyNetwork(read_weights(write(tmp_path / "half.safetensors", halves)))(x)
    exact, _ = NumpyNetwork(read_weights(write(tmp_path / "full.safetensors")))(x)
    assert logits.dtype == np.float32
    np.testing.assert_allclose(logits, exact, rtol=0.02, atol=0.2)


def spoiled(**changes):
    tensors = random_tensors() | changes
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), "is broken or not a safetensors file"),
        (lambda path: path.write_bytes(b""), "is broken or not a safetensors file"),
        (lambda path: path.write_bytes(b"nonsense" * 9), "is broken or not a safetensors file"),
        (lambda path: save_file({"a": np.zeros(1)}, path), "no network of this game: its metadata has no key 'fiveup'"),
        (lambda path: save_file(random_tensors(), path, {METADATA: "{"}), "its metadata is not a JSON object"),
        (lambda path: save_file(random_tensors(), path, {METADATA: "3"}), "its metadata is not a JSON object"),
        (lambda path: write(path, format=2), "has format 2; this version reads 1"),
        (lambda path: write(path, num_players=9, observation_size=1), "is for 9 players; the game is for 2, 3 or 4"),
        (lambda path: write(path, observation_size=7), r"observations of 7 values; this version's have \d+"),
        (lambda path: write(path, blocks=True), "blocks is True"),
        (lambda path: write(path, width=0), "width is 0"),
        (lambda path: write(path, blocks=1), r"blocks.1.first.bias has shape \(16,\), expected None"),
        (lambda path: write(path, spoiled(**{"value.bias": None})), "value.bias has shape None"),
        (lambda path: write(path, spoiled(**{"value.bias": np.full(1, np.nan)})), "not all weights are finite"),
        (lambda path: write(path, spoiled(**{"value.bias": np.ones(1, np.int64)})), "not all weights"),
    ],
)
def test_a_file_that_is_no_network_is_one_clear_line(tmp_path, spoil, said):
    path = write(tmp_path / "policy.safetensors")
    spoil(path)
    with pytest.raises(AgentError, match=said) as error:
        make_agent(path)
    assert "\n" not in str(error.value) and str(path) in str(error.value)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(AgentError, match="cannot be read"):
        NetworkPolicy(tmp_path / "nothing.safetensors")
    (tmp_path / "folder.safetensors").mkdir()
    with pytest.raises(AgentError, match="cannot be read"):
        NetworkPolicy(tmp_path / "folder.safetensors")


def test_arguments(four):
    for wrong in ("0", "-1", "hot", "true"):
        with pytest.raises(AgentError, match="temperature must be a number above 0"):
            make_agent(f"{four}:temperature={wrong}")


def test_torch_is_not_needed(four):
    code = (
        "import sys; sys.modules['torch'] = None; from fiveup_env.agents.registry import make_agent;"
        f"print(make_agent({str(four)!r}).num_players)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "4"
