"""
What a session of onnxruntime does with a quantized model as it loads it, and what keeps it from doing so.

`rules.py` is the table: a rule for each thing that a session does wrongly, refuses afterwards, or makes slower. The
pass `guard-session` applies it. The other files find the places that the rules are about.
"""
