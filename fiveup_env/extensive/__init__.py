"""The game in extensive form: chance nodes for lot, deal and draws, information states, one tree for exact methods.

Nothing here needs a library beyond the package's own. `adapters.openspiel` shows it to OpenSpiel, and
`studies.exact_exploitability` walks it.
"""
