"""What the `options` of a `reset` may ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fiveup_env.rules.match import Match, checked_seed
from fiveup_env.rules.record import PLAYING, Variant

DEAL_KEYS = ("hands", "boneyard", "opener")


def checked_reset_options(given: Mapping[str, Any] | None, known: Sequence[str]) -> dict[str, Any]:
    """The reset options that were given.

    Raises:
        ValueError: naming one that does not exist, and those that do.
    """
    for name in given or {}:
        if name not in known:
            raise ValueError(f"there is no reset option {name!r}: {', '.join(map(repr, known))}")
    return {name: value for name, value in (given or {}).items() if value is not None}


def checked_deal(wanted: Any, variant: Variant, scores: Sequence[int], seed: int) -> int | Match:
    """What to start from: a seed of deals, or a match.

    Args:
        wanted: a mapping with `hands`, `boneyard` and `opener` (see `Match.from_deal`), a seed as in `Match(seed=...)`,
            or a `Match` that is going on.
        variant: what is to be played.
        scores: raw points per side at which such a mapping starts.
        seed: from which the rounds after it are dealt.

    Raises:
        ValueError: if it is none of these, or not a deal of this variant.
    """
    if isinstance(wanted, Mapping):
        wanted = _match_from(wanted, variant, scores, seed)
    if not isinstance(wanted, Match):
        return checked_seed(wanted)
    if wanted.variant != variant:
        raise ValueError(f"the deal is a match of {wanted.variant}, this env plays {variant}")
    if wanted.game.phase != PLAYING:
        raise ValueError("the deal is a match that is over")
    return wanted


def _match_from(wanted: Mapping[str, Any], variant: Variant, scores: Sequence[int], seed: int) -> Match:
    if set(wanted) != set(DEAL_KEYS):
        raise ValueError(f"a deal has the keys {', '.join(DEAL_KEYS)}, not {', '.join(map(str, wanted))}")
    if len(wanted["hands"]) != variant.num_players:
        raise ValueError(f"a deal needs {variant.num_players} hands, not {len(wanted['hands'])}")
    return Match.from_deal(
        **wanted, scores=scores, seed=seed, hand_size=variant.hand_size, target=variant.target, max_pip=variant.max_pip
    )
