"""The rules of Exact 61 Five Up: tiles, actions, the match record, layout, scoring and turns."""
