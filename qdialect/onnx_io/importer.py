"""
ONNX messages into a module: `func.func @main` is the graph.

Names become locations, initializers and Constant nodes `onnx.Constant`, graphs in attributes regions, model-local
functions `onnx.Function`. What a message says that the IR has no word for travels in attributes called `onnx.*`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, LocationAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, OpResult, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import (
    RESULT_SEGMENTS,
    SEGMENTS,
    ConstantOp,
    CustomOp,
    FunctionOp,
    OnnxOp,
    YieldOp,
    present,
)
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import UNKNOWN, tensor_type
from qdialect.dialects.onnx_verify import verify_at
from qdialect.dialects.schemas import AttributeKind
from qdialect.errors import UserError
from qdialect.ir.names import location
from qdialect.onnx_io.import_attributes import (
    attribute_value,
    check_text,
    constant_value,
    custom_properties,
    describe,
    described,
    opset_imports,
    sparse_attribute,
    string,
    string_dictionary,
)
from qdialect.onnx_io.import_scopes import Scope, Types
from qdialect.onnx_io.import_tensors import TensorTable, in_order, tensor_data
from qdialect.onnx_io.messages import inferred
from qdialect.ops.generated import op_class

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto

MAX_DEPTH = 64
"""How deep graphs may nest in attributes; onnx's own reader stops at about 30."""


def _states_types(graph: GraphProto) -> bool:
    """Whether the model states types that can be inferred: those that ops of other domains make are written always."""
    inferable = {name for node in graph.node if node.domain in ("", "ai.onnx") for name in node.output}
    return any(info.name in inferable for info in graph.value_info)


@cache
def _dims(names: tuple[tuple[str, ...], ...]) -> Attribute:
    return ArrayAttr([ArrayAttr([string(n) for n in row]) for row in names])


def _location(node: str, tensors: Sequence[str] = ()) -> LocationAttr:
    for name in (node, *tensors):
        check_text(name)
    return location(node, tensors)


class _Importer:
    def __init__(self, model: ModelProto, folder: Path | None, infer: bool, large: Mapping[int, memoryview]):
        self.model, self.folder = model, folder
        self.has_value_info = _states_types(model.graph)
        self.tensors = TensorTable(model, folder, large)
        if infer:
            self.model = inferred(model)
        self.functions = {(f.domain, f.name, f.overload) for f in model.functions}
        self.opsets = _opsets(model.opset_import)

    def module(self) -> ModuleOp:
        model = self.model
        attributes: dict[str, Attribute] = {"onnx.ir_version": int_attr(model.ir_version)}
        attributes["onnx.opset_import"] = opset_imports(model.opset_import)
        for field in ("producer_name", "producer_version", "domain", "doc_string"):
            if text := getattr(model, field):
                attributes[f"onnx.{field}"] = string(text)
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
        types = Types([*graph.input, *graph.output, *graph.value_info])
        defaults = {t.name: k for k, t in enumerate(graph.initializer)}
        block = Block(arg_types=[types.type(i.name) for i in graph.input])
        scope = Scope()
        arg_attrs: list[DictionaryAttr] = []
        for argument, info in zip(block.args, graph.input, strict=True):
            scope.define(info.name, argument)
            argument.location = _location("", (info.name,))
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
        func.location = _location(graph.name)
        if graph.doc_string:
            func.attributes["onnx.doc"] = string(graph.doc_string)
        if graph.metadata_props:
            func.attributes["onnx.metadata"] = string_dictionary(graph.metadata_props)
        self._annotate(graph, scope, func)
        return func

    def _annotate(self, graph: GraphProto, scope: Scope, func: FuncOp) -> None:
        """Put each quantization annotation on what makes the tensor, with the parameters' values in it."""
        tensors = {t.name: k for k, t in enumerate(graph.initializer)}
        by_name: dict[str, Attribute] = {}
        for annotation in graph.quantization_annotation:
            value = scope.find(annotation.tensor_name)
            parameters: dict[str, Attribute] = {}
            for entry in annotation.quant_parameter_tensor_names:
                if entry.value in tensors:
                    data = self.tensors.initializer((), tensors[entry.value])
                    parameters[entry.key] = TensorAttr(data)
            if value is not None and parameters:
                owner = value.op if isinstance(value, OpResult) else func
                assert isinstance(value, OpResult | BlockArgument)
                owner.attributes[f"onnx.quantization.{value.index}"] = DictionaryAttr(parameters)
                by_name[annotation.tensor_name] = DictionaryAttr(parameters)
        if by_name:  # the op may go, and the tensor stay
            func.attributes["onnx.annotations"] = DictionaryAttr(by_name)

    def _initializers(
        self,
        graph: GraphProto,
        path: tuple[Any, ...],
        block: Block,
        scope: Scope,
        names: set[str] | None = None,
    ) -> None:
        for k, tensor in enumerate(graph.initializer):
            if names is None or tensor.name in names:
                constant = ConstantOp.of(TensorAttr(self.tensors.initializer(path, k)))
                constant.location = _location("", (tensor.name,))
                block.add_op(constant)
                scope.define(tensor.name, constant.results[0])
        for sparse in graph.sparse_initializer:
            values = tensor_data(sparse.values, self.folder)
            value = sparse_attribute(sparse, self.folder)
            type = tensor_type(values.type.element_type, tuple(sparse.dims))
            constant = ConstantOp.create(result_types=[type], properties={"sparse_value": value})
            constant.location = _location("", (sparse.values.name,))
            block.add_op(constant)
            scope.define(sparse.values.name, constant.results[0])

    def _nodes(
        self,
        nodes: Sequence[NodeProto],
        path: tuple[Any, ...],
        block: Block,
        scope: Scope,
        types: Types,
        depth: int,
    ) -> None:
        for n, node in in_order(nodes):
            op = self._node(node, (*path, n), scope, types, depth)
            block.add_op(op)
            names = [name for name in node.output if name]
            op.location = _location(node.name, names)
            for name, result in zip(names, op.results, strict=True):
                scope.define(name, result)

    def _node(self, node: NodeProto, path: tuple[Any, ...], scope: Scope, types: Types, depth: int) -> OnnxOp:
        user = f"node '{node.name or node.op_type}'"
        inputs = [scope.value(name, user) if name else None for name in node.input]
        outputs = [name or None for name in node.output]
        attributes: dict[str, Attribute] = {}
        regions: dict[str, list[Region]] = {}
        for attribute in node.attribute:
            check_text(attribute.name)
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
        types: Types,
    ) -> OnnxOp:
        domain = "" if node.domain == "ai.onnx" else node.domain
        cls = self._class(node, domain, regions)
        if cls is ConstantOp:
            attributes = constant_value(attributes)
            whole = not inputs and len(outputs) == 1 and outputs[0] is not None
            if whole and isinstance(value := attributes.get("value"), TensorAttr):
                op = ConstantOp.of(value)
                describe(op, node)
                return op
        op = None if cls is None else self._verified(cls, domain, inputs, outputs, attributes, regions, types)
        if op is None:
            properties = custom_properties(domain, node, attributes, regions)
            ordered = [r for group in regions.values() for r in group]
            op = _created(CustomOp, inputs, outputs, properties, ordered, types)
        rows = tuple(types.symbols(name) for name in outputs if name)
        if any(rows):
            op.attributes["onnx.dims"] = _dims(rows)
        describe(op, node)
        return op

    def _verified(
        self,
        cls: type[OnnxOp],
        domain: str,
        inputs: list[SSAValue | None],
        outputs: list[str | None],
        attributes: dict[str, Attribute],
        regions: dict[str, list[Region]],
        types: Types,
    ) -> OnnxOp | None:
        """
        The operation, or None if it is none that the opset has. That is not ours to judge: onnxruntime knows some
        operators in opsets that came before them. Carried as custom ones, they promise nothing to any pass.
        """
        assert cls.SCHEMA is not None
        ordered = [regions[name][0] for name in cls.SCHEMA.regions]
        op = _created(cls, inputs, outputs, attributes, ordered, types)
        try:
            verify_at(op, self.opsets.get(domain))
        except VerifyException:
            for region in list(op.regions):
                op.detach_region(region)
            op.erase()
            return None
        return op

    def _class(self, node: NodeProto, domain: str, regions: dict[str, list[Region]]) -> type[OnnxOp] | None:
        """The class of a node's operator; None for a function of the model and what the snapshot has not."""
        if (node.domain, node.op_type, node.overload) in self.functions:
            return None
        cls = op_class(domain, node.op_type)
        if cls is None or cls.SCHEMA is None or set(cls.SCHEMA.regions) != set(regions):
            return None
        return cls if all(len(group) == 1 for group in regions.values()) else None

    def _graph(self, graph: GraphProto, path: tuple[Any, ...], outer: Scope, depth: int) -> Region:
        if depth > MAX_DEPTH:
            raise UserError(f"graphs nest more than {MAX_DEPTH} deep")
        types = Types([*graph.input, *graph.output, *graph.value_info])
        block = Block(arg_types=[types.type(i.name) for i in graph.input])
        scope = Scope(outer)
        defaults = {t.name for t in graph.initializer}
        for argument, info in zip(block.args, graph.input, strict=True):
            if info.name in defaults:
                raise UserError(f"input '{info.name}' of a subgraph has a default, which onnxruntime ignores")
            scope.define(info.name, argument)
            argument.location = _location("", (info.name,))
        self._initializers(graph, path, block, scope)
        self._nodes(graph.node, path, block, scope, types, depth)
        results = [scope.value(o.name, f"output '{o.name}' of a subgraph") for o in graph.output]
        end = YieldOp.create(operands=results)
        end.location = _location(graph.name, [o.name for o in graph.output])
        end.attributes["onnx.inputs"] = ArrayAttr([DictionaryAttr(described(i)) for i in graph.input])
        end.attributes["onnx.outputs"] = ArrayAttr([DictionaryAttr(described(o)) for o in graph.output])
        if graph.doc_string:
            end.attributes["onnx.doc"] = string(graph.doc_string)
        block.add_op(end)
        return Region(block)

    def _function(self, index: int, function: FunctionProto) -> FunctionOp:
        types = Types(function.value_info)
        block = Block(arg_types=[UNKNOWN] * len(function.input))
        scope = Scope()
        for argument, name in zip(block.args, function.input, strict=True):
            scope.define(name, argument)
            argument.location = _location("", (name,))
        outer, self.opsets = self.opsets, _opsets(function.opset_import)
        self._nodes(function.node, ("function", index), block, scope, types, 0)
        self.opsets = outer
        results = [scope.value(name, f"function '{function.name}'") for name in function.output]
        end = YieldOp.create(operands=results)
        end.location = _location("", list(function.output))
        block.add_op(end)
        properties: dict[str, Attribute] = {
            "domain": string(function.domain),
            "op_type": string(function.name),
            "overload": string(function.overload),
            "inputs": ArrayAttr([string(n) for n in function.input]),
            "outputs": ArrayAttr([string(n) for n in function.output]),
            "attribute_names": ArrayAttr([string(n) for n in function.attribute]),
            "attribute_defaults": DictionaryAttr(
                {a.name: self._default(a) for a in function.attribute_proto}
            ),
            "onnx.opset_import": opset_imports(function.opset_import),
        }
        op = FunctionOp.create(properties=properties, regions=[Region(block)])
        if function.doc_string:
            op.attributes["onnx.doc"] = string(function.doc_string)
        if function.metadata_props:
            op.attributes["onnx.metadata"] = string_dictionary(function.metadata_props)
        return op

    def _default(self, attribute: Any) -> Attribute:
        if attribute.type == AttributeKind.TENSOR:
            return TensorAttr(tensor_data(attribute.t, self.folder))
        return attribute_value(attribute, self.folder)


def _created(
    cls: type[OnnxOp],
    inputs: list[SSAValue | None],
    outputs: list[str | None],
    properties: dict[str, Attribute],
    regions: list[Region],
    types: Types,
) -> OnnxOp:
    properties = dict(properties)
    if (sizes := present(inputs)) is not None:
        properties[SEGMENTS] = sizes
    if (sizes := present(outputs)) is not None:
        properties[RESULT_SEGMENTS] = sizes
    return cls.create(
        operands=[i for i in inputs if i is not None],
        result_types=[types.type(name) for name in outputs if name],
        properties=properties,
        regions=regions,
    )


def _opsets(imports: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    return {"" if i.domain == "ai.onnx" else i.domain: i.version for i in imports}


def import_model(
    model: ModelProto,
    folder: Path | None = None,
    *,
    infer: bool = True,
    large: Mapping[int, memoryview] = MappingProxyType({}),
) -> ModuleOp:
    """
    The module of an ONNX model. `folder` is where external data lies, `large` the raw data of those initializers of
    the graph, by place, that have none in the message.

    The message loses its large tensors, which the module takes over. Raises UserError for a model that ONNX does not
    allow.
    """
    return _Importer(model, folder, infer, large).module()
