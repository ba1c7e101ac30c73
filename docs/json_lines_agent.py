"""An agent in ten lines, for `fiveup evaluate "exec:python docs/json_lines_agent.py" greedy`."""

import json
import sys

for line in sys.stdin:
    position = json.loads(line)
    room = position["target"] - position["scores"][position["seat"] % len(position["scores"])]
    worth = [option["credit"] if option["credit"] <= room else -1 for option in position["legal"]]
    best = worth.index(max(worth))
    print(json.dumps({"action": position["legal"][best]["action"]}), flush=True)
