"""The network and its file."""

import json

import pytest

torch = pytest.importorskip("torch")
safetensors_torch = pytest.importorskip("safetensors.torch")

from fiveup_env.agents.network.outlook_features import Outlook  # noqa: E402
from fiveup_env.agents.network.placement_features import Placements  # noqa: E402
from fiveup_env.agents.network.torch_network import PolicyNetwork  # noqa: E402
from fiveup_env.agents.network.weights_file import METADATA  # noqa: E402
from fiveup_env.agents.search.equity import shipped_table  # noqa: E402
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv  # noqa: E402
from fiveup_env.system.training_scripts import ConfigError  # noqa: E402
from fiveup_env.views.observation import observation_size, split  # noqa: E402
from training._network import load_weights, sample_actions, save_weights  # noqa: E402


def random_network(num_players=4, width=16, blocks=2, seed=0, placements=0, belief=False):
    torch.manual_seed(seed)
    network = PolicyNetwork(num_players, width, blocks, placements, belief)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return network


def seen(num_players):
    """Observations, masks and beliefs of the first steps of a few matches."""
    step = SelfPlayVectorEnv(6, num_players=num_players, draws="auto", skip_single=True, belief="likely").reset(3)
    return tuple(torch.from_numpy(array.copy()) for array in (step.observation, step.action_mask, step.belief))


@pytest.mark.parametrize("with_belief", [False, True])
def test_placements_are_scored_by_the_documented_formula(with_belief):
    network, (x, mask, belief) = random_network(placements=8, belief=with_belief), seen(4)
    outlook = Outlook(belief.numpy(), shipped_table(4)) if with_belief else None
    pairs = Placements(x.numpy(), mask.numpy(), 4, outlook)
    rows, actions = torch.from_numpy(pairs.rows), torch.from_numpy(pairs.actions)
    with torch.no_grad():
        logits, _ = network(x, mask, belief)
        inputs = torch.cat([x, belief.flatten(1)], 1) if with_belief else x
        context = network.context(network.hidden(inputs))[rows]
        z = (network.placement(torch.from_numpy(pairs.features)) + context).clamp(min=0)
        z = z + network.mix(z).clamp(min=0)
        scores = (z @ network.score.weight.T + network.score.bias)[:, 0]
    assert mask.sum() == len(scores) == (mask[rows, actions] == 1).sum()
    assert torch.allclose(logits[rows, actions], scores, rtol=1e-4, atol=1e-4)
    assert network.like().placements == 8 and network.like().belief == with_belief


def test_forward_is_the_documented_formula():
    network, x = random_network(), torch.rand(5, observation_size(4))
    w = {name: tensor.detach() for name, tensor in network.state_dict().items()}
    h = (x @ w["input.weight"].T + w["input.bias"]).clamp(min=0)
    for i in range(2):
        inner = (h @ w[f"blocks.{i}.first.weight"].T + w[f"blocks.{i}.first.bias"]).clamp(min=0)
        h = h + inner @ w[f"blocks.{i}.second.weight"].T + w[f"blocks.{i}.second.bias"]
    h = h.clamp(min=0)
    logits, value = network(x)
    assert torch.allclose(logits, h @ w["policy.weight"].T + w["policy.bias"], rtol=1e-4, atol=1e-4)
    assert torch.allclose(value, (h @ w["value.weight"].T + w["value.bias"])[:, 0], rtol=1e-4, atol=1e-4)


def test_begins_close_to_uniform_with_blocks_that_do_nothing():
    torch.manual_seed(0)
    network, x = PolicyNetwork(4, 64, 2), torch.rand(50, observation_size(4))
    logits, value = network(x)
    assert logits.abs().max() < 0.2 and value.abs().max() < 0.2
    assert all(torch.equal(block(torch.ones(1, 64)), torch.ones(1, 64)) for block in network.blocks)


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("placements", [0, 8])
@pytest.mark.parametrize("belief", [False, True])
def test_weights_come_back_from_the_file(tmp_path, num_players, placements, belief):
    network, path = random_network(num_players, placements=placements, belief=belief), tmp_path / "policy.safetensors"
    save_weights(path, network, {"decisions": 5})
    inputs = seen(num_players)
    for ours, theirs in zip(network(*inputs), load_weights(path)(*inputs), strict=True):
        assert torch.equal(ours, theirs)
    with safetensors_torch.safe_open(path, "pt") as file:
        about = json.loads(file.metadata()[METADATA])
    size = observation_size(num_players)
    assert about == {
        "format": 1,
        "num_players": num_players,
        "observation_size": size,
        "width": 16,
        "blocks": 2,
        "placements": placements,
        "belief": belief,
        "trained": {"decisions": 5},
    }
    assert [entry.name for entry in tmp_path.iterdir()] == ["policy.safetensors"]


def changed_metadata(path, **changes):
    with safetensors_torch.safe_open(path, "pt") as file:
        about = json.loads(file.metadata()[METADATA])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    safetensors_torch.save_file(tensors, path, {METADATA: json.dumps(about | changes)})


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.unlink(), "cannot be read|No such file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), "broken"),
        (lambda path: path.write_bytes(b"nonsense"), "broken"),
        (lambda path: safetensors_torch.save_file({"a": torch.zeros(1)}, path), "no network of this game"),
        (lambda path: changed_metadata(path, format=2), "format 2; this version reads 1"),
        (lambda path: changed_metadata(path, observation_size=7), "observations of 7 values"),
        (lambda path: changed_metadata(path, width=32), "has shape .* expected"),
        (lambda path: changed_metadata(path, num_players=9), "for 9 players"),
    ],
)
def test_a_file_that_is_no_network_is_one_clear_line(tmp_path, spoil, said):
    path = tmp_path / "policy.safetensors"
    save_weights(path, random_network(), {})
    spoil(path)
    with pytest.raises(ConfigError, match=said) as error:
        load_weights(path)
    assert "\n" not in str(error.value) and str(path) in str(error.value)


def test_sampled_actions_are_legal_and_as_likely_as_said():
    torch.manual_seed(0)
    logits, mask = torch.randn(1, 121) * 2, torch.zeros(1, 121, dtype=torch.int8)
    mask[0, [3, 40, 41, 119]] = 1
    expected = torch.where(mask == 1, logits, -torch.inf).softmax(1)[0]
    many = 20_000
    actions, log_probs = sample_actions(
        logits.expand(many, -1), mask.expand(many, -1).contiguous(), torch.Generator().manual_seed(1)
    )
    counts = torch.bincount(actions, minlength=121) / many
    assert (counts[mask[0] == 0] == 0).all()
    assert torch.allclose(counts, expected, atol=0.015)
    assert torch.allclose(log_probs, expected.log()[actions], atol=1e-5)


@pytest.mark.parametrize("legal", [0, 60, 120])
def test_a_lone_legal_action_is_taken_however_unlikely(legal):
    logits, mask = torch.zeros(5000, 121), torch.zeros(5000, 121, dtype=torch.int8)
    logits[:, legal], mask[:, legal] = -500.0, 1
    actions, log_probs = sample_actions(logits, mask, torch.Generator().manual_seed(0))
    assert (actions == legal).all() and (log_probs == 0).all()


def test_ignored_sections_change_nothing_and_stay_ignored():
    network, x = random_network(), torch.rand(8, observation_size(4))
    network.ignore(["may_hold", "hand"])
    other = x.clone()
    for name in ("may_hold", "hand"):
        split(other.numpy(), 4)[name][:] = 0.5
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    for _ in range(3):
        for ours, theirs in zip(network(x), network(other), strict=True):
            assert torch.equal(ours, theirs)
        loss = network(x)[0].square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    split(other.numpy(), 4)["laid"][:] = 0.5
    assert not torch.equal(network(x)[0], network(other)[0])
