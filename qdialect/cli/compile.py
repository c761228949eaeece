"""`qdialect compile`: reads, compiles and writes one model."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from qdialect.cli.display import progress
from qdialect.cli.inputs import check_model, check_readable, check_writable, output_endings, targets_of
from qdialect.cli.reporting import Reporting
from qdialect.cli.status import DONE
from qdialect.compiler.options import ImageOptions, Options, options_of
from qdialect.errors import UserError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from qdialect.evaluation.session import Array
    from qdialect.report.report import Report


def run(arguments: argparse.Namespace) -> int:
    """Reads, compiles and writes one model."""
    check_paths(arguments)
    options = options_of(Options, arguments)
    if arguments.print_pipeline:
        from qdialect.compiler.pipeline import phases, phases_text

        print(phases_text(phases(options, completes=bool(arguments.data))))
        return DONE
    import qdialect

    with progress(arguments.quiet) as show:
        show(f"reading {arguments.input}")
        reporting = Reporting(arguments)
        module = qdialect.load(arguments.input, keep_functions=arguments.keep_functions)
        show(f"compiling for {arguments.target}")
        feeds = check_feeds_of(arguments, options, module)
        images = vars(options_of(ImageOptions, arguments))
        report = qdialect.compile(module, feeds=feeds, data=arguments.data or None, **vars(options), **images)
        check_strict(report, arguments)
        show(f"writing {arguments.output}")
        write_output(module, arguments)
        measured = reporting.write(report, show)
    say(arguments, report, measured)
    return DONE


def check_feeds_of(
    arguments: argparse.Namespace, options: Options, module: "ModuleOp"
) -> "Sequence[Mapping[str, Array]]":
    """Input data of `--check-numerics`, of the requested sizes; empty without the option."""
    if arguments.check_numerics is None:
        return ()
    from qdialect.checking.numerics_check import check_feeds

    if options.batch is not None or options.sizes:
        from xdsl.context import Context

        from qdialect.transforms.fix_shapes import FixShapesPass

        module = module.clone()
        FixShapesPass(options.batch, tuple(options.sizes)).apply(Context(), module)
    return check_feeds(module, arguments.check_numerics)


def say(
    arguments: argparse.Namespace,
    report: "Report",
    measured: Sequence[str],
    log: Sequence[str] = (),
    summary: Sequence[str] = (),
) -> None:
    """Print the result on stderr, apart from piped output. log: of --verbose; summary: before the verdict."""
    steps = (f"{step.name}: {step.rewrites} rewrites, {step.ops} nodes" for step in report.steps)
    lines = [*log, *steps] if arguments.verbose else []
    if not arguments.quiet:
        lines += [*summary, str(report), *measured, *([report.checked] if report.checked else [])]
    if arguments.remarks:
        lines += _remark_lines(report)
    for line in lines:
        print(line, file=sys.stderr)


def _remark_lines(report: "Report") -> Iterator[str]:
    """Lines with float nodes and why, violations of the target's rules, then other blocked rewrites."""
    from qdialect.report.verdict import stay

    for reason, count in report.reasons():
        fix = f"; {reason.fix}" if reason.fix else ""
        yield f"remark: {stay(count, reason.op)} in float: {reason.message}{fix} [{reason.id}]"
    for rule, count in report.broken_rules():
        fix = f"; {rule.fix}" if rule.fix else ""
        yield f"remark: {count} {rule.op}: {rule.message}{fix} [{report.target}: {rule.id}]"
    named = {(f"onnx.{one.op}", one.node) for one in report.floats}
    yield from (str(one) for one in report.remarks if (one.op, one.node) not in named)


def check_strict(report: "Report", arguments: argparse.Namespace) -> None:
    """With `--strict`, raise UserError, before anything is written, for what the target cannot read."""
    from qdialect.report.explanations import advice
    from qdialect.report.verdict import kinds_text

    if not arguments.strict or not (report.unread or report.unknown):
        return
    where = f"{arguments.input}, for target '{arguments.target}'"
    if not report.unread:
        kinds = kinds_text(report.unknown)
        raise UserError(f"{where}: operators that nothing describes: {kinds}", "compile without --strict")
    first, count = report.unread[0], len({one.node for one in report.unread})
    others = f", and {count - 1} more node{'s' if count > 2 else ''}" if count > 1 else ""
    raise UserError(
        f"{where}: cannot be read: {first.op} '{first.node}': {first.blocked.message}{others}",
        advice(first.blocked) or "compile without --strict",
    )


def check_paths(arguments: argparse.Namespace) -> None:
    """Raise UserError for an unusable path before the work begins."""
    check_model(arguments.input)
    if arguments.check_numerics:
        check_readable(arguments.check_numerics)
    if arguments.output is not None:
        endings = output_endings(arguments.target)
        if Path(arguments.output).suffix.lower() not in endings:
            what = " or ".join(f"a {ending}" for ending in endings)
            others = targets_of(Path(arguments.output).suffix.lower())
            other = f", or choose --target {' or '.join(others)}" if others else ""
            raise UserError(
                f"the output '{arguments.output}' is not {what} file", f"name it OUT{endings[0]}{other}"
            )
    for path in (arguments.output, arguments.report, getattr(arguments, "save_profile", None)):
        if path is not None:
            check_writable(path)


def write_output(module: "ModuleOp", arguments: argparse.Namespace) -> None:
    """Write the result in the format of the output's extension."""
    import qdialect

    path = Path(arguments.output)
    if path.suffix.lower() not in (".so", ".vmfb", ".tosa"):
        qdialect.save(module, path, external_data=arguments.external_data)
        return
    from qdialect.text.upstream import write_upstream
    from qdialect.upstream.binaries import write_binary

    text = StringIO()
    write_upstream(module, text)
    write_binary(text.getvalue(), path)
