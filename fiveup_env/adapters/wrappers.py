"""PettingZoo wrappers for libraries that read less than the environment tells."""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers import BaseWrapper


class MaskInfos(BaseWrapper):
    """Infos hold `action_mask` and nothing else.

    TorchRL, AgileRL and others make arrays of fixed shape of whatever is in an info; the scoring events of a step and
    its forced actions, of which there are sometimes more and sometimes fewer, are none.

    >>> env = MaskInfos(fiveup_v0.env())
    """

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """Agent -> {"action_mask": int8 [121]}, writable, since torch warns of arrays that are not."""
        return {agent: {"action_mask": info["action_mask"].copy()} for agent, info in self.env.infos.items()}
