"""
Base classes of patterns, typed by the trait, form or op that they match, so that `match` needs no assertion:

    class SinkCast(OnTrait[Commutes]):      every op that promises to commute, with its promise
    class Hoist(OnOp[QuantizeOp]):          operations of one class, or of one of several
    class ReadStorage(OnForm[StorageForm]): every op that has a form of a kind, with the form

The class in the brackets is read when the pattern's class is defined, so it is written once.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Generic, TypeVar, cast, get_args, get_origin

from xdsl.ir import Operation
from xdsl.traits import OpTrait

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.forms.base import Form
from qdialect.forms.table import form_of
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter

PromiseT = TypeVar("PromiseT", bound=OpTrait)
FormT = TypeVar("FormT", bound=Form)
OpT = TypeVar("OpT", bound=Operation)


class _Typed(Pattern):
    """A pattern that knows the class in its base's brackets."""

    kind: ClassVar[Any]
    """A class of promises, forms or operations; of operations a union too."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in cls.__dict__.get("__orig_bases__", ()):
            origin = get_origin(base)
            if isinstance(origin, type) and issubclass(origin, _Typed):
                cls.kind = get_args(base)[0]


class OnTrait(_Typed, Generic[PromiseT]):
    """A rewrite of ONNX ops with promise `PromiseT`."""

    def wants(self, promise: PromiseT, /) -> bool:
        """True if ops with this promise can match: called once per class of operations."""
        return True

    @abstractmethod
    def match(self, op: OnnxOp, promise: PromiseT, rewriter: Rewriter, /) -> Blocked | None:
        """`rewrite`, with the promise of the op."""

    def accepts(self, op_class: type[Operation]) -> bool:
        promise = op_class.get_trait(self.kind)
        return issubclass(op_class, OnnxOp) and promise is not None and self.wants(cast("PromiseT", promise))

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        return self.match(cast("OnnxOp", op), cast("PromiseT", op.get_trait(self.kind)), rewriter)


class OnForm(_Typed, Generic[FormT]):
    """A rewrite of ONNX ops with form `FormT`."""

    def wants(self, form: FormT, /) -> bool:
        """True if ops with this form can match: called once per class of operations."""
        return True

    @abstractmethod
    def match(self, op: OnnxOp, form: FormT, rewriter: Rewriter, /) -> Blocked | None:
        """`rewrite`, with the form of the op."""

    def accepts(self, op_class: type[Operation]) -> bool:
        form = form_of(op_class, self.kind)
        return form is not None and self.wants(form)

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        return self.match(cast("OnnxOp", op), cast("FormT", form_of(type(op), self.kind)), rewriter)


class OnOp(_Typed, Generic[OpT]):
    """A rewrite of operations of one class, or of a union of classes."""

    @abstractmethod
    def match(self, op: OpT, rewriter: Rewriter, /) -> Blocked | None:
        """`rewrite`, with the op's own type."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return issubclass(op_class, self.kind)

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        return self.match(cast("OpT", op), rewriter)
