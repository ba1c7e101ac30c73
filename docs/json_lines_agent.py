"""An agent in ten lines, for `fiveup evaluate "exec:python docs/json_lines_agent.py" greedy`."""

import json
import sys

for line in sys.stdin:
    legal = json.loads(line)["legal"]
    best = max(legal, key=lambda option: option.get("credit", 0))
    print(json.dumps({"action": best["action"]}), flush=True)
