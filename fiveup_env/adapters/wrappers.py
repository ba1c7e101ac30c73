"""PettingZoo wrappers that reduce the environment to what a library can read."""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers import BaseWrapper


class MaskInfos(BaseWrapper):
    """Keep only `action_mask` in the infos.

    TorchRL, AgileRL and others convert every info value to an array of fixed shape. The lists of scoring events and of
    forced actions have no fixed shape.

    >>> env = MaskInfos(fiveup_v0.env())
    """

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """Agent -> {"action_mask": int8 [121]}, writable, because torch warns about read-only arrays."""
        return {agent: {"action_mask": info["action_mask"].copy()} for agent, info in self.env.infos.items()}
