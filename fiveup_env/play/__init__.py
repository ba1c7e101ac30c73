"""Matches with people: session, terminal, analysis, thoughts; `play.web` is the browser page."""
