"""A policy by self-play with PPO: one network for all seats, every seat's decisions learned from. Plain torch.

    fiveup train partnership
    fiveup train configs/partnership.yaml --out runs/mine --seed 3
    fiveup train configs/partnership.yaml --out runs/mine --resume

How it works, top to bottom: `main` is the loop, `Run` an iteration of it and what is written down, `Learner` the
networks and the loss. Apart stand what there is to choose (`_selfplay_config.Config`), collecting (`_rollout`), credit
per side (`_credit`), rewards (`_standing`), who else plays (`_mix`) and the network (`_network`).
What a run leaves in its folder:

- `policy.safetensors`: the network, written at every evaluation and at the end
- `curve.json`: every evaluation, with the decisions and seconds of learning before it
- `results.json`: the evaluation that ends the run
- `config.yaml`: the config as it was used
- `checkpoint.pt` (and the one before it): everything that `--resume` needs; a resumed run on one thread ends with the
  same bits as one that was never stopped
- `tensorboard/`: `tensorboard --logdir runs`

What TensorBoard shows, by decisions learned from:

| metric                        | what, and what to look for                                                        |
|-------------------------------|-----------------------------------------------------------------------------------|
| policy/entropy                | mean entropy of the choices in nats; near 0 long before the end: too little bonus |
| policy/loss                   | the clipped surrogate; only its drift says something                              |
| policy/kl                     | approximate KL from the acting policy to the updated one; 0.003 to 0.03 is sound  |
| policy/clipped                | share of decisions whose ratio left the clip range; above 0.3: lower the rate     |
| policy/teacher_kl             | KL from the policy to the teacher (with a teacher only)                           |
| value/loss                    | mean squared error of the values against the returns, halved                      |
| value/explained               | share of the returns' variance that the values explain; luck bounds it from above |
| value/public_loss             | the same loss of the actor's own value head (with a privileged critic only)       |
| gradient/norm                 | before clipping                                                                   |
| schedule/learning_rate        | as scheduled                                                                      |
| schedule/entropy_weight       | as scheduled                                                                      |
| schedule/teacher_weight       | as scheduled (with a teacher only)                                                |
| rollout/decisions_per_episode | real choices of all seats in an episode                                           |
| rollout/return_against_NAME   | mean return of the learner's side per episode in that block of the mix            |
| evaluation/win_rate_against_NAME         | taking the most likely action always, on the same deals always         |
| evaluation/points_per_round_against_NAME | the same matches: own points less the others' mean                     |
| speed/samples                 | decisions learned from per second, all included but evaluation                    |
| speed/share_PHASE             | of an iteration: collect (env), infer, opponents, judge, learn, rest              |
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch.utils.tensorboard import SummaryWriter

from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.evaluation import evaluate
from fiveup_env.system.training_scripts import ConfigError

from ._checkpoint import save_checkpoint, write_file
from ._mix import Mix, NetworkPolicy, Seen
from ._network import Critic, PolicyNetwork, load_weights, masked, sample_actions, save_weights
from ._rollout import Clock, Rollout, self_play_matches
from ._run import begin_folder, busy, final_evaluation, found_device, opened, progress_bar
from ._selfplay_config import MAY_CHANGE, Config, Variant
from ._standing import Standing


def main(config_file: Path, *, out: str | None = None, resume: bool = False, seed: int | None = None) -> None:
    """Train as the config says, evaluate, and print the result.

    Args:
        config_file: see `Config`.
        out: folder of the run; default `runs/<name of the config>`.
        resume: go on from the last checkpoint in that folder.
        seed: in place of the config's.

    Raises:
        ConfigError: if the config is wrong, or the folder has a run that is not to be resumed, or none that can be.
    """
    folder, config, state, console = opened(config_file, Config, MAY_CHANGE, out, resume, seed)
    torch.set_num_threads(config.threads)
    run = Run(config)
    begin_folder(folder, config)
    with busy(console, "compiling the game (the first time on a machine takes half a minute)"):
        run.compile()
    if state:
        run.restore(state)
        console.print(f"going on from {run.decisions:,} of {config.decisions:,} decisions")
    else:
        run.begin()
    writer, saved = SummaryWriter(str(folder / "tensorboard"), purge_step=run.decisions), time.monotonic()
    with writer, progress_bar(console, config.decisions) as bar:
        while run.decisions < config.decisions:
            metrics = run.iteration()
            if run.evaluation_is_due():
                metrics |= run.evaluate()
                run.save(folder)
                console.print(run.line(metrics))
            for name, value in metrics.items():
                writer.add_scalar(name, value, run.decisions)
            bar.update(bar.task_ids[0], completed=run.decisions, speed=run.speed(metrics))
            if run.decisions >= config.decisions or time.monotonic() - saved >= config.checkpoint_seconds:
                save_checkpoint(folder, run.checkpoint())
                saved = time.monotonic()
    run.save(folder)
    opponents = config.evaluation.opponents if config.variant == Variant() else []
    final_evaluation(folder, console, opponents, lambda name: run.match_up(name, config.evaluation.final_matches))


class Run:
    """Everything of a run between two iterations."""

    def __init__(self, config: Config) -> None:
        self.config, self.clock = config, Clock()
        self.decisions, self.iterations, self.seconds = 0, 0, 0.0
        self.curve: list[dict[str, float]] = []
        self.learner = Learner(config)
        self.env = self_play_matches(config, self.learner.belief)
        past = config.snapshots
        try:
            self.mix = Mix(config.opponents, config.matches, config.players, past.keep, past.at_once, config.seed)
            for name in config.evaluation.opponents:
                make_agent(name, config.players)
        except AgentError as error:
            raise ConfigError(f"opponents: {error}") from error
        critic = (config.network.privileged_critic, config.network.critic_playouts)
        self.rollout = Rollout(self.env, config.ppo.steps, self.mix, Standing(self.env, config.reward), *critic)

    def compile(self) -> None:
        """Use all compiled code once, before the clock of the run starts; draws no random numbers of the run."""
        step = self.env.reset(0)
        self.env.step(step.action_mask.argmax(1))
        if self.config.variant == Variant():
            for name in self.config.evaluation.opponents:
                self.match_up(name, 1)

    def begin(self) -> None:
        """Deal."""
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
        phases = clock.read()
        phases["rest"] = seconds - sum(phases.values())
        metrics |= {f"speed/share_{phase}": spent / seconds for phase, spent in phases.items()}
        return metrics | {"speed/samples": count / seconds}

    def speed(self, metrics: dict[str, float]) -> str:
        """Samples per second and where the time goes, for the bar."""
        parts = ", ".join(f"{p} {100 * metrics[f'speed/share_{p}']:.0f}" for p in ("collect", "infer", "learn"))
        return f"{metrics['speed/samples']:,.0f}/s ({parts}%)"

    # evaluation

    def evaluation_is_due(self) -> bool:
        """Whether the last iteration crossed a multiple of `evaluation.every`."""
        every = self.config.evaluation.every
        return self.decisions // every > (self.decisions - len(self.rollout.judged)) // every

    def evaluate(self) -> dict[str, float]:
        """The policy as it is now, on the same deals as always; no evaluation of small variants."""
        metrics, entry = {}, {"decisions": self.decisions, "seconds": round(self.seconds, 1)}
        for name in self.config.evaluation.opponents if self.config.variant == Variant() else []:
            result = self.match_up(name, self.config.evaluation.matches)
            metrics[f"evaluation/win_rate_against_{name}"] = entry[name] = result.win_rate.value
            metrics[f"evaluation/points_per_round_against_{name}"] = result.points_per_round.value
        self.curve.append(entry)
        return metrics

    def match_up(self, name: str, matches: int) -> Any:
        """The learner's side against an agent."""
        policy = NetworkPolicy(self.learner.network)
        return evaluate(policy, name, self.config.players, matches, self.config.evaluation.seed)

    def line(self, metrics: dict[str, float]) -> str:
        """What is printed of an evaluation."""
        start, entropy = "evaluation/win_rate_against_", metrics.get("policy/entropy", float("nan"))
        wins = ", ".join(f"{k.removeprefix(start)} {100 * v:.1f}%" for k, v in metrics.items() if k.startswith(start))
        return f"{self.decisions:>11,} decisions, {self.speed(metrics)}, entropy {entropy:.2f}, wins: {wins}"

    def save(self, folder: Path) -> None:
        """The network and the curve so far."""
        facts = {"config": self.config.model_dump(), "decisions": self.decisions, "seconds": round(self.seconds, 1)}
        save_weights(folder / "policy.safetensors", self.learner.network, facts)
        write_file(folder / "curve.json", json.dumps(self.curve, indent=1).encode())

    # checkpoints

    def checkpoint(self) -> dict[str, Any]:
        """All that the rest of the run depends on."""
        return {
            "progress": {"decisions": self.decisions, "iterations": self.iterations, "seconds": self.seconds},
            "curve": self.curve,
            "learner": self.learner.checkpoint(),
            "rollout": self.rollout.checkpoint(),
            "mix": self.mix.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `checkpoint` gave."""
        vars(self).update(state["progress"])
        self.curve = state["curve"]
        self.learner.restore(state["learner"])
        self.mix.set_state(state["mix"], self.learner.network)
        self.rollout.restore(state["rollout"])


class Learner:
    """The networks, and how they act and learn."""

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
        self.generator = torch.Generator(self.device).manual_seed(config.seed)  # of actions
        self.shuffling = torch.Generator().manual_seed(config.seed + 1)  # of minibatches

    def precision(self) -> torch.autocast:
        """What networks compute in."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.mixed_precision)

    def act(self, seen: Seen, state: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions, their log-probabilities and values [N]; see `_rollout.Act`."""
        with torch.inference_mode(), self.precision():
            observation, legal, belief = (None if x is None else x.to(self.device) for x in seen)
            logits, value = self.network(observation, legal, belief)
            if self.critic and state is not None:
                value = self.critic(state.to(self.device))
            action, log_prob = sample_actions(logits, legal, self.generator)
            return action.cpu(), log_prob.cpu(), value.float().cpu()

    def learn(self, rollout: Rollout, done: int) -> dict[str, float]:
        """Improve the networks with the decisions that were judged; returns the metrics.

        Args:
            rollout: after `judge`.
            done: decisions learned from before these, which the schedules go by.
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
        """What changes in the course of a run, linearly."""
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
        """The loss of PPO (Schulman and others, 2017), and metrics; all means over the minibatch."""
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
        """Squared errors of the values, halved; `public` is what the actor's own head says."""
        own = 0.5 * F.mse_loss(public.float(), batch["returns"])
        if not self.critic:
            return own, {"value/loss": own}
        privileged = 0.5 * F.mse_loss(self.critic(batch["state"]).float(), batch["returns"])
        # The actor's own value is of no use to training then, but search agents read it from the released network.
        return privileged + own, {"value/loss": privileged, "value/public_loss": own}

    def value_loss(self, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The warm-up: the value head learns on top of a policy and hidden layers that stay as they are."""
        with torch.no_grad():
            hidden = self.network.hidden(self.network.inputs(batch["observation"], batch.get("belief")))
        return self.values_loss(batch, self.network.value(hidden)[:, 0])

    # checkpoints

    def checkpoint(self) -> dict[str, Any]:
        """Weights, optimiser and random states."""
        return {
            "network": self.network.state_dict(),
            "critic": self.critic.state_dict() if self.critic else None,
            "optimizer": self.optimizer.state_dict(),
            "random": [self.generator.get_state(), self.shuffling.get_state()],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `checkpoint` gave."""
        self.network.load_state_dict(state["network"])
        if self.critic:
            self.critic.load_state_dict(state["critic"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["random"][0])
        self.shuffling.set_state(state["random"][1])
