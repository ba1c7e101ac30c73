"""What a seat may see, as tensors: view, belief bounds, observation, history, state and rewards."""
