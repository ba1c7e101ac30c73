"""Network agents: features, forward pass, weight files, and search with a network prior."""
