"""Import of nodes of graphs, subgraphs and function bodies as operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, LocationAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_base import ConstantOp, CustomOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import tensor_type
from qdialect.dialects.onnx_verify import Meaningless, verify_at
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
    sparse_attribute,
    string,
)
from qdialect.onnx_io.import_scopes import Scope, Types
from qdialect.onnx_io.import_tensors import TensorTable, in_order, is_read, repeated_constants, tensor_data
from qdialect.ops.generated import op_class

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, NodeProto

MAX_DEPTH = 64
"""Greatest nesting depth of graphs in attributes; onnx's own reader fails at about 30."""


@cache
def _dims(names: tuple[tuple[str, ...], ...]) -> Attribute:
    return ArrayAttr([ArrayAttr([string(n) for n in row]) for row in names])


def named_location(node: str, tensors: Sequence[str] = ()) -> LocationAttr:
    """The location with these ONNX names. Raises UserError for a name that is not UTF-8."""
    for name in (node, *tensors):
        check_text(name)
    return location(node, tensors)


def _created(
    cls: type[OnnxOp],
    inputs: list[SSAValue | None],
    outputs: list[str | None],
    properties: dict[str, Attribute],
    regions: list[Region],
    types: Types,
) -> OnnxOp:
    return cls.build(inputs, [types.type(name) if name else None for name in outputs], properties, regions)


class NodeImporter:
    """
    The nodes of graphs, subgraphs and function bodies, as operations.

    functions: (domain, name, overload) of the model's own functions. opsets: the version by domain, ai.onnx as `""`,
    that operations verify against.
    """

    def __init__(
        self,
        tensors: TensorTable,
        folder: Path | None,
        functions: set[tuple[str, str, str]],
        opsets: Mapping[str, int],
    ):
        self._tensors, self._folder = tensors, folder
        self._functions, self._opsets = functions, opsets

    def initializers(
        self,
        graph: GraphProto,
        path: tuple[Any, ...],
        block: Block,
        scope: Scope,
        names: set[str] | None = None,
    ) -> None:
        # Of several of one name the last counts, as in onnxruntime.
        last = {tensor.name: k for k, tensor in enumerate(graph.initializer)}
        made, _ = repeated_constants(graph)
        for k, tensor in enumerate(graph.initializer):
            if tensor.name in made or (self._tensors.is_broken(path, k) and not is_read(tensor.name, graph)):
                continue
            if last[tensor.name] == k and (names is None or tensor.name in names):
                constant = ConstantOp.of(TensorAttr(self._tensors.initializer(path, k)))
                constant.location = named_location("", (tensor.name,))
                block.add_op(constant)
                scope.define(tensor.name, constant.results[0])
        for sparse in graph.sparse_initializer:
            values = tensor_data(sparse.values, self._folder)
            value = sparse_attribute(sparse, self._folder)
            type = tensor_type(values.type.element_type, tuple(sparse.dims))
            constant = ConstantOp.create(result_types=[type], properties={"sparse_value": value})
            constant.location = named_location("", (sparse.values.name,))
            block.add_op(constant)
            scope.define(sparse.values.name, constant.results[0])

    def nodes(
        self,
        graph: GraphProto | FunctionProto,
        path: tuple[Any, ...],
        block: Block,
        scope: Scope,
        types: Types,
        depth: int,
    ) -> None:
        _, repeated = repeated_constants(graph)
        for n, node in in_order(graph.node):
            if n in repeated:
                continue
            op = self._node(node, (*path, n), scope, types, depth)
            block.add_op(op)
            names = [name for name in node.output if name]
            op.location = named_location(node.name, names)
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
                    self._tensors.attribute(path[:-1], path[-1], attribute.name)
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
                attributes[attribute.name] = attribute_value(attribute, self._folder)
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
        The operation, or None if the opset does not have it in this form.

        That is no error: onnxruntime accepts some operators in opsets older than they are. They are carried as
        `onnx.Custom`, which promises nothing to any pass. Raises UserError if it means nothing in any opset.
        """
        assert cls.SCHEMA is not None
        ordered = [regions[name][0] for name in cls.SCHEMA.regions]
        op = _created(cls, inputs, outputs, attributes, ordered, types)
        try:
            verify_at(op, self._opsets.get(domain))
        except Meaningless as error:
            raise UserError(
                f"{cls.SCHEMA.name} with outputs {list(filter(None, outputs))}: {error}"
            ) from error
        except VerifyException:
            for region in list(op.regions):
                op.detach_region(region)
            op.erase()
            return None
        return op

    def _class(self, node: NodeProto, domain: str, regions: dict[str, list[Region]]) -> type[OnnxOp] | None:
        """The class of a node's operator; None for a function of the model and an operator that the snapshot lacks."""
        if (node.domain, node.op_type, node.overload) in self._functions:
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
            argument.location = named_location("", (info.name,))
        self.initializers(graph, path, block, scope)
        self.nodes(graph, path, block, scope, types, depth)
        results = [scope.value(o.name, f"output '{o.name}' of a subgraph") for o in graph.output]
        end = YieldOp.create(operands=results)
        end.location = named_location(graph.name, [o.name for o in graph.output])
        end.attributes["onnx.inputs"] = ArrayAttr([DictionaryAttr(described(i)) for i in graph.input])
        end.attributes["onnx.outputs"] = ArrayAttr([DictionaryAttr(described(o)) for o in graph.output])
        if graph.doc_string:
            end.attributes["onnx.doc"] = string(graph.doc_string)
        block.add_op(end)
        return Region(block)
