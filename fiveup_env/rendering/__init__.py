"""Pictures and text boards of a match, and pages and films of a record."""
