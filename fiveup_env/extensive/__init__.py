"""The game in extensive form: chance nodes for lot, deal and draws, and information states with perfect recall.

`adapters.openspiel` presents it to OpenSpiel, and `studies.exact_exploitability` traverses it.
"""
