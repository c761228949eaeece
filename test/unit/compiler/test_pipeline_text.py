"""Pipelines as text: what is read, what is refused, and that it reads back."""

import sys
from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i8
from xdsl.dialects.test import TestOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from qdialect.compiler.pipeline_text import (
    PipelineError,
    get_available_passes,
    parse_pipeline,
    pipeline_text,
    run,
    summarize,
)
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.rewriting.manager import Applied, Hook, PassManager, Timing, Verified
from qdialect.rewriting.passes import exactness_of, parts_of
from qdialect.text.reading import make_context
from qdialect.transforms import get_all_passes


@dataclass(frozen=True)
class Options(ModulePass):
    """A pass with an option of every kind."""

    name = "options"
    eps: float = 0.5
    count: int = 1
    flag: bool = False
    text: str = "x"
    sizes: tuple[int, ...] = ()
    scale: float | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


PASSES = {"options": lambda: Options, "other": lambda: Options}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("options", Options()),
        ("options{}", Options()),
        ("options{eps=1e-05}", Options(eps=1e-05)),
        ("options{eps=1}", Options(eps=1.0)),
        ("options{eps=-.5E3}", Options(eps=-500.0)),
        ("options{count=-7}", Options(count=-7)),
        ("options{flag}", Options(flag=True)),
        ("options{flag=false}", Options(flag=False)),
        ("options{text=12}", Options(text="12")),
        ("options{text=true}", Options(text="true")),
        (r'options{text="a \"b\", c=1}"}', Options(text='a "b", c=1}')),
        ("options{sizes=3}", Options(sizes=(3,))),
        ("options{sizes=3,-4}", Options(sizes=(3, -4))),
        ("options{ sizes = 3 , 4 flag }", Options(sizes=(3, 4), flag=True)),
        ("options{scale=2}", Options(scale=2.0)),
        ("options{scale}", Options(scale=None)),
        ("builtin.module( options{eps=0.25} )", Options(eps=0.25)),
        ('// why, in "words"\noptions  // because {this}\n{count=4}  // and that', Options(count=4)),
    ],
)
def test_options_are_read_and_read_back(text: str, expected: Options):
    [one] = parse_pipeline(text, PASSES)
    assert one == expected
    assert isinstance(one, Options)
    assert type(one.eps) is float
    assert parse_pipeline(pipeline_text([one]), PASSES) == [one]


def test_every_option_reads_back_together():
    passes = [Options(1e-30, 12, True, 'quote " and \\ slash', (1, 2), 1e22), Options(sizes=(5,))]
    assert parse_pipeline(pipeline_text(passes), PASSES) == passes


@pytest.mark.parametrize(
    "text",
    [
        "fold-pad + fold-batch-norm{lossy=true} + compose",
        "fold-pad+fold-batch-norm{lossy=true}+compose",
        "builtin.module(fold-pad  // first\n + fold-batch-norm {lossy}\n + compose)",
    ],
)
def test_passes_with_a_plus_between_them_are_one_step(text: str):
    [one] = parse_pipeline(text, get_available_passes())
    assert [(part.name, exactness_of(part)) for part in parts_of(one)] == [
        ("fold-pad", Exactness.EXACT), ("fold-batch-norm", Exactness.LOSSY), ("compose", Exactness.CLOSE),
    ]  # fmt: skip
    assert one.name == "fold-pad + fold-batch-norm + compose"
    assert exactness_of(one) is Exactness.LOSSY
    assert parse_pipeline(pipeline_text([one]), get_available_passes()) == [one]


@pytest.mark.parametrize("text", ["fold-pad + fold-constants", "fold-pad + dce", "dce + fold-pad"])
def test_only_passes_that_apply_patterns_alone_are_one_step(text: str):
    with pytest.raises(PipelineError, match=r"pass '.*' does more than apply patterns; put ',' around it"):
        parse_pipeline(text, get_available_passes())


PADDED = """
func.func @padded(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x2x5x4xf32>) {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 1, 0, 0, 1, 1] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x7x6xf32>
  %i = onnx.Identity(%a) : (tensor<1x2x7x6xf32>) -> tensor<1x2x7x6xf32>
  %y = onnx.Conv(%i, %w) : (tensor<1x2x7x6xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x4x4xf32>
  %t = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i1>>} : () -> tensor<i1>
  %z = onnx.Dropout(%x, _, %t) : (tensor<1x2x5x4xf32>, tensor<i1>) -> tensor<1x2x5x4xf32>
  func.return %y, %z : tensor<1x3x4x4xf32>, tensor<1x2x5x4xf32>
}
"""


def test_one_step_sees_at_once_what_each_of_its_passes_rewrites():
    """The Pad stands in front of the Conv as soon as the copy between is gone; each remark names its own pass."""
    apart, together = (Parser(make_context(), PADDED).parse_module() for _ in range(2))
    run(apart, "fold-pad,fold-identity")
    remarks = run(together, "fold-pad + fold-identity")
    assert "onnx.Pad" in str(apart)
    assert "onnx.Pad" not in str(together)
    assert {(remark.pass_name, remark.op) for remark in remarks} == {("fold-identity", "onnx.Dropout")}


@pytest.mark.parametrize("text", ["", " ", "builtin.module()", "builtin.module( )"])
def test_an_empty_pipeline_is_no_passes(text: str):
    assert parse_pipeline(text, PASSES) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("options{count=1.5}", "option 'count' is 1.5; it takes int"),
        ("options{count=true}", "it takes int"),
        ("options{count}", "option 'count' is nothing"),
        ("options{count=1,2}", "option 'count' is 1,2"),
        ('options{eps="1"}', "it takes float"),
        ("options{sizes=a,b}", "option 'sizes' is a,b"),
        ("options{flag=yes}", "it takes bool"),
        ("options{flag flag}", "given twice"),
        ("options{eps=}", "expected a value"),
        ("options{counts=1}", "did you mean 'count'?"),
        ("options other", "expected ','"),
        ("options,,other", "expected a pass name"),
        ('options{text="open', "close the quotes"),
        ("optoins", "did you mean 'options'?"),
    ],
)
def test_mistakes_say_what_to_do(text: str, says: str):
    with pytest.raises(PipelineError, match=says.replace("?", r"\?")):
        parse_pipeline(text, PASSES)


def test_every_pass_has_its_own_name():
    for name, factory in get_available_passes().items():
        assert factory().name == name


@dataclass(frozen=True)
class Break(ModulePass):
    """Leaves IR that does not verify."""

    name = "break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.body.block.add_op(broken := TestOp(result_types=[i8]))
        broken.verify_ = _fail


def _fail() -> None:
    raise VerifyException("it is broken")


@dataclass(frozen=True)
class Fail(ModulePass):
    """Cannot do its work."""

    name = "fail"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassFailedException("no such thing")


def test_the_pass_that_breaks_the_ir_is_named():
    with pytest.raises(UserError, match="pass 'break' left IR that does not verify: it is broken"):
        PassManager(Verified()).run([Options(), Break(), Fail()], ModuleOp([]))


def test_the_pass_that_fails_is_named():
    with pytest.raises(UserError, match="pass 'fail' failed: no such thing"):
        PassManager().run([Options(), Fail()], ModuleOp([]))


def test_hooks_run_around_each_pass_in_order():
    seen: list[str] = []

    class Note(Hook):
        def before(self, one: ModulePass, module: ModuleOp) -> None:
            seen.append(f"before {one}")

        def after(self, applied: Applied, module: ModuleOp) -> None:
            seen.append(f"after {applied.one}")

    timing = Timing()
    PassManager(Note(), timing).run([Options(count=2), Options(count=3)], ModuleOp([]))
    runs = ("options{count=2}", "options{count=3}")
    assert seen == [f"{when} {one}" for one in runs for when in ("before", "after")]
    assert [name for name, _ in timing.seconds] == ["options", "options"]


@pytest.mark.parametrize("name", sorted(get_all_passes()))
def test_a_pass_is_summed_up_by_the_first_sentence_of_its_file(name: str):
    one = get_available_passes()[name]()
    summary, _ = summarize(one)
    (first, *_) = (sys.modules[one.__module__].__doc__ or "").strip().splitlines()
    assert summary == first
