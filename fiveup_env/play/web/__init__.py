"""Play with people and agents on a local web page (extra `web`)."""
