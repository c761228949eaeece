"""Float models in: statistics, placement of casts, rounding of weights, and the search over them."""
