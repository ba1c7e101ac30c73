"""Presentation of results: tables, plots, HTML pages, report cards and their comparison."""
