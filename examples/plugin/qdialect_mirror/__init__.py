"""What a company adds to qdialect from a package of its own: an operator's promises, a pass, a target."""
