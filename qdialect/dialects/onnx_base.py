"""
Base class of all ONNX operations, and the few operations that are not generated from schemas.

An operation's operands are the node's inputs in order. An input omitted in front of one that is present keeps its place
in `operandSegmentSizes` (one 0 or 1 per place; absent when nothing is omitted there); results likewise. Attributes are
properties; attributes that are graphs are regions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, OpTraits, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, IsolatedFromAbove, IsTerminator, OpTrait, OpTraitInvT, Pure

from qdialect.dialects import onnx_text
from qdialect.dialects.onnx_segments import RESULT_SEGMENTS, SEGMENTS, placed, present
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_verify import verify_at, verify_quantized_values, verify_stored
from qdialect.dialects.schemas import Schema
from qdialect.dialects.snapshot import DOMAINS

ANNOTATION = "onnx.quantization."
"""An operation's attribute of this name and a number: the quantization annotation of that result."""
RANDOM = frozenset(
    ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)
"""ONNX marks these as non-deterministic: two of them are never one."""


@cache
def trait_of(op_class: type[OnnxOp], trait: Any) -> Any:
    return super(OnnxOp, op_class).get_trait(trait)


@cache
def verifying_traits(op_class: type[OnnxOp]) -> tuple[OpTrait, ...]:
    """The interfaces of a class that constrain quantized operands or results: those with a `verify` of their own."""
    return tuple(t for t in op_class.traits.traits if type(t).verify is not OpTrait.verify)


class OnnxOp(Operation):
    """Base class of all ONNX operations: inputs and outputs by place, attributes, text, verification."""

    SCHEMA: ClassVar[Schema | None] = None
    ANY_RESULT: ClassVar[bool] = False
    """True if results may have types that the schema does not list."""
    traits: ClassVar[OpTraits] = OpTraits(lambda: (Pure(),))

    @classmethod
    def build(
        cls,
        inputs: Sequence[SSAValue | None],
        result_types: Sequence[Attribute | None],
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> OnnxOp:
        """An operation with these inputs and results, None where one is left out."""
        properties = dict(attributes) if attributes else {}
        if (sizes := present(inputs)) is not None:
            properties[SEGMENTS] = sizes
        if (sizes := present(result_types)) is not None:
            properties[RESULT_SEGMENTS] = sizes
        return cls.create(
            operands=[i for i in inputs if i is not None],
            result_types=[t for t in result_types if t is not None],
            properties=properties,
            regions=regions,
        )

    @classmethod
    def get_trait(cls, trait: type[OpTraitInvT] | OpTraitInvT) -> OpTraitInvT | None:
        """The trait of class `trait`, or equal to it. Cached: every pass asks every operation."""
        return trait_of(cls, trait)

    @property
    def domain(self) -> str:
        """The operator's domain; ai.onnx is the empty string."""
        return self.SCHEMA.domain if self.SCHEMA else ""

    @property
    def op_type(self) -> str:
        """The operator's name in ONNX."""
        return self.SCHEMA.name if self.SCHEMA else self.name.partition(".")[2]

    @property
    def inputs(self) -> list[SSAValue | None]:
        """The inputs by place, None where one is left out in front of another."""
        return placed(self.operands, self.properties.get(SEGMENTS))

    @property
    def outputs(self) -> list[SSAValue | None]:
        """The outputs by place."""
        return placed(self.results, self.properties.get(RESULT_SEGMENTS))

    def input(self, place: int) -> SSAValue | None:
        """The input at `place`; None if it is left out."""
        if SEGMENTS not in self.properties:
            operands = self.operands
            return operands[place] if place < len(operands) else None
        inputs = self.inputs
        return inputs[place] if place < len(inputs) else None

    @property
    def onnx_attributes(self) -> dict[str, Attribute]:
        """The node's attributes, without regions."""
        return {k: v for k, v in self.properties.items() if k not in (SEGMENTS, RESULT_SEGMENTS)}

    @property
    def region_names(self) -> Sequence[str]:
        """The names of the attributes that are graphs, one per region."""
        return self.SCHEMA.regions if self.SCHEMA else ()

    @property
    def listed(self) -> str:
        """Name of the operator in the tables of targets."""
        return self.op_type

    def attribute(self, name: str) -> Attribute | None:
        """Attribute `name` of the node; None if it is absent."""
        return self.properties.get(name)

    def int_attr(self, name: str, default: int) -> int:
        """INT attribute `name`, or `default`."""
        value = self.attribute(name)
        return value.value.data if isinstance(value, IntegerAttr) else default

    def float_attr(self, name: str, default: float) -> float:
        """FLOAT attribute `name`, or `default`."""
        value = self.attribute(name)
        return value.value.data if isinstance(value, FloatAttr) else default

    def str_attr(self, name: str, default: str) -> str:
        """STRING attribute `name`, or `default`."""
        value = self.attribute(name)
        return value.data if isinstance(value, StringAttr) else default

    def ints_attr(self, name: str) -> tuple[int, ...] | None:
        """INTS attribute `name`; None if it is absent."""
        value = self.attribute(name)
        return tuple(int(v) for v in value.iter_values()) if isinstance(value, DenseArrayBase) else None

    def verify_(self) -> None:
        quantized = verify_quantized_values(self)
        if self.SCHEMA is not None:
            verify_at(self, opset_of(self, self.domain))
        if quantized:
            for trait in verifying_traits(type(self)):
                trait.verify(self)

    def print(self, printer: Printer) -> None:
        onnx_text.print_op(self, printer)

    @classmethod
    def parse(cls, parser: Parser) -> OnnxOp:
        return cls.create(**onnx_text.parse_op(parser))


def promise_of(owner: object, kind: type[OpTraitInvT]) -> OpTraitInvT | None:
    """What the owner of a value, or any op, promises; None for a block, and for an op of another dialect."""
    return owner.get_trait(kind) if isinstance(owner, OnnxOp) else None


class ConstantOp(OnnxOp):
    """A constant. If its result has a quantized type, the value holds the stored integers."""

    name = "onnx.Constant"
    ANY_RESULT = True
    traits = OpTraits(lambda: (Pure(), ConstantLike()))

    @classmethod
    def of(cls, value: TensorAttr, type: Attribute | None = None) -> ConstantOp:
        """A constant of the value's own type, or of `type`, quantized, stored as the value is."""
        return cls.create(result_types=[value.type if type is None else type], properties={"value": value})

    @property
    def value(self) -> TensorAttr | None:
        """The value; None for a sparse constant."""
        value = self.properties.get("value")
        return value if isinstance(value, TensorAttr) else None

    def verify_(self) -> None:
        super().verify_()
        verify_stored(self.value, self.results[0].type)


class CustomOp(OnnxOp):
    """
    An operator without a schema in the snapshot, or a call of a model-local function; carried through unchanged. An
    operator for which an installed plugin declares promises gets a subclass of its own.
    """

    name = "onnx.Custom"
    traits = OpTraits(lambda: ())
    class_of: ClassVar[Callable[[str, str], type[CustomOp]]]
    """Maps domain and name to the class of an operator; set by `qdialect.ops`, which this package cannot import."""

    @classmethod
    def create(cls, *, properties: Mapping[str, Attribute] = {}, **parts: Any) -> Self:
        domain, name = properties.get("domain"), properties.get("op_type")
        op_class = cls
        if cls is CustomOp and isinstance(domain, StringAttr) and isinstance(name, StringAttr):
            op_class = cast("type[Self]", CustomOp.class_of(domain.data, name.data))
        return super(CustomOp, op_class).create(properties=properties, **parts)

    @property
    def listed(self) -> str:
        # One of ONNX's own is here because the opset does not have it in this form.
        own = self.domain in DOMAINS
        return self.op_type if own else f"{self.domain}::{self.op_type}"

    def attribute(self, name: str) -> Attribute | None:
        return self.onnx_attributes.get(name)

    def _string(self, name: str) -> str:
        value = self.properties.get(name)
        return value.data if isinstance(value, StringAttr) else ""

    @property
    def domain(self) -> str:
        return self._string("domain")

    @property
    def op_type(self) -> str:
        return self._string("op_type")

    @property
    def onnx_attributes(self) -> dict[str, Attribute]:
        attributes = self.properties.get("attrs")
        return dict(attributes.data) if isinstance(attributes, DictionaryAttr) else {}

    @property
    def region_names(self) -> Sequence[str]:
        names = self.properties.get("region_names")
        if not isinstance(names, ArrayAttr):
            return ()
        return [n.data for n in names.data if isinstance(n, StringAttr)]


class YieldOp(OnnxOp):
    """Ends a subgraph or function body; its operands are the outputs."""

    name = "onnx.Yield"
    traits = OpTraits(lambda: (IsTerminator(), Pure()))

    def verify_(self) -> None:
        pass


class FunctionOp(OnnxOp):
    """A model-local function. ONNX functions are untyped: every value has unknown type."""

    name = "onnx.Function"
    traits = OpTraits(lambda: (IsolatedFromAbove(),))

    def verify_(self) -> None:
        pass

    print = Operation.print  # the generic form

    @classmethod
    def parse(cls, parser: Parser) -> FunctionOp:
        parser.raise_error("onnx.Function is written in generic form")


def opset_of(op: Operation, domain: str) -> int | None:
    """Opset version of `domain` that applies to `op`; None if its module and function state none."""
    scope: Operation | None = op
    while scope is not None:
        if type(scope) in (ModuleOp, FunctionOp):
            imports = scope.attributes.get("onnx.opset_import") or scope.properties.get("onnx.opset_import")
            if isinstance(imports, DictionaryAttr):
                version = imports.data.get(domain or "ai.onnx")
                return version.value.data if isinstance(version, IntegerAttr) else None
        scope = scope.parent_op()
    return None


DEFAULT_OPSET = 13
"""Opset of ai.onnx for a module that states none, as a text may."""


def onnx_opset(op: Operation) -> int:
    """Opset version of ai.onnx that applies to `op`; `DEFAULT_OPSET` if its module states none."""
    return opset_of(op, "") or DEFAULT_OPSET
