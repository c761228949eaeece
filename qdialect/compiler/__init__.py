"""Options, pipelines with reasons, and the conditions that hold after each phase."""
