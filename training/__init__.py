"""Training scripts, one per method; each takes a config from `configs`.

Modules whose names begin with an underscore are shared by the scripts.
"""

import os

# Idle threads of torch sleep instead of spinning, which matters if other processes use the cores. Torch reads this
# variable when it is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
