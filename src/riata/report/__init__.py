"""One HTML page about a model: how it was made, how good it is, what it weighs, and a form that scores.

The page stands alone: no network, no fonts, no libraries. What it holds of the data are aggregates, and those
examples that were asked for.
"""

from riata.report.page_of import Page, page_of

__all__ = ["Page", "page_of"]
