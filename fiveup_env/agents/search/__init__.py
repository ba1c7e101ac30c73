"""Information-set search: PIMC, ISMCTS, the endgame solver and match equity."""
