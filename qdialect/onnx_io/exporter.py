"""
Exporter: a module to ONNX messages. Existing names are kept; a name that two values claim goes to the first.

The module has no quantized types: `lower-to-qdq` or `lower-to-qoperator` has written them as nodes and constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_attributes import numbers
from qdialect.dialects.onnx_base import ANNOTATION, ConstantOp, CustomOp, FunctionOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_tensor import TensorAttr, TensorData
from qdialect.dialects.onnx_types import (
    ANY,
    DYNAMIC,
    element_of,
    known_element,
    quantized_of,
    shape_of,
    tensor_type,
)
from qdialect.dialects.schemas import AttributeKind
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.errors import UserError
from qdialect.ir.insertion import end_of
from qdialect.ir.interface import main_of
from qdialect.ir.names import UniqueNames, called, node_name, stated_names, wish
from qdialect.ir.symbols import DIMS, STATED, symbol_names
from qdialect.ir.walking import operations, verify_order
from qdialect.onnx_io.export_attributes import (
    WriteTensor,
    strings,
    write_attribute,
    write_raw,
    write_type,
)
from qdialect.onnx_io.region_types import yielded_types
from qdialect.promises.control import Carries
from qdialect.promises.shapes import LosesSizes

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto


CONSTANT_INITIALIZERS = 4
"""IR version from which an initializer need not be a graph input too, which a caller may replace."""

Stated = tuple[Attribute, str, dict[str, Attribute]]
"""Type, name and further attributes of a graph's output."""


class _Names(UniqueNames):
    """Tensor names, unique in the whole model: a subgraph sees those of the graphs around it."""

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[SSAValue, str] = {}

    def give(self, value: SSAValue, name: str) -> str:
        """Name a value. The name must be free."""
        self.take(name)
        self._names[value] = name
        return name

    def of(self, value: SSAValue) -> str:
        """The name of a value, chosen on first use."""
        name = self._names.get(value)
        if name is None:
            name = self._names[value] = self.fresh(wish(value))
        return name

    def named(self, value: SSAValue) -> bool:
        """True if a value has a name already."""
        return value in self._names


class _Exporter:
    def __init__(self, module: ModuleOp, write: WriteTensor):
        from onnx import ModelProto  # late: tools that write text need no onnx

        self.module, self.write = module, write
        self.names = _Names()
        self.nodes = UniqueNames(node_name(op) for op in operations(module) if isinstance(op, OnnxOp))
        self.domains: set[str] = set()
        """Domains of the nodes."""
        self.proto = ModelProto()
        self.graph = self.proto.graph
        self.value_info = "onnx.value_info" in module.attributes

    def model(self) -> ModelProto:
        proto, main = self.proto, _the_graph(self.module)
        _write_header(self.module.attributes, proto)
        for op in self.module.ops:
            if isinstance(op, FunctionOp):
                self._function(op, proto.functions.add())
            elif not isinstance(op, FuncOp):
                raise UserError(f"{op.name} cannot be beside the graph in ONNX")
        for region in _named_regions(main):  # no other tensor may be called like an output of theirs
            self.names.take(*_interface_names(region, "onnx.outputs"))
        self._main(main, self.graph)
        if MICROSOFT in self.domains - {i.domain for i in proto.opset_import}:  # a pass made its first kernel
            proto.opset_import.add(domain=MICROSOFT, version=1)
        return proto

    def _main(self, func: FuncOp, graph: GraphProto) -> None:
        block = func.body.block
        graph.name = node_name(func) or "main"
        graph.doc_string = _string(func.attributes.get("onnx.doc"))
        _write_metadata(func.attributes.get("onnx.metadata"), graph.metadata_props)
        arguments = _rows(func.arg_attrs, len(block.args))
        end = block.last_op
        if not isinstance(end, ReturnOp):
            raise UserError("the graph does not end in func.return")
        results = _rows(func.res_attrs, len(end.operands))
        for k, (argument, row) in enumerate(zip(block.args, arguments, strict=True)):
            name = self.names.give(argument, _string(row.get("onnx.name")) or self.names.fresh(f"input_{k}"))
            _write_value(argument.type, name, row, graph.input.add())
            if isinstance(default := row.get("onnx.default"), TensorAttr):
                self._initializer(name, default.data, graph)
        names = [_string(row.get("onnx.name")) or f"output_{k}" for k, row in enumerate(results)]
        self.names.take(*names)
        types = [_as_stated(value.type, row) for value, row in zip(end.operands, results, strict=True)]
        self._outputs(block, end.operands, zip(types, names, results, strict=True), graph)
        self._annotations(func, graph)

    def _outputs(
        self, block: Block, values: Sequence[SSAValue], stated: Iterable[Stated], graph: GraphProto
    ) -> None:
        """Write a block's operations and its outputs `values`, each with its stated type and name."""
        copies: list[tuple[SSAValue, str]] = []
        known: set[str] = set()
        for value, (type, name, row) in zip(values, stated, strict=True):
            _write_value(type, name, row, graph.output.add())
            if name in known:  # one tensor, stated as an output twice
                continue
            known.add(name)
            owner = value.owner
            elsewhere = not isinstance(owner, Operation) or owner.parent is not block
            if elsewhere or self.names.named(value):
                if not (isinstance(value, BlockArgument) and self.names.of(value) == name):
                    copies.append((value, name))
            else:
                self.names.give(value, name)
        outputs = set(values)
        for op in block.ops:
            if not isinstance(op, ReturnOp | YieldOp):
                self._op(op, graph, outputs)
        for value, name in copies:
            self._copy(value, name, graph.node.add(name=self._node_name(f"{name}_copy")))

    def _copy(self, value: SSAValue, name: str, node: NodeProto) -> None:
        node.op_type = "Identity"
        node.input.append(self.names.of(value))
        node.output.append(name)

    def _op(self, op: Operation, graph: GraphProto, outputs: set[SSAValue]) -> None:
        """Write an operation, and in front of it copies of what it would read under a name of its own subgraphs'."""
        if not isinstance(op, OnnxOp):
            raise UserError(
                f"{op.name} has no equivalent in ONNX", "lower it first: lower-to-qdq or lower-to-qoperator"
            )
        for value in (*op.operands, *op.results):
            if quantized_of(value.type) is not None:
                raise UserError(
                    f"{op.name} '{called(op)}' is on quantized types",
                    "lower it first: lower-to-qdq or lower-to-qoperator",
                )
        if isinstance(op, ConstantOp):
            result = op.results[0]
            if op.value is not None and result not in outputs:
                self._initializer(self.names.of(result), op.value.data, graph)
                self.proto.ir_version = max(self.proto.ir_version, CONSTANT_INITIALIZERS)
                return
        outside = {value: self.names.of(value) for value in _shadowed(op, self.names)}
        for value in outside:
            name = self.names.fresh(f"{outside[value]}_outside")
            self._copy(value, name, graph.node.add(name=self._node_name(f"{name}_copy")))
            self.names.give(value, name)
        self._node(op, graph.node.add())
        for value, name in outside.items():
            self.names.give(value, name)
        self._value_infos(op, graph, outputs)

    def _initializer(self, name: str, data: TensorData, graph: GraphProto) -> None:
        place = len(graph.initializer) if graph is self.graph else None
        self.write(data, graph.initializer.add(name=name), place)

    def _value_infos(self, op: OnnxOp, graph: GraphProto, outputs: set[SSAValue]) -> None:
        if not self.value_info and op.domain == "" and op.get_trait(LosesSizes) is None:
            return
        rows = op.attributes.get(DIMS)
        for k, result in enumerate(op.results):
            if result in outputs or shape_of(result.type) is None or element_of(result.type) == ANY:
                continue
            row = rows.data[k] if isinstance(rows, ArrayAttr) and k < len(rows.data) else None
            info = graph.value_info.add(name=self.names.of(result))
            write_type(result.type, symbol_names(row, result.type), info.type)

    def _node_name(self, name: str) -> str:
        """A unique node name: onnxruntime and its tools assume uniqueness. One that exists goes to its first node."""
        return self.nodes.claim(name) if name else ""

    def _node(self, op: OnnxOp, node: NodeProto) -> None:
        node.op_type = op.op_type
        node.domain = op.domain
        self.domains.add(op.domain)
        node.name = self._node_name(node_name(op))
        node.doc_string = _string(op.attributes.get("onnx.doc"))
        _write_metadata(op.attributes.get("onnx.metadata"), node.metadata_props)
        if isinstance(op, CustomOp):
            node.overload = _string(op.properties.get("overload"))
        node.input.extend("" if v is None else self.names.of(v) for v in op.inputs)
        if op.SCHEMA:
            node.input.extend([""] * (op.SCHEMA.fixed_inputs - len(node.input)))
        node.output.extend("" if v is None else self.names.of(v) for v in op.outputs)
        kinds = op.SCHEMA.attribute_kinds if op.SCHEMA else {}
        for name, value in op.onnx_attributes.items():
            write_attribute(name, value, kinds.get(name), node.attribute.add())
        self._regions(op, node)

    def _regions(self, op: OnnxOp, node: NodeProto) -> None:
        by_name: dict[str, Any] = {}
        names = list(op.region_names)
        for name, region in zip(names, op.regions, strict=True):
            attribute = by_name.get(name)
            if attribute is None:
                attribute = by_name[name] = node.attribute.add(name=name)
            several = names.count(name) > 1
            attribute.type = int(AttributeKind.GRAPHS if several else AttributeKind.GRAPH)  # pyright: ignore
            self._graph(
                region.block, yielded_types(op, region), attribute.graphs.add() if several else attribute.g
            )

    def _graph(self, block: Block, types: list[Attribute], graph: GraphProto) -> None:
        end = block.last_op
        if not isinstance(end, YieldOp):
            raise UserError("a subgraph does not end in onnx.Yield")
        graph.name = node_name(end) or "body"
        graph.doc_string = _string(end.attributes.get("onnx.doc"))
        arguments = _rows(end.attributes.get("onnx.inputs"), len(block.args))
        by_name = _keeps_names(block.parent_op())

        def name_of(row: Mapping[str, Attribute], default: str) -> str:
            name = _string(row.get("onnx.name"))
            return name if name and by_name else self.names.fresh(name or default)

        for argument, row in zip(block.args, arguments, strict=True):
            name = self.names.give(argument, name_of(row, "arg"))
            _write_value(argument.type, name, row, graph.input.add())
        rows = _rows(end.attributes.get("onnx.outputs"), len(end.operands))
        names = [name_of(row, "out") for row in rows]
        self.names.take(*names)
        self._outputs(block, end.operands, zip(types, names, rows, strict=True), graph)

    def _function(self, op: FunctionOp, proto: FunctionProto) -> None:
        outer, self.names = self.names, _Names()  # a function sees nothing of the graph
        block = op.regions[0].block
        proto.domain = _string(op.properties.get("domain"))
        proto.name = _string(op.properties.get("op_type"))
        proto.overload = _string(op.properties.get("overload"))
        proto.doc_string = _string(op.attributes.get("onnx.doc"))
        _write_imports(op.properties.get("onnx.opset_import"), proto.opset_import)
        _write_metadata(op.attributes.get("onnx.metadata"), proto.metadata_props)
        proto.attribute.extend(_texts(op.properties.get("attribute_names")))
        defaults = op.properties.get("attribute_defaults")
        if isinstance(defaults, DictionaryAttr):
            for name, value in defaults.data.items():
                write_attribute(name, value, None, proto.attribute_proto.add())
        proto.input.extend(_texts(op.properties.get("inputs")))
        proto.output.extend(_texts(op.properties.get("outputs")))
        for argument, name in zip(block.args, proto.input, strict=True):
            self.names.give(argument, name)
        end = end_of(block, YieldOp)
        self.names.take(*proto.output)
        copies: list[tuple[SSAValue, str]] = []
        for value, name in zip(end.operands, proto.output, strict=True):
            if self.names.named(value):
                copies.append((value, name))
            else:
                self.names.give(value, name)
        for inner in block.ops:
            if isinstance(inner, OnnxOp) and not isinstance(inner, YieldOp):
                self._node(inner, proto.node.add())
        for value, name in copies:
            self._copy(value, name, proto.node.add())
        self.names = outer

    def _annotations(self, func: FuncOp, graph: GraphProto) -> None:
        """Write the quantization annotations of tensors."""
        for tensor, parameters in list(_annotated(func, self.names)):  # tensors before their parameters
            annotation = graph.quantization_annotation.add(tensor_name=tensor)
            for key, value in _tensors(parameters):
                name = self.names.fresh(f"{tensor}_{key.lower()}")
                self._initializer(name, value.data, graph)
                annotation.quant_parameter_tensor_names.add(key=key, value=name)


def _keeps_names(op: Operation | None) -> bool:
    """
    True if inputs and outputs of an op's subgraphs keep their names whatever else has them, as their runtime may look
    for these: the values of If, Loop and Scan are known to be told apart by their places alone.
    """
    return op is not None and op.get_trait(Carries) is None


def _named_regions(func: FuncOp) -> Iterator[Region]:
    """The subgraphs in a function whose inputs and outputs keep their names."""
    for op in operations(func):
        if op.regions and _keeps_names(op) and op is not func:
            yield from op.regions


def _interface_names(region: Region, *ends: str) -> Iterator[str]:
    """The names stated for inputs or outputs of a subgraph. ends: "onnx.inputs", "onnx.outputs"."""
    last = region.block.last_op
    for rows in (last.attributes.get(end) for end in ends if last is not None):
        yield from filter(None, stated_names(rows))


def _shadowed(op: OnnxOp, names: _Names) -> list[SSAValue]:
    """The values from outside that subgraphs of an op read, but whose name an input or output of theirs keeps."""
    if not op.regions or not _keeps_names(op):
        return []
    ends = ("onnx.inputs", "onnx.outputs")
    kept = {name for region in op.regions for name in _interface_names(region, *ends)}
    inside = [inner for region in op.regions for inner in region.walk()]
    blocks = {block for one in (op, *inside) for region in one.regions for block in region.blocks}
    read = dict.fromkeys(value for inner in inside for value in inner.operands)
    return [
        value
        for value in read
        if (value.owner if isinstance(value.owner, Block) else value.owner.parent) not in blocks
        and names.named(value)
        and names.of(value) in kept
    ]


def _the_graph(module: ModuleOp) -> FuncOp:
    """The only function of a module, its operations in order of dominance. UserError for any other module."""
    try:
        verify_order(module)
    except VerifyException as error:
        raise UserError(str(error), "order the operations so that each follows its operands") from error
    return main_of(module)


def _write_header(attributes: Mapping[str, Attribute], proto: ModelProto) -> None:
    """Versions, producer, imports and metadata of a model."""
    proto.ir_version = _int(attributes.get("onnx.ir_version"), 8)
    for field in ("producer_name", "producer_version", "domain", "doc_string"):
        if isinstance(text := attributes.get(f"onnx.{field}"), StringAttr):
            setattr(proto, field, text.data)
    if "onnx.model_version" in attributes:
        proto.model_version = _int(attributes["onnx.model_version"], 0)
    _write_imports(attributes.get("onnx.opset_import"), proto.opset_import)
    _write_metadata(attributes.get("onnx.metadata"), proto.metadata_props)


def _annotated(func: FuncOp, names: _Names) -> Iterator[tuple[str, Attribute]]:
    """(tensor name, annotation) pairs: those on operations, then those that the function has for other tensors."""
    block, written = func.body.block, set[str]()
    for op in (func, *block.ops):
        values = block.args if op is func else op.results
        for key, value in op.attributes.items():
            if key.startswith(ANNOTATION):
                tensor = names.of(values[int(key.rpartition(".")[2])])
                written.add(tensor)
                yield tensor, value
    said = func.attributes.get("onnx.annotations")
    if isinstance(said, DictionaryAttr):
        results = {names.of(r): r for op in block.ops for r in op.results}
        for name, parameters in said.data.items():
            if name not in written and name in results and _still_holds(parameters, results[name]):
                yield name, parameters


def _tensors(parameters: Attribute) -> Iterator[tuple[str, TensorAttr]]:
    """The tensors of an annotation, with their keys."""
    if isinstance(parameters, DictionaryAttr):
        yield from ((key, value) for key, value in parameters.data.items() if isinstance(value, TensorAttr))


def _still_holds(parameters: Attribute, value: SSAValue) -> bool:
    """True for annotations of floats, and of integers of their zero point's type: a tensor may have become u8."""
    zero_point = parameters.data.get("ZERO_POINT_TENSOR") if isinstance(parameters, DictionaryAttr) else None
    element = element_of(value.type)
    if not isinstance(zero_point, TensorAttr) or not isinstance(element, IntegerType):
        return not isinstance(element, IntegerType)
    return zero_point.type.element_type == element


def _int(value: Attribute | None, default: int) -> int:
    return value.value.data if isinstance(value, IntegerAttr) else default


def _string(value: Attribute | None) -> str:
    return value.data if isinstance(value, StringAttr) else ""


def _texts(value: Attribute | None) -> list[str]:
    return [v.data for v in value.data if isinstance(v, StringAttr)] if isinstance(value, ArrayAttr) else []


def _rows(value: Attribute | None, count: int) -> list[dict[str, Attribute]]:
    rows = value.data if isinstance(value, ArrayAttr) else ()
    entries = [dict(row.data) for row in rows if isinstance(row, DictionaryAttr)]
    return entries if len(entries) == count else [{} for _ in range(count)]


def _write_imports(value: Attribute | None, protos: Any) -> None:
    if isinstance(value, DictionaryAttr):
        for domain, version in value.data.items():
            protos.add(domain="" if domain == "ai.onnx" else domain, version=_int(version, 1))


def _write_metadata(value: Attribute | None, protos: Any) -> None:
    for key, text in strings(value).items():
        protos.add(key=key, value=text)


def _as_stated(type: Attribute, row: Mapping[str, Attribute]) -> Attribute:
    """The type of a graph's output, with the sizes that the file stated where its nodes leave them open."""
    said, shape = row.get(STATED), shape_of(type)
    if not isinstance(said, DenseArrayBase):
        return type
    sizes = [int(size) for size in numbers(said)]
    if shape is not None and len(shape) == len(sizes):
        sizes = [b if a == DYNAMIC else a for a, b in zip(shape, sizes, strict=True)]
    elif shape is not None:
        return type
    return tensor_type(known_element(type), tuple(DYNAMIC if size < 0 else size for size in sizes))


def _write_value(type: Attribute, name: str, row: dict[str, Attribute], info: ValueInfoProto) -> None:
    info.name = name
    if text := _string(row.get("onnx.doc")):
        info.doc_string = text
    if text := _string(row.get("onnx.denotation")):
        info.type.denotation = text
    _write_metadata(row.get("onnx.metadata"), info.metadata_props)
    write_type(type, symbol_names(row.get(DIMS), type), info.type)


def export_model(module: ModuleOp, write: WriteTensor = write_raw) -> ModelProto:
    """
    The ONNX message of a module. `write` puts initializers into it, or beside it; attributes always hold their own.

    Raises UserError for operations of other dialects and for quantized types, which ONNX cannot express.
    """
    return _Exporter(module, write).model()
