"""`Pass`, the base class of passes: class of exactness, rewrite in a sentence; `RewritePass`: a set of patterns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from qdialect.exactness import Exactness
from qdialect.rewriting.driver import Pattern, apply_patterns, apply_sets


class Role(Enum):
    """What a pass does in a compilation. By it, `explain` chooses among the reasons why an op stays in float."""

    SIMPLIFYING = "simplifies ops of any kind: its reasons do not explain why an op stays in float"
    DECOMPOSING = (
        "writes an op as others of ONNX: likewise, but why it did not explains an op that is not read"
    )
    RAISING = "reads quantization, in the form of a producer, as casts and types"
    SINKING = "moves casts down to the ops that they stand in front of"
    MOVING = "moves other casts, or changes types"
    FUSING = "makes an op between casts one on quantized types"
    PLACING = "weighs where casts are worth their cost"
    CHOOSING = "chooses the form of an op on quantized types by cost, and what that form needs"
    LEGALIZING = "brings types to those that the target has"
    LOWERING = "writes the target's kernels"


@dataclass(frozen=True)
class Pass(ModulePass):
    """A pass. Its docstring is that of its file, of which the first sentence is its summary."""

    exactness: ClassVar[Exactness]
    """Class of exactness of its rewrites without options."""
    rewrite: ClassVar[str]
    """The pass in one sentence of rewrite notation, with its licence."""
    role: ClassVar[Role] = Role.MOVING
    reasons: ClassVar[str] = ""
    """
    Ids of the reasons that it gives, separated by blanks: those of its patterns, and of the promises and forms that
    they ask, without why the driver keeps an op in float. Tests fail at a reason that is not declared.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__doc__ = cls.__doc__ or sys.modules[cls.__module__].__doc__

    @property
    def level(self) -> Exactness:
        """
        Class of exactness of this application, by its options: `exact` restricts the pass to its exact rewrites,
        `lossy` adds those that change results by design.
        """
        if getattr(self, "lossy", False):
            return Exactness.LOSSY
        return Exactness.EXACT if getattr(self, "exact", False) else self.exactness


@dataclass(frozen=True)
class RewritePass(Pass):
    """A pass that is one greedy set of patterns."""

    pattern_types: ClassVar[tuple[Callable[..., Pattern], ...]] = ()
    """The pattern classes, if they take no options."""

    def patterns(self) -> Sequence[Pattern]:
        """The patterns of one application; the first that matches rewrites, and the first reason is recorded."""
        return [one() for one in self.pattern_types]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, self.name, self.patterns())


@dataclass(frozen=True)
class Composed(Pass):
    """
    The patterns of several passes as one greedy set, `a + b` in a pipeline: each is one that only applies patterns.

    The first that matches an operation rewrites it. Rewrites and remarks carry the name of their own pass.
    """

    parts: tuple[RewritePass, ...]

    def __post_init__(self) -> None:
        # The class has no name of its own: xDSL reads that of an instance too.
        object.__setattr__(self, "name", " + ".join(part.name for part in self.parts))

    @property
    def level(self) -> Exactness:
        """The widest class of exactness of the parts, by which a step is judged."""
        return max((part.level for part in self.parts), key=list(Exactness).index)

    def spec(self, *, include_default: bool = False) -> ArgSpec:
        specs = [str(part.spec(include_default=include_default)) for part in self.parts]
        return ArgSpec(" + ".join(specs), {})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_sets(op, {part.name: part.patterns() for part in self.parts})


def parts_of(step: ModulePass) -> tuple[ModulePass, ...]:
    """The passes that a step of a pipeline applies together: itself, unless it is composed."""
    return step.parts if isinstance(step, Composed) else (step,)


def composable(step: ModulePass) -> bool:
    """True if a pass does nothing but apply its patterns, so that other sets may be applied with them."""
    return isinstance(step, RewritePass) and type(step).apply is RewritePass.apply


def classes_of(pass_type: type[ModulePass]) -> str:
    """The classes of exactness of a pass, in words: `exact or close` has rewrites of both and an option to choose."""
    # xDSL's own passes state none: they move and merge ops, and never change a number.
    own = getattr(pass_type, "exactness", Exactness.EXACT)
    options = {field.name for field in fields(pass_type)}
    assert isinstance(own, Exactness)
    classes = [Exactness.EXACT] if "exact" in options else []
    classes += [own, *([Exactness.LOSSY] if "lossy" in options else [])]
    return " or ".join(one.value for one in classes)


def exactness_of(module_pass: ModulePass) -> Exactness:
    """The class of exactness of one application of a pass."""
    return module_pass.level if isinstance(module_pass, Pass) else Exactness.EXACT
