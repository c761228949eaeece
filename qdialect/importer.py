"""
ONNX messages into a module: `func.func @main` is the graph.

Names become locations, initializers and Constant nodes `onnx.Constant`, graphs in attributes regions, model-local
functions `onnx.Function`. What a message says that the IR has no word for travels in attributes called `onnx.*`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from qdialect.dialects.onnx_ops import (
    RESULT_SEGMENTS,
    SEGMENTS,
    ConstantOp,
    CustomOp,
    FunctionOp,
    OnnxOp,
    YieldOp,
    op_class,
    present,
)
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import UNKNOWN, tensor_type
from qdialect.dialects.schemas import AttributeKind
from qdialect.errors import UserError
from qdialect.importer_attributes import (
    attribute_value,
    constant_value,
    custom_properties,
    describe,
    described,
    int_attr,
    opset_imports,
    sparse_attribute,
    string_dictionary,
    symbols,
    value_type,
)
from qdialect.importer_tensors import TensorTable, in_order, tensor_data
from qdialect.names import location

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto

MAX_DEPTH = 64
"""How deep graphs may nest in attributes; onnx's own reader stops at about 30."""


@cache
def _dims(names: tuple[tuple[str, ...], ...]) -> Attribute:
    return ArrayAttr([ArrayAttr([StringAttr(n) for n in row]) for row in names])


class _Types:
    """What is known of the values of one graph, by name."""

    def __init__(self, infos: Sequence[ValueInfoProto]):
        self._infos = {info.name: info for info in infos}

    def type(self, name: str) -> Attribute:
        info = self._infos.get(name)
        return UNKNOWN if info is None else value_type(info.type)

    def symbols(self, name: str) -> tuple[str, ...]:
        info = self._infos.get(name)
        return () if info is None else symbols(info.type)


class _Scope:
    """The values that a node can name, those of the graphs around it included."""

    def __init__(self, outer: _Scope | None = None):
        self._outer = outer
        self._values: dict[str, SSAValue] = {}

    def define(self, name: str, value: SSAValue) -> None:
        if name in self._values:
            raise UserError(f"tensor '{name}' is made twice")
        self._values[name] = value

    def find(self, name: str) -> SSAValue | None:
        scope: _Scope | None = self
        while scope is not None:
            if (value := scope._values.get(name)) is not None:
                return value
            scope = scope._outer
        return None

    def value(self, name: str, user: str) -> SSAValue:
        value = self.find(name)
        if value is None:
            raise UserError(f"{user} takes tensor '{name}', which nothing before it makes")
        return value


class _Importer:
    def __init__(self, model: ModelProto, folder: Path | None, infer: bool):
        self.model, self.folder = model, folder
        self.has_value_info = bool(model.graph.value_info)
        self.tensors = TensorTable(model, folder)
        if infer:
            self.model = _inferred(model)
        self.functions = {(f.domain, f.name, f.overload) for f in model.functions}
        self.opsets = _opsets(model.opset_import)

    def module(self) -> ModuleOp:
        model = self.model
        attributes: dict[str, Attribute] = {"onnx.ir_version": int_attr(model.ir_version)}
        attributes["onnx.opset_import"] = opset_imports(model.opset_import)
        for field in ("producer_name", "producer_version", "domain", "doc_string"):
            if text := getattr(model, field):
                attributes[f"onnx.{field}"] = StringAttr(text)
        if model.model_version:
            attributes["onnx.model_version"] = int_attr(model.model_version)
        if model.metadata_props:
            attributes["onnx.metadata"] = string_dictionary(model.metadata_props)
        if self.has_value_info:
            attributes["onnx.value_info"] = int_attr(1)
        functions = [self._function(k, f) for k, f in enumerate(model.functions)]
        return ModuleOp([*functions, self._main()], attributes)

    def _main(self) -> FuncOp:
        graph = self.model.graph
        types = _Types([*graph.input, *graph.output, *graph.value_info])
        defaults = {t.name: k for k, t in enumerate(graph.initializer)}
        block = Block(arg_types=[types.type(i.name) for i in graph.input])
        scope = _Scope()
        arg_attrs: list[DictionaryAttr] = []
        for argument, info in zip(block.args, graph.input, strict=True):
            scope.define(info.name, argument)
            argument.location = location("", (info.name,))
            attributes = described(info)
            if info.name in defaults:
                value = self.tensors.initializer((), defaults.pop(info.name))
                attributes["onnx.default"] = TensorAttr(value)
            arg_attrs.append(DictionaryAttr(attributes))
        self._initializers(graph, (), block, scope, set(defaults))
        self._nodes(graph.node, (), block, scope, types, 0)
        results = [scope.value(o.name, f"graph output '{o.name}'") for o in graph.output]
        block.add_op(ReturnOp(*results))
        func = FuncOp(
            "main",
            ([a.type for a in block.args], [r.type for r in results]),
            Region(block),
            arg_attrs=ArrayAttr(arg_attrs),
            res_attrs=ArrayAttr([DictionaryAttr(described(o)) for o in graph.output]),
        )
        func.location = location(graph.name)
        if graph.doc_string:
            func.attributes["onnx.doc"] = StringAttr(graph.doc_string)
        if graph.metadata_props:
            func.attributes["onnx.metadata"] = string_dictionary(graph.metadata_props)
        self._annotate(graph, scope, func)
        return func

    def _annotate(self, graph: GraphProto, scope: _Scope, func: FuncOp) -> None:
        """Put each quantization annotation on what makes the tensor, with the parameters' values in it."""
        tensors = {t.name: k for k, t in enumerate(graph.initializer)}
        for annotation in graph.quantization_annotation:
            value = scope.find(annotation.tensor_name)
            parameters: dict[str, Attribute] = {}
            for entry in annotation.quant_parameter_tensor_names:
                if entry.value in tensors:
                    data = self.tensors.initializer((), tensors[entry.value])
                    parameters[entry.key] = TensorAttr(data)
            if value is not None and parameters:
                owner = value.owner if isinstance(value.owner, Operation) else func
                place = value.index if isinstance(value, OpResult | BlockArgument) else 0
                owner.attributes[f"onnx.quantization.{place}"] = DictionaryAttr(parameters)

    def _initializers(
        self,
        graph: GraphProto,
        path: tuple[Any, ...],
        block: Block,
        scope: _Scope,
        names: set[str] | None = None,
    ) -> None:
        for k, tensor in enumerate(graph.initializer):
            if names is None or tensor.name in names:
                constant = ConstantOp.of(TensorAttr(self.tensors.initializer(path, k)))
                constant.location = location("", (tensor.name,))
                block.add_op(constant)
                scope.define(tensor.name, constant.results[0])
        for sparse in graph.sparse_initializer:
            values = tensor_data(sparse.values, self.folder)
            value = sparse_attribute(sparse, self.folder)
            type = tensor_type(values.type.element_type, tuple(sparse.dims))
            constant = ConstantOp.create(result_types=[type], properties={"sparse_value": value})
            constant.location = location("", (sparse.values.name,))
            block.add_op(constant)
            scope.define(sparse.values.name, constant.results[0])

    def _nodes(
        self,
        nodes: Sequence[NodeProto],
        path: tuple[Any, ...],
        block: Block,
        scope: _Scope,
        types: _Types,
        depth: int,
    ) -> None:
        for n, node in in_order(nodes):
            op = self._node(node, (*path, n), scope, types, depth)
            block.add_op(op)
            names = [name for name in node.output if name]
            op.location = location(node.name, names)
            for name, result in zip(names, op.results, strict=True):
                scope.define(name, result)

    def _node(
        self, node: NodeProto, path: tuple[Any, ...], scope: _Scope, types: _Types, depth: int
    ) -> OnnxOp:
        user = f"node '{node.name or node.op_type}'"
        inputs = [scope.value(name, user) if name else None for name in node.input]
        outputs = [name or None for name in node.output]
        attributes: dict[str, Attribute] = {}
        regions: dict[str, list[Region]] = {}
        for attribute in node.attribute:
            if attribute.type == AttributeKind.TENSOR and not attribute.ref_attr_name:
                if not attribute.HasField("t"):
                    raise UserError(f"{user}: attribute '{attribute.name}' has no tensor")
                attributes[attribute.name] = TensorAttr(
                    self.tensors.attribute(path[:-1], path[-1], attribute.name)
                )
            elif attribute.type == AttributeKind.GRAPH and not attribute.ref_attr_name:
                regions[attribute.name] = [
                    self._graph(attribute.g, (*path, attribute.name), scope, depth + 1)
                ]
            elif attribute.type == AttributeKind.GRAPHS and not attribute.ref_attr_name:
                regions[attribute.name] = [
                    self._graph(g, (*path, attribute.name, k), scope, depth + 1)
                    for k, g in enumerate(attribute.graphs)
                ]
            else:
                attributes[attribute.name] = attribute_value(attribute, self.folder)
        return self._operation(node, inputs, outputs, attributes, regions, types)

    def _operation(
        self,
        node: NodeProto,
        inputs: list[SSAValue | None],
        outputs: list[str | None],
        attributes: dict[str, Attribute],
        regions: dict[str, list[Region]],
        types: _Types,
    ) -> OnnxOp:
        domain = "" if node.domain == "ai.onnx" else node.domain
        cls = (
            None
            if (node.domain, node.op_type, node.overload) in self.functions
            else op_class(domain, node.op_type)
        )
        if cls is not None and (cls.SCHEMA is None or set(cls.SCHEMA.regions) != set(regions)):
            cls = None
        opset = self.opsets.get(domain)
        if cls is not None and cls.SCHEMA is not None and opset is not None and cls.SCHEMA.at(opset) is None:
            # onnxruntime knows some operators in opsets that came before them: not ours to judge, so carried.
            cls = None
        if cls is ConstantOp:
            attributes = constant_value(attributes)
            if isinstance(value := attributes.get("value"), TensorAttr):
                op = ConstantOp.of(value)
                describe(op, node)
                return op
        properties = dict(attributes)
        if cls is None:
            cls = CustomOp
            properties = custom_properties(domain, node, attributes, regions)
            ordered = [r for group in regions.values() for r in group]
        else:
            assert cls.SCHEMA is not None
            ordered = [regions[name][0] for name in cls.SCHEMA.regions]
        if (sizes := present(inputs)) is not None:
            properties[SEGMENTS] = sizes
        if (sizes := present(outputs)) is not None:
            properties[RESULT_SEGMENTS] = sizes
        names = [name for name in outputs if name]
        op = cls.create(
            operands=[i for i in inputs if i is not None],
            result_types=[types.type(name) for name in names],
            properties=properties,
            regions=ordered,
        )
        rows = tuple(types.symbols(name) for name in names)
        if any(rows):
            op.attributes["onnx.dims"] = _dims(rows)
        describe(op, node)
        return op

    def _graph(self, graph: GraphProto, path: tuple[Any, ...], outer: _Scope, depth: int) -> Region:
        if depth > MAX_DEPTH:
            raise UserError(f"graphs nest more than {MAX_DEPTH} deep")
        types = _Types([*graph.input, *graph.output, *graph.value_info])
        block = Block(arg_types=[types.type(i.name) for i in graph.input])
        scope = _Scope(outer)
        defaults = {t.name for t in graph.initializer}
        for argument, info in zip(block.args, graph.input, strict=True):
            if info.name in defaults:
                raise UserError(f"input '{info.name}' of a subgraph has a default, which onnxruntime ignores")
            scope.define(info.name, argument)
            argument.location = location("", (info.name,))
        self._initializers(graph, path, block, scope)
        self._nodes(graph.node, path, block, scope, types, depth)
        results = [scope.value(o.name, f"output '{o.name}' of a subgraph") for o in graph.output]
        end = YieldOp.create(operands=results)
        end.location = location(graph.name, [o.name for o in graph.output])
        end.attributes["onnx.inputs"] = ArrayAttr([DictionaryAttr(described(i)) for i in graph.input])
        end.attributes["onnx.outputs"] = ArrayAttr([DictionaryAttr(described(o)) for o in graph.output])
        if graph.doc_string:
            end.attributes["onnx.doc"] = StringAttr(graph.doc_string)
        block.add_op(end)
        return Region(block)

    def _function(self, index: int, function: FunctionProto) -> FunctionOp:
        types = _Types(function.value_info)
        block = Block(arg_types=[UNKNOWN] * len(function.input))
        scope = _Scope()
        for argument, name in zip(block.args, function.input, strict=True):
            scope.define(name, argument)
            argument.location = location("", (name,))
        outer, self.opsets = self.opsets, _opsets(function.opset_import)
        self._nodes(function.node, ("function", index), block, scope, types, 0)
        self.opsets = outer
        results = [scope.value(name, f"function '{function.name}'") for name in function.output]
        end = YieldOp.create(operands=results)
        end.location = location("", list(function.output))
        block.add_op(end)
        properties: dict[str, Attribute] = {
            "domain": StringAttr(function.domain),
            "sym_name": StringAttr(function.name),
            "overload": StringAttr(function.overload),
            "inputs": ArrayAttr([StringAttr(n) for n in function.input]),
            "outputs": ArrayAttr([StringAttr(n) for n in function.output]),
            "attribute_names": ArrayAttr([StringAttr(n) for n in function.attribute]),
            "attribute_defaults": DictionaryAttr(
                {a.name: self._default(a) for a in function.attribute_proto}
            ),
            "onnx.opset_import": opset_imports(function.opset_import),
        }
        op = FunctionOp.create(properties=properties, regions=[Region(block)])
        if function.doc_string:
            op.attributes["onnx.doc"] = StringAttr(function.doc_string)
        if function.metadata_props:
            op.attributes["onnx.metadata"] = string_dictionary(function.metadata_props)
        return op

    def _default(self, attribute: Any) -> Attribute:
        if attribute.type == AttributeKind.TENSOR:
            return TensorAttr(tensor_data(attribute.t, self.folder))
        return attribute_value(attribute, self.folder)


def _opsets(imports: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    return {"" if i.domain == "ai.onnx" else i.domain: i.version for i in imports}


def _inferred(model: ModelProto) -> ModelProto:
    """The model with the types that onnx's shape inference finds; as it is if inference gives up."""
    from onnx import shape_inference

    try:
        return shape_inference.infer_shapes(model, data_prop=True)
    except (
        Exception
    ):  # it raises RuntimeError, ValueError and its own; none of them makes the model unreadable
        return model


def import_model(model: ModelProto, folder: Path | None = None, *, infer: bool = True) -> ModuleOp:
    """
    The module of an ONNX model. `folder` is where external data lies.

    The message loses its large tensors, which the module takes over. Raises UserError for a model that ONNX does not
    allow.
    """
    return _Importer(model, folder, infer).module()


def read_model(path: Path) -> ModelProto:
    """The message in a file. Raises UserError if the file cannot be read or is no ONNX model."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    try:
        model = ModelProto.FromString(raw)
    except DecodeError:
        raise UserError(f"{path} is no ONNX model, or is cut short") from None
    if not model.HasField("graph") or not model.ir_version:
        raise UserError(f"{path} is no ONNX model: it has no graph or no IR version")
    return model


def inline_functions(model: ModelProto) -> ModelProto:
    """The model with every model-local function put in the place of its calls, by onnx's own inliner."""
    from onnx import inliner

    return inliner.inline_local_functions(model)
