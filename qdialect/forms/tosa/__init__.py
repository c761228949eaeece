"""How operations are written in TOSA's integer profile: one rescale for what rounds, storage moved for what moves."""
