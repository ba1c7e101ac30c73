"""Training scripts, one per way of training; each reads from top to bottom and takes a config of `configs`.

Modules whose names begin with an underscore are what scripts share.
"""

import os

# Torch's idle threads sleep instead of spinning: with two threads on two busy cores an iteration took 7 s instead of
# 40 s. Read when torch is first imported, so it stands here.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
