"""Training scripts, one per way of training; each reads from top to bottom and takes a config of `configs`.

Modules whose names begin with an underscore are what scripts share.
"""
