"""An independent, naive implementation of Exact 61 Five Up, to test the engine against.

It imports nothing of the package under test and is written from the German rules text and the numbered page
(``R…`` and ``D…`` in docstrings are that page's numbers). It favours obviousness over speed.
"""

from tests.oracle.layout import Place, Tile
from tests.oracle.oracle import Event, Oracle, merged

__all__ = ["Event", "Oracle", "Place", "Tile", "merged"]
