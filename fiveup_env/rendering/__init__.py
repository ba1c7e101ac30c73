"""Pictures of a match, drawn from the view of a seat."""
