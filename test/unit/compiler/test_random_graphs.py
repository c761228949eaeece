"""A slice of `benchmarks/random_graphs.py`: random QDQ graphs, compiled and held against the oracle."""

import pytest
from ending_work import square
from onnx.parser import parse_model

import random_graphs
from graphs import files
from graphs.children import Ended, results
from graphs.quantized import any_case, odd_case, random_case, with_open_sizes
from qdialect.evaluation.session import run

COUNT = 30
FOUND_BUGS = (12, 13, 14, 27, 53, 74, 118, 145)
"""Graphs that once showed a bug in a pass, each another one."""


FOUND_IN_FORMS = (404473, 410449, 410645, 81000088)
"""The same in every form: names that went to other numbers, scales that all are one, sizes that only one op knew."""


@pytest.mark.parametrize("target", ["onnxruntime", "generic"])
@pytest.mark.parametrize("seed", FOUND_BUGS)
def test_each_pass_keeps_its_word(seed: int, target: str):
    judged = random_graphs.outcome(random_case(seed), target)
    assert (judged.problem, judged.sqnr >= random_graphs.LEAST) == ("", True)


@pytest.mark.parametrize("seed", [*range(400, 410), *FOUND_IN_FORMS])
def test_every_form(seed: int):
    for target, judged in random_graphs.outcomes(seed).items():
        assert (seed, target, judged.problem) == (seed, target, "")


@pytest.mark.parametrize("seed", [240000005, 240000007])
def test_sizes_that_a_run_tells(seed: int):
    sizes = [dim for value in with_open_sizes(random_case(seed, forms=True)).model.graph.input
             for dim in value.type.tensor_type.shape.dim]  # fmt: skip
    assert any(not dim.HasField("dim_value") for dim in sizes)
    for target, judged in random_graphs.outcomes(seed, opened=True).items():
        assert (seed, target, judged.problem) == (seed, target, "")


def test_what_onnxruntime_cannot_run_is_counted_alone():
    judged = random_graphs.outcomes(3, frozenset({random_graphs.PLAIN}))
    assert [(one.aborts, one.problem) for one in judged.values()] == [(True, "")] * 3


def test_what_computes_in_half_precision_is_kept_to_the_bit():
    """Copies of a scale went, behind which onnxruntime rounded between ops that it computes in float32."""
    assert random_graphs.outcome(odd_case(1403), "generic//exact").problem == ""


def test_whole_graphs():
    integer = 0
    for seed in range(200, 200 + COUNT):
        case = random_case(seed)
        for target in random_graphs.TARGETS:
            judged = random_graphs.outcome(case, target, passes=False)
            assert (seed, target, judged.problem, judged.sqnr >= random_graphs.LEAST) == (
                seed,
                target,
                "",
                True,
            )
            integer += judged.integer
    assert integer > COUNT  # else nothing of interest was compiled


@pytest.mark.parametrize("seed", range(600, 620))
def test_no_guard_against_onnxruntime_for_other_runtimes(seed: int):
    for target, judged in random_graphs.guard_outcomes(seed).items():
        assert (seed, target, judged.problem) == (seed, target, "")


def test_a_guard_is_seen():
    model = parse_model("""<ir_version: 10, opset_import: ["" : 21]> g (float[4] x) => (float[4] y)
        <float s = {0.1}, uint8 z = {3}> {
            t = Sum(x)
            q = QuantizeLinear(t, s, z)
            d = DequantizeLinear(q, s, z)
            p = QuantizeLinear(d, s, z)
            y = DequantizeLinear(p, s, z)
        }""")
    assert files.guards(model) == {"Sum of one operand": 1, "pair behind a pair": 1}


def test_a_seed_is_one_graph():
    first, second = random_case(3), random_case(3)
    assert first.model.SerializeToString() == second.model.SerializeToString()
    assert first.model.SerializeToString() != random_case(4).model.SerializeToString()


def test_what_branches_select_of_indices_is_made_of_indices():
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x, bool c) => (float[2,1] y, float[2,3] z) {
            i = ArgMax <axis = 1> (x)
            f = Cast <to = 1> (i)
            a = If (c) <then_branch = t () => (float[2,1] p) { p = Relu(f) },
                        else_branch = e () => (float[2,1] q) { h = Neg(f) q = Exp(h) }>
            b = If (c) <then_branch = u () => (float[2,3] r) { r = Relu(x) },
                        else_branch = v () => (float[2,3] s) { s = Add(x, f) }>
            y = Tanh(a)
            z = Tanh(b)
        }""")
    assert random_graphs.indices(model) == {"i", "f", "a", "y"}


def test_work_that_ends_its_process_ends_nothing_else():
    judged = {
        number: (without, result) for number, without, result in results(square, range(5), 2, {"optional"})
    }
    nothing = frozenset[str]()
    assert judged == {
        0: (nothing, 0),
        1: ({"optional"}, 1),
        2: (nothing, Ended("needed")),
        3: (nothing, 9),
        4: (nothing, 16),
    }


def test_a_seed_is_one_graph_of_everything():
    first, second = any_case(5), any_case(5)
    assert first.model.SerializeToString() == second.model.SerializeToString()
    assert first.feeds.keys() == second.feeds.keys()


def test_what_the_graphs_of_everything_have():
    """Each kind is drawn often enough to be met in a run of a thousand."""
    cases = [any_case(seed) for seed in range(120)]
    ops = {node.op_type for case in cases for node in files.nodes_of(case.model.graph)}
    notes = " ".join(note for case in cases for note in case.notes)
    opsets = {case.model.opset_import[0].version for case in cases}
    assert {"MatMulInteger", "If", "Loop", "Attention", "Gather", "Shape", "DynamicQuantizeLinear"} <= ops
    assert all(
        word in notes for word in ("zero scale", "negative scale", "open sizes", "unknown ops", "inputs")
    )
    assert min(opsets) < 13
    assert max(opsets) >= 26


def test_an_op_that_only_the_runs_know_is_compiled_around():
    case = next(case for case in map(any_case, range(400)) if case.functions)
    assert not case.model.functions
    model, verdict = files.compiled(case, "onnxruntime", passes=False)
    assert run(case.runnable(model), case.feeds)
    assert any(files.DOMAIN in line for line in verdict.splitlines())


def test_an_op_that_the_target_does_not_read_must_be_named():
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (uint8[2,3] x, uint8[3,2] w) => (int32[2,2] y) { y = MatMulInteger(x, w) }""")
    said = "float: 1 layer, the first MatMulInteger"
    assert files.unnamed(model, "tensorrt", "in pairs: 1 MatMulInteger") == "ai.onnx.MatMulInteger"
    assert files.unnamed(model, "tensorrt", said) == ""
    assert files.unnamed(model, "onnxruntime", "") == ""
