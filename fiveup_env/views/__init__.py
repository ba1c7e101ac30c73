"""The view of a seat: observation, history, rewards."""
