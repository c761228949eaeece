"""`--keep-float`: random nodes of random graphs are kept over whole pipelines, and none of them changes."""

import random
from typing import NamedTuple

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from graphs.quantized import random_case
from qdialect.compiler.keep_float import keep_in_float
from qdialect.compiler.options import Options
from qdialect.compiler.pipeline import pipeline
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_types import ANY
from qdialect.dialects.quant import element_type_of
from qdialect.ir.names import tensor_names
from qdialect.ir.values import real_constant
from qdialect.onnx_io.importer import import_model
from qdialect.promises.casts import DequantizeForm, dequantize_type
from qdialect.reasons import Blocked

SETTINGS = [
    Options(target, form, exactness)
    for target, form in (
        ("onnxruntime", "qoperator"),
        ("onnxruntime", "qdq"),
        ("onnxruntime", "integer"),
        ("generic", None),
        ("tensorrt", None),
        ("openvino", None),
    )
    for exactness in ("close", "lossy")
]
KEPT = 3
"""Nodes of each graph, at most."""


class Signature(NamedTuple):
    """What must stay of a node."""

    properties: dict[str, Attribute]
    elements: list[Attribute]
    constants: list[bytes | None]
    """The real numbers of the operands that are constant."""


def signature(op: Operation) -> Signature:
    """What a node computes, and on which numbers where they are constant."""
    elements = [element_type_of(v.type) for v in (*op.operands, *op.results)]
    return Signature(dict(op.properties), elements, [constant(op, k) for k in range(len(op.operands))])


def same(old: Signature, new: Signature) -> bool:
    """Whether nothing changed but what is known now and was not: an element type, the numbers of an operand."""
    elements = all(a in (b, ANY) for a, b in zip(old.elements, new.elements, strict=True))
    constants = all(a in (b, None) for a, b in zip(old.constants, new.constants, strict=True))
    return old.properties == new.properties and elements and constants


def constant(op: Operation, place: int) -> bytes | None:
    value = op.operands[place]
    source = value.owner
    if isinstance(source, Operation) and source.get_trait(DequantizeForm) is not None:
        assert isinstance(source, OnnxOp)
        type, stored = dequantize_type(source), real_constant(source.operands[0])
        return None if stored is None or isinstance(type, Blocked) else type.dequantize(stored).tobytes()
    array = real_constant(value)
    return None if array is None else np.asarray(array).tobytes()


def nodes(module: ModuleOp) -> list[Operation]:
    """The nodes that an output depends on, and that have a name."""
    ops = list(module.walk())
    live = set[Operation]()
    for op in reversed(ops):
        if live.intersection(u.operation for r in op.results for u in r.uses) or not op.results:
            live.update(inner for inner in op.walk() if inner is op or not inner.results)
    return [
        op
        for op in ops
        if op in live
        and isinstance(op, OnnxOp)
        and not isinstance(op, ConstantOp | YieldOp)
        and any(tensor_names(op))
    ]


@pytest.mark.parametrize("seed", [1006, 1026, 1071, *range(700, 714)])
def test_no_pass_changes_what_is_kept(seed: int):
    draw = random.Random(seed)
    case = random_case(seed, forms=seed % 2 == 1)
    for options in draw.sample(SETTINGS, 3):
        module = import_model(type(case.model).FromString(case.model.SerializeToString()))
        there = nodes(module)
        chosen = draw.sample(there, min(KEPT, len(there)))
        keep_in_float(module, [next(n for n in tensor_names(op) if n) for op in chosen])
        before = [signature(op) for op in chosen]
        for one in pipeline(options):
            one.apply(Context(), module)
            for op, old in zip(chosen, before, strict=True):
                assert op.parent_op() is not None, (options, one.name, str(op))
                assert same(old, signature(op)), (options, one.name, str(op))
        module.verify()
