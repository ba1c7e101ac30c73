"""Self-play with PPO in plain torch: one network plays all seats and learns from the decisions of all seats.

    fiveup train partnership
    fiveup train configs/partnership.yaml --out runs/mine --seed 3
    fiveup train configs/partnership.yaml --out runs/mine --resume

From top to bottom: `main` starts a run, `Run` is one iteration, `Learner` has the networks and the loss. Other files:
config (`_config_parts.SelfPlayConfig`), loop (`_selfplay_loop`), collection (`_rollout`), credit per side (`_credit`),
rewards (`_standing`), opponents (`_mix`) and network (`_network`).

`_selfplay_loop` lists the files of a run and its metrics. On one thread, a resumed run ends with the same bits as an
uninterrupted one. The losses are means over the iteration; `value/loss` is halved. The phases are collect (env), infer,
opponents, judge and learn. More metrics:

| metric                   | meaning, and values to expect                                                     |
|--------------------------|-----------------------------------------------------------------------------------|
| policy/kl                | approximate KL from the acting policy to the updated one; 0.003 to 0.03 is normal |
| policy/clipped           | share of decisions outside the clip range; above 0.3: lower the learning rate     |
| policy/teacher_kl        | KL from the policy to the teacher (with a teacher only)                           |
| value/public_loss        | the same loss of the actor's own value head (with a privileged critic only)       |
| schedule/teacher_weight  | current value (with a teacher only)                                               |
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Literal

import torch
import torch.nn.functional as F
from pydantic import Field

from fiveup_env.agents.network.torch_network import PolicyNetwork
from fiveup_env.evaluation import evaluate

from . import _config_parts as parts
from ._mix import Mix, Seen, TorchPolicy
from ._network import Critic, load_weights, masked, sample_actions
from ._rollout import Clock, Rollout, self_play_matches
from ._run import agents_of, begin_folder, busy, check_agents, final_evaluation, found_device, last_checkpoint, opened
from ._selfplay_loop import SelfPlayLoop
from ._standing import Standing


class Config(parts.SelfPlayConfig):
    """Config of a run."""

    script: Literal["selfplay_ppo"] = Field(description="this script")


MAY_CHANGE = parts.MAY_CHANGE | {"device"}
"""Keys that may change when a run is resumed."""


def main(config_file: Path, *, out: str | None = None, resume: bool = False, seed: int | None = None) -> None:
    """Train, evaluate and print the result; for the arguments and errors see `_run.opened`."""
    folder, config, console = opened(config_file, Config, MAY_CHANGE, out, resume, seed)
    state = last_checkpoint(folder, resume, console)
    torch.set_num_threads(config.threads)
    run = Run(config)
    begin_folder(folder, config)
    with busy(console, "compiling the game (the first time on a machine takes half a minute)"):
        run.compile()
    if state:
        run.restore(state)
        console.print(f"continuing from {run.decisions:,} of {config.decisions:,} decisions")
    else:
        run.begin()
    run.train(folder, console)
    final_evaluation(folder, console, config, TorchPolicy(run.network), config.final_matches)


class Run(SelfPlayLoop):
    """State of a run between two iterations."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.clock, self.iterations = Clock(), 0
        self.learner = Learner(config)
        self.env = self_play_matches(config, self.learner.belief)
        with agents_of("opponents"):
            self.mix = Mix(config)
        check_agents(config.evaluation.opponents, config.players, "opponents")
        critic = (config.network.privileged_critic, config.network.critic_playouts)
        self.rollout = Rollout(self.env, config.ppo.steps, self.mix, Standing(self.env, config.reward), *critic)

    @property
    def network(self) -> PolicyNetwork:
        """The current network."""
        return self.learner.network

    def compile(self) -> None:
        """Use all compiled code once, before the clock of the run starts; draws no random numbers of the run."""
        step = self.env.reset(0)
        self.env.step(step.action_mask.argmax(1))
        for name in self.config.opponents_to_evaluate:
            evaluate(TorchPolicy(self.network), name, self.config.players, 1)

    def begin(self) -> None:
        """Deal all matches."""
        self.rollout.begin(self.config.seed)

    def iteration(self) -> dict[str, float]:
        """Collect and learn; returns the metrics."""
        began, clock, ppo, learner = time.perf_counter(), self.clock, self.config.ppo, self.learner
        if self.iterations % self.config.snapshots.every == 0:
            self.mix.take_snapshot(learner.network)
        metrics = self.rollout.collect(learner.act, learner.generator, clock)
        with clock("judge"):
            self.rollout.judge(ppo.gamma, ppo.gae_lambda)
        with clock("learn"):
            metrics |= learner.learn(self.rollout, self.decisions)
        self.rollout.carry()
        count, seconds = len(self.rollout.judged), time.perf_counter() - began
        self.decisions += count
        self.iterations += 1
        self.seconds += seconds
        return metrics | clock.shares(seconds) | {"speed/samples": count / seconds}

    def checkpoint(self) -> dict[str, Any]:
        """Return everything that the rest of the run depends on."""
        return {
            "progress": {"decisions": self.decisions, "iterations": self.iterations, "seconds": self.seconds},
            "curve": self.curve,
            "learner": self.learner.checkpoint(),
            "rollout": self.rollout.checkpoint(),
            "mix": self.mix.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        vars(self).update(state["progress"])
        self.curve = state["curve"]
        self.learner.restore(state["learner"])
        self.mix.set_state(state["mix"], self.learner.network)
        self.rollout.restore(state["rollout"])


class Learner:
    """The networks, their actions and their updates."""

    def __init__(self, config: Config) -> None:
        self.config, sizes = config, config.network
        self.device = found_device(config.device)
        torch.manual_seed(config.seed)
        self.network = PolicyNetwork(config.players, sizes.width, sizes.blocks, sizes.placements, sizes.belief)
        if sizes.start_from:
            self.network = load_weights(sizes.start_from, config.players)
        self.network.to(self.device).ignore(sizes.ignore)
        self.critic = None
        if sizes.privileged_critic:
            self.critic = Critic(config.players, sizes.critic_width, sizes.blocks, sizes.critic_playouts)
        self.teacher: PolicyNetwork | None = None
        if config.teacher.weight or config.teacher.weight_end:
            self.teacher = load_weights(config.teacher.weights or sizes.start_from or "", config.players)
            self.teacher.requires_grad_(False).to(self.device)
        self.belief = self.network.belief or (self.teacher is not None and self.teacher.belief)
        self.parameters = list(self.network.parameters())
        if self.critic:
            self.parameters += self.critic.to(self.device).parameters()
        self.optimizer = torch.optim.Adam(self.parameters, lr=config.ppo.learning_rate, eps=1e-5)
        self.generator = torch.Generator(self.device).manual_seed(config.seed)  # for actions
        self.shuffling = torch.Generator().manual_seed(config.seed + 1)  # for minibatches

    def precision(self) -> torch.autocast:
        """Return the context of mixed precision."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.mixed_precision)

    def act(self, seen: Seen, state: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return actions, their log-probabilities and values, all [N]; see `_rollout.Act`."""
        with torch.inference_mode(), self.precision():
            observation, legal, belief = (None if x is None else x.to(self.device) for x in seen)
            logits, value = self.network(observation, legal, belief)
            if self.critic and state is not None:
                value = self.critic(state.to(self.device))
            action, log_prob = sample_actions(logits, legal, self.generator)
            return action.cpu(), log_prob.cpu(), value.float().cpu()

    def learn(self, rollout: Rollout, done: int) -> dict[str, float]:
        """Update the networks with the judged decisions; returns the metrics.

        Args:
            rollout: rollout after `judge`.
            done: decisions learned from before, the time of the schedules.
        """
        ppo, weights, chosen = self.config.ppo, self.schedule(done), rollout.judged
        advantage = rollout.advantage.flatten()
        returns = advantage + rollout.value.flatten()[: len(advantage)]
        if ppo.normalize_advantages:
            advantage = (advantage - advantage[chosen].mean()) / (advantage[chosen].std() + 1e-8)
        columns = {name: buffer.flatten(0, 1) for name, buffer in rollout.buffers().items()}
        columns |= {"advantage": advantage, "returns": returns}
        for group in self.optimizer.param_groups:
            group["lr"] = weights["learning_rate"]
        sums: dict[str, torch.Tensor] = {}
        parts = max(1, round(len(chosen) / ppo.minibatch))
        for _ in range(ppo.epochs):
            order = chosen[torch.randperm(len(chosen), generator=self.shuffling)]
            for places in order.tensor_split(parts):
                batch = {name: column[places].to(self.device) for name, column in columns.items()}
                with self.precision():
                    loss, metrics = self.value_loss(batch) if done < ppo.value_warmup else self.loss(batch, weights)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                metrics["gradient/norm"] = torch.nn.utils.clip_grad_norm_(self.parameters, ppo.max_grad_norm)
                self.optimizer.step()
                for name, value in metrics.items():
                    sums[name] = sums.get(name, torch.zeros((), device=self.device)) + value.detach()
        found = {name: float(total) / (parts * ppo.epochs) for name, total in sums.items()}
        unexplained = rollout.advantage.flatten()[chosen].var() / (returns[chosen].var() + 1e-8)
        found["value/explained"] = 1 - float(unexplained)
        return found | {f"schedule/{name}": value for name, value in weights.items()}

    def schedule(self, done: int) -> dict[str, float]:
        """Return the current values of the linear schedules."""
        ppo, teacher, past = self.config.ppo, self.config.teacher, min(1.0, done / self.config.decisions)
        ends = {
            "learning_rate": (ppo.learning_rate, ppo.learning_rate_end),
            "entropy_weight": (ppo.entropy, ppo.entropy_end),
        }
        if self.teacher:
            ends["teacher_weight"] = (teacher.weight, teacher.weight_end)
        return {name: start + past * (end - start) for name, (start, end) in ends.items()}

    def loss(
        self, batch: dict[str, torch.Tensor], weights: dict[str, float]
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return the loss of PPO (Schulman et al., 2017) and metrics, as means over the minibatch."""
        ppo, mask = self.config.ppo, batch["mask"]
        seen = batch["observation"], mask, batch.get("belief")
        logits, value = self.network(*seen)
        legal = masked(logits, mask)
        log_probs, probs = legal.log_softmax(1), legal.softmax(1)
        log_ratio = log_probs.gather(1, batch["action"][:, None])[:, 0] - batch["log_prob"]
        ratio, advantage = log_ratio.exp(), batch["advantage"]
        surrogate = torch.min(ratio * advantage, ratio.clamp(1 - ppo.clip, 1 + ppo.clip) * advantage).mean()
        entropy = -(probs * log_probs).sum(1).mean()
        values, metrics = self.values_loss(batch, value)
        loss = -surrogate - weights["entropy_weight"] * entropy + ppo.value_weight * values
        with torch.no_grad():
            metrics |= {
                "policy/loss": -surrogate,
                "policy/entropy": entropy,
                "policy/kl": (ratio - 1 - log_ratio).mean(),
                "policy/clipped": ((ratio - 1).abs() > ppo.clip).float().mean(),
            }
        if self.teacher:
            with torch.no_grad():
                advised = masked(self.teacher(*seen)[0], mask).log_softmax(1)
            divergence = (probs * (log_probs - advised)).sum(1).mean()
            metrics["policy/teacher_kl"] = divergence
            loss = loss + weights["teacher_weight"] * divergence
        return loss, metrics

    def values_loss(
        self, batch: dict[str, torch.Tensor], public: torch.Tensor
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return half the squared errors of the values; `public` are the values of the actor's own head."""
        own = 0.5 * F.mse_loss(public.float(), batch["returns"])
        if not self.critic:
            return own, {"value/loss": own}
        privileged = 0.5 * F.mse_loss(self.critic(batch["state"]).float(), batch["returns"])
        # Search agents read the actor's own value from released networks.
        return privileged + own, {"value/loss": privileged, "value/public_loss": own}

    def value_loss(self, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return the loss of the warm-up, which trains the value head and leaves policy and hidden layers unchanged."""
        with torch.no_grad():
            hidden = self.network.hidden(self.network.inputs(batch["observation"], batch.get("belief")))
        return self.values_loss(batch, self.network.value(hidden)[:, 0])

    def checkpoint(self) -> dict[str, Any]:
        """Return weights, optimiser and random states."""
        return {
            "network": self.network.state_dict(),
            "critic": self.critic.state_dict() if self.critic else None,
            "optimizer": self.optimizer.state_dict(),
            "random": [self.generator.get_state(), self.shuffling.get_state()],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.network.load_state_dict(state["network"])
        if self.critic:
            self.critic.load_state_dict(state["critic"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["random"][0])
        self.shuffling.set_state(state["random"][1])
