"""Options, pipelines, `compile` and `quantize`, and the report of what they did."""
