"""PPO with RLlib, the standard route: a multi-agent environment, and one masked policy for all seats.

    python -m training.examples.rllib_ppo --samples 10000

`FiveUpMultiAgentEnv` lists only the seat to act, and RLlib adds up the rewards of a seat until its next turn, so
advantages span two decisions of a seat. Every match is a Python object; `fiveup train rllib` plays native matches, also
on a cluster.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.adapters.policy_function import ScoringPolicy
from fiveup_env.system.ray_cluster import LOCAL, connected

from ._example import PLAYERS, Outcome, needs, start

with needs("ray"):
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec

    from fiveup_env.adapters.rllib import FiveUpMultiAgentEnv, MaskedPPOModule

BATCH, MINIBATCH = 600, 128
TEAM = "team"
OPTIONS = {"num_players": PLAYERS, "draws": "auto", "episode": "round", "reward": "points"}


def train(samples: int, seed: int) -> Outcome:
    """Learn from about `samples` decisions of all four seats."""
    outcome = Outcome("ray")
    config = (
        PPOConfig()
        .environment(FiveUpMultiAgentEnv, env_config=OPTIONS)
        .multi_agent(policies={TEAM}, policy_mapping_fn=lambda agent, *_, **__: TEAM)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .training(
            lr=1e-3,
            gamma=1.0,
            lambda_=0.9,
            entropy_coeff=0.02,
            vf_loss_coeff=0.5,
            use_kl_loss=False,
            num_epochs=4,
            train_batch_size=BATCH,
            minibatch_size=MINIBATCH,
        )
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedPPOModule,
                model_config={"fcnet_hiddens": [128, 128], "fcnet_activation": "relu"},
            )
        )
        .debugging(seed=seed, log_level="ERROR")
    )
    with connected(LOCAL, "this example", 1):
        algorithm = config.build_algo()
        try:
            with outcome.measured():
                while outcome.samples < samples:
                    result = algorithm.train()
                    played = result["env_runners"]
                    outcome.samples += int(sum(played["num_agent_steps_sampled"].values()))
                    outcome.losses += [float(result["learners"][TEAM][name]) for name in ("policy_loss", "vf_loss")]
                    for agent, gained in played.get("agent_episode_returns_mean", {}).items():
                        outcome.note_rewards(int(agent.removeprefix("player_")), gained)
            module = algorithm.get_module(TEAM)
        finally:
            algorithm.stop()

    def scores(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        seen = {"observation": torch.from_numpy(observation), "action_mask": torch.from_numpy(mask)}
        with torch.inference_mode():
            return module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS].numpy()

    outcome.policy = ScoringPolicy(scores, PLAYERS, name="rllib")
    return outcome


if __name__ == "__main__":
    start(train, 10_000, __doc__)
