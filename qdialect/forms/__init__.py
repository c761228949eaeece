"""
Forms: descriptions of how an operation is written with other operations, which passes apply in either direction.

A promise is a fact about an op and lies below the generated op classes (`qdialect/promises/`); a form builds IR of
these classes and lies above them.
"""
