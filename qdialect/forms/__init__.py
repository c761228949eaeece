"""
How an operation is written with other operations: the forms that passes read and write.

What an op promises is a fact and stands below the generated op classes (`qdialect/promises/`); a form builds IR from
them, and stands above.
"""
