"""
Importer: ONNX messages to a module, whose `func.func @main` is the graph.

Names become locations, initializers and Constant nodes `onnx.Constant`, graphs in attributes regions, model-local
functions `onnx.Function`. Fields of a message without an equivalent in the IR become attributes called `onnx.*`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, OpResult, Region

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ANNOTATION, FunctionOp, YieldOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import UNKNOWN
from qdialect.dialects.schemas import AttributeKind
from qdialect.onnx_io.import_attributes import (
    attribute_value,
    describe,
    described,
    opset_imports,
    string,
    string_dictionary,
)
from qdialect.onnx_io.import_nodes import NodeImporter, named_location
from qdialect.onnx_io.import_scopes import Scope, Types
from qdialect.onnx_io.import_tensors import TensorTable, tensor_data
from qdialect.onnx_io.inference import infer_types
from qdialect.promises.shapes import LOSES_SIZES

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, OperatorSetIdProto


def _states_types(graph: GraphProto) -> bool:
    """True if the model states inferable types; some are always stated, as of other domains' ops."""
    nodes = [n for n in graph.node if n.domain in ("", "ai.onnx") and ("", n.op_type) not in LOSES_SIZES]
    inferable = {name for node in nodes for name in node.output}
    return any(info.name in inferable for info in graph.value_info)


class _Importer:
    def __init__(self, model: ModelProto, folder: Path | None, infer: bool, large: Mapping[int, memoryview]):
        self.model, self.folder = model, folder
        self.has_value_info = _states_types(model.graph)
        self.tensors = TensorTable(model, folder, large)
        self.infer = infer
        self.functions = {(f.domain, f.name, f.overload) for f in model.functions}
        self.nodes = self._nodes_at(model.opset_import)

    def _nodes_at(self, imports: Iterable[OperatorSetIdProto]) -> NodeImporter:
        return NodeImporter(self.tensors, self.folder, self.functions, _opsets(imports))

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
        module = ModuleOp([*functions, self._main()], attributes)
        if self.infer:
            infer_types(module)
        return module

    def _main(self) -> FuncOp:
        graph = self.model.graph
        types = Types([*graph.input, *graph.output, *graph.value_info])
        defaults = {t.name: k for k, t in enumerate(graph.initializer)}
        sparse = {t.values.name for t in graph.sparse_initializer}
        inputs = [i for i in graph.input if i.name not in sparse]
        block = Block(arg_types=[types.type(i.name) for i in inputs])
        scope = Scope()
        arg_attrs: list[DictionaryAttr] = []
        for argument, info in zip(block.args, inputs, strict=True):
            scope.define(info.name, argument)
            argument.location = named_location("", (info.name,))
            attributes = described(info)
            if info.name in defaults:
                value = self.tensors.initializer((), defaults.pop(info.name))
                attributes["onnx.default"] = TensorAttr(value)
            arg_attrs.append(DictionaryAttr(attributes))
        self.nodes.initializers(graph, (), block, scope, set(defaults))
        self.nodes.nodes(graph, (), block, scope, types, 0)
        results = [scope.value(o.name, f"graph output '{o.name}'") for o in graph.output]
        block.add_op(ReturnOp(*results))
        func = FuncOp(
            "main",
            ([a.type for a in block.args], [r.type for r in results]),
            Region(block),
            arg_attrs=ArrayAttr(arg_attrs),
            res_attrs=ArrayAttr([DictionaryAttr(described(o)) for o in graph.output]),
        )
        func.location = named_location(graph.name)
        describe(func, graph)
        self._annotate(graph, scope, func)
        return func

    def _annotate(self, graph: GraphProto, scope: Scope, func: FuncOp) -> None:
        """Attach each quantization annotation, with its parameters' values, to the op that defines the tensor."""
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
                owner.attributes[f"{ANNOTATION}{value.index}"] = DictionaryAttr(parameters)
                by_name[annotation.tensor_name] = DictionaryAttr(parameters)
        if by_name:  # the op may be erased while the tensor's name survives
            func.attributes["onnx.annotations"] = DictionaryAttr(by_name)

    def _function(self, index: int, function: FunctionProto) -> FunctionOp:
        types = Types(function.value_info)
        block = Block(arg_types=[UNKNOWN] * len(function.input))
        scope = Scope()
        for argument, name in zip(block.args, function.input, strict=True):
            scope.define(name, argument)
            argument.location = named_location("", (name,))
        nodes = self._nodes_at(function.opset_import)
        nodes.nodes(function, ("function", index), block, scope, types, 0)
        results = [scope.value(name, f"function '{function.name}'") for name in function.output]
        end = YieldOp.create(operands=results)
        end.location = named_location("", list(function.output))
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
        describe(op, function)
        return op

    def _default(self, attribute: Any) -> Attribute:
        if attribute.type == AttributeKind.TENSOR:
            return TensorAttr(tensor_data(attribute.t, self.folder))
        return attribute_value(attribute, self.folder)


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
