"""
Write `docs/passes.md`, `docs/targets.md`, `docs/promises.md`, `docs/remarks.md` and `docs/api.md` from the passes, the
target files, the promises, the entries of reasons and the docstrings of the API.

    python docs/generate.py [--check]

With `--check` nothing is written; exit status 1 if a page is not what it would be.
"""

import inspect
import sys
from pathlib import Path

from reference import api_page
from xdsl.passes import ModulePass

from qdialect.compiler.options import Options
from qdialect.compiler.pipeline import phases
from qdialect.report.explanations import Entry, entries
from qdialect.rewriting.passes import Pass, classes_of
from qdialect.runtimes import runtime_names, session_rules
from qdialect.targets import Target, target, target_names
from qdialect.transforms import NAMES, get_all_passes

DOCS = Path(__file__).parent
ROOT = DOCS.parent
ORDER = ["onnxruntime", "onnxruntime-avx2", "tensorrt", "openvino", "generic", "tosa", "linalg"]


def tests_of(name: str) -> list[Path]:
    """The lit files and the unit tests of a pass: those whose names begin with its name, and with no longer one."""

    def owner(path: Path) -> str:
        stem = path.stem.removeprefix("test_").replace("_", "-")
        names = [one for one in NAMES if stem == one or stem.startswith(f"{one}-")]
        return max(names, key=len, default="")

    lit, unit = ROOT / "test" / "transforms", ROOT / "test" / "unit" / "transforms"
    found = (*lit.glob("*.mlir"), *(p for p in lit.iterdir() if p.is_dir()), *unit.glob("test_*.py"))
    return sorted(path for path in found if owner(path) == name)


def described(module_pass: type[ModulePass]) -> str:
    """A pass's section: its class, its file, its tests, and what its file says of it."""
    module = inspect.getmodule(module_pass)
    assert module is not None
    text = (module.__doc__ or "").strip()
    file = f"transforms/{module_pass.name.replace('-', '_')}.py"
    tests = tests_of(module_pass.name)
    folders: dict[Path, list[str]] = {path.parent: [] for path in tests}
    for path in tests:
        folders[path.parent].append(f"`{path.name}`")
    where = "; ".join(
        f"{', '.join(names)} in `{folder.relative_to(ROOT)}`" for folder, names in folders.items()
    )
    head = f"*{classes_of(module_pass)}* -- [`{file}`](../{file})\n\nTests: {where}."
    ids = [f"`{id}`" for id in reasons_of(module_pass)]
    reasons = f"\n[Reasons](remarks.md) against it: {', '.join(ids)}.\n" if ids else ""
    return f"## {module_pass.name}\n\n{head}\n\n{text}\n{reasons}"


def reasons_of(module_pass: type[ModulePass]) -> list[str]:
    """The ids of the reasons that a pass declares."""
    return module_pass.reasons.split() if issubclass(module_pass, Pass) else []


def pipeline_table(options: Options) -> list[str]:
    """The passes of a pipeline, by phase, with their reasons."""
    lines: list[str] = []
    for phase in phases(options):
        lines += [f"*{phase.name}*: {phase.aim}.", "", "| pass | because | needs |", "|---|---|---|"]
        for stage in phase.stages:
            needs = ", ".join(f"`{name}`" for name in stage.needs)
            lines.append(f"| `{stage.step.name}` | {stage.because} | {needs} |")
        lines.append("")
    return lines[:-1]


def passes_page() -> str:
    """Every pass, in the words of its file."""
    passes = [factory() for factory in get_all_passes().values()]
    lines = [
        "# Passes",
        "",
        "Made by `python docs/generate.py` from the passes themselves. A class of exactness is judged per op against",
        "onnxruntime with optimization off: *exact*, no element differs; *close*, integers by one step at most and",
        "floats by 1e-4 of the largest magnitude, or a step of half precision; *lossy*, the meaning changes on",
        "purpose and only if asked for.",
        "*Exact or close*: rewrites of both; `{exact=true}`, which `--exactness exact` gives, keeps to the former.",
        "*Close or lossy*: `{lossy=true}`, which `--exactness lossy` gives, adds the latter.",
        "",
        "| pass | class | rewrite |",
        "|---|---|---|",
    ]
    for one in passes:
        rewrite = str(getattr(one, "rewrite", "")).replace("|", "\\|")
        lines.append(f"| [`{one.name}`](#{one.name}) | {classes_of(one)} | {rewrite} |")
    lines += [
        "",
        "## Pipelines",
        "",
        "What `qdialect compile --print-pipeline` prints. *Needs* names an earlier pass with which the pass must not",
        "change places: the result would differ. A test swaps all neighbours and finds that no other order matters.",
        "",
    ]
    for name, form in [("onnxruntime", "qoperator"), ("onnxruntime", "integer"), ("tensorrt", "qdq")]:
        lines += [f"### `--target {name} --form {form}`", "", *pipeline_table(Options(name, form)), ""]
    return "\n".join(lines) + "\n" + "\n".join(described(one) for one in passes)


RULES = {
    "symmetric_activations": "activations have zero point 0",
    "unsigned_windows": "a convolution's input is stored as `u8` if its zero point is not 0 or it comes from a Concat",
    "symmetric_weights": "weights have zero point 0",
    "per_tensor_weights": "a weight has one scale",
    "packs_weights": "a float product of one row sums in another order once its weight is a constant",
    "weight_scales_only": "only weights have a scale for each channel, along their output channels",
    "whole_pairs": "QuantizeLinear and DequantizeLinear come in pairs, except for the DequantizeLinear of a weight",
    "own_pairs": "the skip branch of a residual block has its own QuantizeLinear and DequantizeLinear",
    "pairs_around_moves": "each op that moves or selects elements has its own casts before and after it",
    "float_sums": "sums of integers that are quantized at run time are computed in float",
    "output_scales_only": "the scales of a weight run along its output channels, even if the product is in float",
    "clamps_wide": "saturation of 16-bit types is written as a Clip",
    "symmetric_spreads": "a transposed convolution is integer only if its activation has zero point 0",
    "per_tensor_windows": "a convolution is integer only if its activation has one scale, or it is depthwise",
    "refuses_shared_zero_points": "a matrix stays `u8` if its activation has several scales, and one zero point but 0",
    "plain_zero_points": "integer sums take one zero point of the activation; convolutions one of the weight",
    "symmetric_pairs": "a product of two activations is integer only if both have zero point 0",
    "sums_skip_rounding": "a float convolution becomes integer only if no residual Add follows",
    "onnx_only": "operators of other domains are written as ONNX's own where those compute the same",
    "float_blocks": "a product with a weight in blocks is computed in float",
}
BIASES = {
    "float": "biases are float",
    "i32": "biases are float, or dequantized from i32 in steps of x_scale * w_scale",
}


def _rules(found: Target) -> list[str]:
    rules = [f"- form: `{found.form}`"]
    if found.activations:
        rules.append(f"- 8-bit activations are stored as `{found.activations}`")
    if found.weights:
        rules.append(f"- 8-bit weights are stored as `{found.weights}`")
    if found.storage_types:
        rules.append(f"- quantized types are {', '.join(f'`{t}`' for t in found.storage_types)}")
    if found.least_bits > 1:
        rules.append(f"- weights of integer products have at least {found.least_bits} bits")
    if found.largest_weight is not None:
        rules.append(f"- 8-bit weights are at most {found.largest_weight} in magnitude")
    if found.no_pair_behind:
        ops = ", ".join(found.no_pair_behind)
        rules.append(f"- the runtime moves a DequantizeLinear past {ops}, so no pair is written behind these")
    if found.session:
        rules.append(f"- guarded for sessions of {found.session}, [below](#sessions-of-{found.session})")
    if found.few_bits:
        rules.append(f"- weights of less than 8 bits: only in {', '.join(found.few_bits)}")
    rules += _read(found)
    if found.bias:
        rules.append(f"- {BIASES[found.bias]}")
    return rules + [f"- {text}" for name, text in RULES.items() if getattr(found, name)]


def _read(found: Target) -> list[str]:
    """What the runtime cannot read, as rules."""
    rules: list[str] = []
    for domain, names in found.domains.items():
        every = "all" if "*" in names else f"only {', '.join(names)}"
        rules.append(f"- operators of {domain} that are read: {every}")
    if found.lacks:
        rules.append(f"- without {', '.join(found.lacks)}")
    if found.elements:
        rules.append(f"- element types outside of casts: {', '.join(found.elements)}")
    if found.interface_elements:
        rules.append(f"- of graph inputs and outputs also {', '.join(found.interface_elements)}")
    for name, rows in found.attributes.items():
        taken = "; ".join(f"{key} = {', '.join(map(str, values))}" for key, values in rows.items())
        rules.append(f"- {name}: only {taken}")
    for what, counts in (("inputs", found.most_inputs), ("outputs", found.most_outputs)):
        rules += [f"- {name}: at most {count} {what}" for name, count in counts.items()]
    rules += [f"- {name}: with inputs {', '.join(map(str, at))}" for name, at in found.needed_inputs.items()]
    rules += [f"- {name}: rank {', '.join(map(str, ranks))}" for name, ranks in found.ranks.items()]
    if found.constants:
        names = ", ".join(f"{name} ({', '.join(map(str, at))})" for name, at in found.constants.items())
        rules.append(f"- inputs that must be constants, by place: {names}")
    if found.refuses:
        ids = ", ".join(f"`{one}`" for one in found.refuses)
        rules.append(f"- a model is refused for {ids}; other breaches only cost time")
    return rules


def targets_page() -> str:
    """Every target, in the words of its file."""
    lines = [
        "# Targets",
        "",
        "Made by `python docs/generate.py` from the files in `qdialect/targets/`. A target is one such file; a file of",
        "your own is `--target PATH.toml` ([extending](extending.md)). Passes enforce the rules of a target where that",
        "changes no number; `--remarks`, `--report` and `explain` name the nodes that still violate one. What the",
        "runtime cannot read counts as float; the verdict names it, and `--strict` then writes nothing.",
        "",
    ]
    for name in sorted(target_names(), key=lambda n: (ORDER.index(n) if n in ORDER else len(ORDER), n)):
        found = target(name)
        lines += [f"## {name}", "", found.summary, "", *_rules(found), ""]
        if found.like is not None:
            lines += [f"All else is as for {found.like}.", ""]
            continue
        if found.kernels:
            lines += ["| node | operands -> result |", "|---|---|"]
            lines += [
                f"| {k} | {', '.join(f'`{row}`' for row in rows)} |" for k, rows in found.kernels.items()
            ]
            lines.append("")
        if found.sums:
            lines += ["| integer sum | fastest types |", "|---|---|"]
            lines += [f"| {k} | `{' '.join(types)}` |" for k, types in found.sums.items()]
            lines.append("")
        if found.storage:
            lines += ["| op on stored integers | types |", "|---|---|"]
            lines += [f"| {k} | {', '.join(rows)} |" for k, rows in found.storage.items()]
            lines.append("")
    for runtime in runtime_names():
        lines += _rules_of_sessions(runtime)
    return "\n".join(lines).rstrip() + "\n"


def _rules_of_sessions(runtime: str) -> list[str]:
    """What sessions of a runtime do with a model, and the guards against it."""
    table = session_rules(runtime)
    return [
        f"## Sessions of {runtime}",
        "",
        "A session with its default optimizations fuses ops and casts, moves casts and drops some as it loads a model.",
        "Where it then refuses the model, gives other numbers than it gives without optimizations, or takes longer,",
        "the pass `guard-session` writes a guard that changes no number. It does so in every form for targets whose",
        f'file says `session = "{runtime}"`. A graph for another target has no guards against it: to run a QDQ graph',
        f"in {runtime}, ask for `--target {runtime} --form qdq`.",
        "",
        f"`test/unit/runtimes/{runtime}/test_rules.py` leaves out each rule: it fails if it is no longer needed",
        "([add a rule](adding-a-runtime.md)).",
        "",
        "| rule | what a session does | guard | seen in | reported |",
        "|---|---|---|---|---|",
        *(
            f"| {rule.name} | {rule.does} | {rule.guard} | {', '.join(rule.versions or table.versions)} "
            f"| {_link(rule.issue)} |"
            for rule in table.rules
        ),
        "",
    ]


def _link(issue: str) -> str:
    return f"[#{issue.rpartition('/')[2]}]({issue})" if issue else ""


def promises_page() -> str:
    """Every operator of ai.onnx on float tensors: what casts move past, and why they stop at the others."""
    from qdialect.promises.layout import FILLING, LAYOUT
    from qdialect.promises.monotone import MONOTONE
    from qdialect.promises.unpromised import UNPROMISED

    tables = [
        ("moves elements", LAYOUT),
        ("moves elements and inserts real zeros, which are stored as the zero point", FILLING),
        (
            "selects or compares elements, or returns their indices; a positive scale keeps their order",
            MONOTONE,
        ),
    ]
    lines = [
        "# The promises of ONNX's operators",
        "",
        "Made by `python docs/generate.py` from `qdialect/promises/`. Casts move past operators of the first table:",
        "per-tensor casts always, per-axis and per-block casts if the scales can follow; else a remark says why.",
        "",
        "| an operator that | |",
        "|---|---|",
    ]
    lines += [f"| {what} | {', '.join(sorted(name for _, name in table))} |" for what, table in tables]
    lines += [
        "| passes values into and out of subgraphs, if the types on both sides are equal | If, Loop, Scan |",
        "",
        "They do not move past the others, which compute between a dequantize and a quantize of their own.",
        "",
        "| why | |",
        "|---|---|",
    ]
    reasons = dict.fromkeys(UNPROMISED.values())
    lines += [
        f"| {r} | {', '.join(sorted(n for n, why in UNPROMISED.items() if why == r))} |" for r in reasons
    ]
    return "\n".join(lines) + "\n"


def remarks_page() -> str:
    """What each reason means, and what to do about it."""
    by_fix: dict[str, list[Entry]] = {}
    for one in entries().values():
        by_fix.setdefault(one.fix, []).append(one)
    lines = [
        "# Remarks",
        "",
        "Reasons why a rewrite did not apply, by the id that `--remarks`, `explain` and reports print;",
        "`qdialect explain ID` prints one. A remark names an obstacle to one rewrite; the op may still become integer.",
        "Without a pass, it is a rule of a target or of the report.",
        "[Below](#fixes) are the fixes, each for several reasons, with settings of the tools that make such models.",
        "",
        "| id | means | example | of | fix |",
        "|---|---|---|---|---|",
    ]
    passes = [factory() for factory in get_all_passes().values()]
    for one in entries().values():
        example = one.example.replace("|", "\\|")
        names = ", ".join(f"[{p.name}](passes.md#{p.name})" for p in passes if one.id in reasons_of(p))
        fix = f"[{one.fix}](#{_anchor(one.fix)})"
        lines.append(f"| `{one.id}` | {one.means} | {example} | {names} | {fix} |")
    lines += ["", "## Fixes", ""]
    for fix, those in by_fix.items():
        lines += [f"### {fix}", "", f"For {', '.join(f'`{one.id}`' for one in those)}.", ""]
        lines += [f"- {name}: {text}" for name, text in those[0].tools.items()] + [""]
    return "\n".join(lines).rstrip() + "\n"


def _anchor(title: str) -> str:
    """What GitHub calls a heading in a link."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def main(argv: list[str]) -> int:
    """Write the pages, or say which one is not current."""
    pages = {
        DOCS / "passes.md": passes_page(),
        DOCS / "targets.md": targets_page(),
        DOCS / "promises.md": promises_page(),
        DOCS / "api.md": api_page(),
        DOCS / "remarks.md": remarks_page(),
    }
    stale = [path.name for path, text in pages.items() if not path.exists() or path.read_text() != text]
    if "--check" in argv:
        for name in stale:
            print(f"docs/{name} is not current: run python docs/generate.py", file=sys.stderr)
        return bool(stale)
    for path, text in pages.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
