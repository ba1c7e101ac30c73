"""OpenSpiel on a small variant: CFR+ finds an equilibrium, which is checked.

The real game is too large for exact methods. One round of double-two (six tiles, two players) has a few thousand
positions, with hidden hands, draws, blocks and dominoes.

    python -m training.examples.openspiel_cfr
    python -m training.examples.openspiel_cfr --hand-size 3 --iterations 1000 --reward points
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from fiveup_env.studies.exact_exploitability import exploitability

from ._example import needs, positive

with needs("openspiel"):
    import pyspiel

    from fiveup_env.adapters import openspiel

AGENTS = ("random", "greedy", "heuristic")


def solve(max_pip: int, hand_size: int, reward: str, iterations: int, reports: int = 5) -> dict[str, Any]:
    """Run CFR+ on one round opened by player_0, and measure the exploitability of agents of this package.

    Returns:
        `value`: expected reward of player_0 under the average policy; `curve`: (iterations, exploitability);
        `as_agent`: exploitability of that policy as an agent, computed by this package; `agents`: exploitability by
        agent name.
    """
    game = openspiel.load_game(
        players=2, max_pip=max_pip, hand_size=hand_size, episode="round", reward=reward, opener=0
    )
    tree = pyspiel.convert_to_cached_tree(game)  # visits our states once; the rest runs in C++
    solver = pyspiel.CFRPlusSolver(tree)  # owns its policies
    curve, every = [], max(1, iterations // reports)
    for done in range(1, iterations + 1):
        solver.evaluate_and_update_policy()
        if done % every == 0 or done == iterations:
            curve.append((done, pyspiel.exploitability(tree, solver.average_policy())))
    policy = solver.average_policy()
    value = pyspiel.expected_returns(tree.new_initial_state(), policy, -1, True)[0]
    agent = openspiel.PolicyAgent(policy, name="cfr", reward=reward)
    return {
        "game": str(game),
        "value": value,
        "curve": curve,
        "as_agent": exploitability(agent, game.setup).value,
        "agents": {name: exploitability(name, game.setup).value for name in AGENTS},
    }


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--max-pip", type=positive, default=2, help="highest pip count of the set (%(default)s)")
    parser.add_argument("--hand-size", type=positive, default=2, help="tiles dealt to each player (%(default)s)")
    parser.add_argument("--reward", default="win", choices=("win", "points", "equity"), help="(%(default)s)")
    parser.add_argument("--iterations", type=positive, default=300, help="of CFR+ (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print a line of JSON instead")
    given = parser.parse_args()
    try:
        found = solve(given.max_pip, given.hand_size, given.reward, given.iterations)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    if given.json:
        print(json.dumps(found))
        return
    print(found["game"])
    for done, gap in found["curve"]:
        print(f"  {done:5} iterations: exploitability {gap:.6f}")
    print(f"value for player_0, who opens: {found['value']:+.6f}")
    print(f"exploitability of that policy as an agent: {found['as_agent']:.6f}")
    for name, gap in found["agents"].items():
        print(f"exploitability of {name}: {gap:.6f}")


if __name__ == "__main__":
    main()
