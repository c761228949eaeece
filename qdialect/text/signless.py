"""
`quant.scast` in upstream's form: its storage side is signless, so that unsigned integers take a second cast.

    scast(q : u8) : ui8   <->   unrealized_conversion_cast(scast(q : u8) : i8) : ui8       likewise from ui8

MLIR has no other cast from ui8 to i8. Only the generic form is written so; the parser merges the pair.
"""

from xdsl.dialects.builtin import IntegerType, Signedness, UnrealizedConversionCastOp
from xdsl.ir import Attribute, Operation

from qdialect.dialects.quant import StorageCastOp, element_type_of, with_element_type
from qdialect.ir.insertion import remove


def _signless(type: Attribute) -> Attribute | None:
    """The type with signless integers; None if its integers are not unsigned."""
    element = element_type_of(type)
    if not isinstance(element, IntegerType) or element.signedness.data is not Signedness.UNSIGNED:
        return None
    return with_element_type(type, IntegerType(element.width))


def signless_pair(op: StorageCastOp) -> list[Operation]:
    """The two equivalent ops, the last with the result; empty if upstream accepts `op`."""
    if (plain := _signless(op.input.type)) is not None:
        first = UnrealizedConversionCastOp.get([op.input], [plain])
        pair: list[Operation] = [first, StorageCastOp(first.results[0], op.result.type)]
    elif (plain := _signless(op.result.type)) is not None:
        first = StorageCastOp(op.input, plain)
        pair = [first, UnrealizedConversionCastOp.get([first.result], [op.result.type])]
    else:
        return []
    for one in pair:
        one.location = op.location
    pair[-1].results[0].name_hint = op.result.name_hint
    return pair


def _merge(cast: UnrealizedConversionCastOp) -> None:
    """Merge each pair that `cast` is part of into one `quant.scast`."""
    if len(cast.operands) != 1 or len(cast.results) != 1:
        return
    source, result = cast.operands[0], cast.results[0]
    above = source.owner
    if _signless(source.type) == result.type:
        for use in list(result.uses):
            if isinstance(use.operation, StorageCastOp):
                use.operation.operands[use.index] = source
    elif (
        _signless(result.type) == source.type and isinstance(above, StorageCastOp) and cast.parent is not None
    ):
        whole = StorageCastOp(above.input, result.type)
        whole.location = above.location
        whole.result.name_hint = result.name_hint
        cast.parent.insert_op_before(whole, cast)
        result.replace_all_uses_with(whole.result)
    else:
        return
    if result.first_use is None:
        remove(cast)
    if isinstance(above, StorageCastOp) and above.result.first_use is None:
        remove(above)


def merge_pairs(module: Operation) -> None:
    """Merge all pairs of a module, in place."""
    for op in [op for op in module.walk() if isinstance(op, UnrealizedConversionCastOp)]:
        _merge(op)
