"""Where hidden tiles may be: evidence, exact counting, choice model, approximation, resampling."""
