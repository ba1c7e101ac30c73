"""One short script per learning library; see docs/libraries.md.

    python -m training.examples.torch_ppo --samples 400000

Every script has `train(samples, seed)`, which returns an `Outcome` with the policy and the measurements. The scripts
share only `_example`: command line, measurements and final evaluation.
"""
