"""Matches with people: session, terminal, analysis, replay; `play.web` for the browser."""
