"""The released policies: weights (`.safetensors`) and a model card (`.md`) each.

They are agents by name: `fiveup_env.agents.load("partnership-v1")`. A file here never changes once it is released; what
is better gets another name.
"""
