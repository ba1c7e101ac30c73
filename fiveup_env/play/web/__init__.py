"""A match on a local web page, played by mouse or keyboard against and with agents (extra `web`)."""
