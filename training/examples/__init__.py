"""One runnable script per learning library, each short enough to read; see docs/libraries.md.

    python -m training.examples.torch_ppo --samples 400000

Every script has `train(samples, seed)`, which returns an `Outcome`: the policy it came to, and what was measured on the
way. They share nothing but `_example`: how a script is started, what is counted, and the evaluation that ends it.
"""
