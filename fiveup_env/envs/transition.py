"""One environment step over a record: the action, what is forced after it, the rewards, and whether it is over.

All environments stand on this one kernel, so they are the same game.
"""

from __future__ import annotations

from numpy import int64

from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.record import MATCH_OVER, ROUND_OVER, Game, start_round
from fiveup_env.rules.turn import play, play_forced
from fiveup_env.views.rewards import WIN, changes, scores_of, win_rewards

GOES_ON, TERMINATED, TRUNCATED = 0, 1, 2


@kernel
def status(game: Game, round_episodes: bool, max_rounds: int) -> int:
    """Whether the episode goes on; a round that is over and not the episode's last is followed by the next deal."""
    if game.phase == MATCH_OVER:
        return TERMINATED
    if game.phase == ROUND_OVER:
        if round_episodes:
            return TERMINATED
        if max_rounds > 0 and int64(game.round_number) >= max_rounds:
            return TRUNCATED
        start_round(game)
    return GOES_ON


@kernel
def winner_of(game: Game, round_episodes: bool) -> int:
    """Side that has won the episode: the match, or the round (D8, R8.5); -1 for none."""
    return int64(game.round_winner) if round_episodes else int64(game.winner)


@kernel
def resolve_forced(game: Game, skip_single: bool, round_episodes: bool, max_rounds: int) -> int:
    """Take forced draws and passes (R3.2), with `skip_single` every lone legal action; returns the status.

    Scoring events add up, except that a lone placement starts the list anew.
    """
    now = status(game, round_episodes, max_rounds)
    while now == GOES_ON and play_forced(game, skip_single):
        now = status(game, round_episodes, max_rounds)
    return now


@kernel
def gained(
    game: Game, before: tuple[int, int, int], now: int, scheme: int, round_episodes: bool
) -> tuple[float, float, float]:
    """What a step brought every side, from the scores before it and its status; most bring nothing."""
    if scheme == WIN:
        if now == TERMINATED:
            return win_rewards(winner_of(game, round_episodes), int64(game.num_sides))
    else:
        after = scores_of(game)
        if after != before:
            return changes(before, after, int64(game.target), int64(game.num_sides), scheme)
    return 0.0, 0.0, 0.0


@kernel
def transition(game: Game, action: int, options: tuple) -> tuple[int, tuple[float, float, float]]:
    """Take one legal action and all that follows of itself.

    Args:
        options: scheme of the rewards, auto_draws, skip_single, round_episodes, max_rounds.

    Returns:
        GOES_ON, TERMINATED or TRUNCATED, and what the step brought every side (see `views.rewards`; 0 for a third
        that is none).
    """
    scheme, auto_draws, skip_single, round_episodes, max_rounds = options
    before = scores_of(game)
    play(game, action)
    if auto_draws:
        now = resolve_forced(game, skip_single, round_episodes, max_rounds)
    else:
        now = status(game, round_episodes, max_rounds)
    return now, gained(game, before, now, scheme, round_episodes)
