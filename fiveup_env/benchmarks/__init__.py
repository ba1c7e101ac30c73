"""How fast it is, measured beside what others reach on the same machine at the same time."""
