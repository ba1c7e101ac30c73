"""Released policies: files, model cards, names and strength."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env.agents import load
from fiveup_env.agents.network.network_agent import NetworkPolicy
from fiveup_env.agents.network.weights_file import RELEASED, RELEASED_FOLDER, read_weights, released_file, weights_bytes
from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import BUILT_IN
from fiveup_env.belief.belief_section import beliefs_of
from fiveup_env.evaluation import evaluate
from fiveup_env.views.view import Views
from tests.agents.support import collected

PLAYERS = {"partnership-v1": 4, "trio-v1": 3, "duel-v1": 2}


def test_every_file_is_named_and_small():
    assert set(PLAYERS) == set(RELEASED) == {path.stem for path in RELEASED_FOLDER.glob("*.safetensors")}
    assert {f"{name}{more}" for name in RELEASED for more in ("", "+search")} <= set(BUILT_IN)
    for name in RELEASED:
        assert released_file(name).stat().st_size < 5_000_000
        card = released_file(name).with_suffix(".md").read_text(encoding="utf-8")
        for heading in ("## How it was made", "## Results", "## Known weaknesses"):
            assert heading in card


@pytest.mark.parametrize("name", RELEASED)
def test_a_written_file_has_the_same_contents(name, tmp_path):
    weights = read_weights(released_file(name))
    (tmp_path / "again.safetensors").write_bytes(weights_bytes(weights))
    again = read_weights(tmp_path / "again.safetensors")
    assert again.sizes == weights.sizes and again.trained == weights.trained
    assert again.tensors.keys() == weights.tensors.keys()
    assert all(np.array_equal(again.tensors[key], tensor) for key, tensor in weights.tensors.items())


@pytest.mark.parametrize("name", RELEASED)
def test_loads_by_name_and_beats_random_and_greedy(name):
    players = PLAYERS[name]
    agent = load(name)
    assert isinstance(agent, NetworkPolicy) and agent.num_players == players and agent.name == name
    assert agent.trained
    assert evaluate(name, "random", players, 200, seed=3).win_rate.value > (0.9 if players != 3 else 0.85)
    greedy = evaluate(name, "greedy", players, 600, seed=3).win_rate
    assert greedy.low > (0.5 if players == 3 else 0.65)


@pytest.mark.parametrize("name", RELEASED)
def test_samples_and_searches(name):
    players = PLAYERS[name]
    games = collected(players, seed=60, matches=1)
    views, keys = Views(games, games["turn"]), np.arange(len(games), dtype=np.uint64)
    masks = views.observe()[1]
    for spec in (f"{name}:sample=true,temperature=0.5", f"{name}+search:worlds=4", f"{name}+search:worlds=4,prior=8"):
        actions = load(spec, players).act_many(views, keys)
        assert masks[np.arange(len(games)), actions].all()
    with pytest.raises(AgentError, match=f"plays matches of {players} players"):
        load(f"{name}+search", 5 - players if players != 4 else 2)


@pytest.mark.parametrize(("name", "players"), [("duel-v1", 2), ("partnership-v1", 4)])
def test_as_a_torch_module(name, players):
    torch = pytest.importorskip("torch")
    from fiveup_env.agents.network.torch_network import torch_module

    module = torch_module(name)
    weights = read_weights(released_file(name))
    assert set(module.state_dict()) == set(weights.tensors)
    games = collected(players, seed=61, matches=1)
    views = Views(games, games["turn"])
    masks = views.observe()[1]
    seen = [torch.from_numpy(array) for array in (*views.observe(), beliefs_of(views, "likely"))]
    with torch.no_grad():
        logits, _ = module(*seen)
    ours, _ = load(name).logits(views)
    np.testing.assert_allclose(logits.numpy()[masks > 0], ours[masks > 0], rtol=1e-3, atol=1e-3)
    if module.belief:
        with pytest.raises(ValueError, match=r"give it beliefs_of\("):
            module(*seen[:2])


def test_unknown_names():
    with pytest.raises(AgentError, match=r"there is no released policy 'solo-v1'; there are partnership-v1, trio-v1,"):
        released_file("solo-v1")
    with pytest.raises(AgentError, match=r"did you mean 'duel-v1'"):
        load("duel-v2")
