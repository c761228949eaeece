"""`qdialect-opt`: read IR, run a pipeline of passes, print IR; mlir-opt's behaviour where it has one."""

import argparse
import re
import sys
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from qdialect.cli.arguments import Version
from qdialect.cli.inputs import input_format, output_format, read_text
from qdialect.cli.parser import Parser, bind_optional_values, misplaced_value
from qdialect.cli.status import DONE, FAILED, WRONG_USAGE, guarded
from qdialect.errors import LocatedError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from qdialect.checking.functions import Checked
    from qdialect.checking.numerics_check import NumericsCheck
    from qdialect.compiler.pipeline_text import Passes
    from qdialect.rewriting.manager import Hook
    from qdialect.text.assembly import ModuleParser
    from qdialect.text.reading import Diagnostic

USAGE = "%(prog)s [IN.mlir | IN.onnx | -] [-p PASSES | --pass-pipeline PIPELINE] [-o OUT] [options]"


class _Parser(Parser):
    def format_help(self) -> str:
        # Only --help imports every pass.
        from qdialect.compiler.pipeline_text import get_available_passes, summarize
        from qdialect.ops.outside import outside_passes

        def table(passes: "Passes") -> str:
            rows = [(name, *summarize(factory())) for name, factory in sorted(passes.items())]
            return "".join(f"  {name:<23} {exactness:<14} {summary}\n" for name, summary, exactness in rows)

        others = f"\nof installed packages:\n{table(outside_passes())}" if outside_passes() else ""
        own = table(get_available_passes())
        return f"{super().format_help()}\npasses, with their exactness class:\n{own}{others}"


def make_argument_parser() -> Parser:
    parser = _Parser("qdialect-opt", USAGE, "Runs passes over a module.", allow_abbrev=False)
    add = parser.add_argument
    add(
        "input",
        nargs="?",
        default="-",
        metavar="IN",
        help="a .mlir or .onnx file, or - for text on standard input",
    )
    passes = parser.add_mutually_exclusive_group()
    passes.add_argument("-p", "--passes", metavar="a,b{x=1}", help="passes to run, in order")
    passes.add_argument(
        "--pass-pipeline",
        dest="passes",
        metavar="'builtin.module(a,b)'",
        help="passes to run, in MLIR's syntax",
    )
    add(
        "-t",
        "--to",
        choices=("mlir", "onnx"),
        help="output format (default: by the output's extension, else mlir)",
    )
    add(
        "-o", "--output", default="-", metavar="OUT", help="output file; text also gets OUT.weights beside it"
    )
    external = "put large tensors of OUT.onnx into OUT.onnx.data (default: if they do not fit)"
    add("--external-data", action="store_const", const=True, help=external)
    _add_numbers(parser)
    _add_printing(parser)
    _add_testing(parser)
    parser.add_argument("--version", action=Version)
    return parser


def _add_numbers(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--check-numerics",
        nargs="?",
        const="",
        metavar="=INPUTS.npz",
        help="run the model before and after each pass, and name the first pass that exceeds its exactness class",
    )
    add("--remarks", action="store_true", help="print on stderr which rewrites did not apply, and why")
    add("--time-passes", action="store_true", help="print seconds per pass on stderr")


def _add_printing(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--print-constants", action="store_true", help="print large constants too, in hex")
    for name, help_ in (
        ("print-ir-before-all", "print the IR before each pass, on stderr"),
        ("print-ir-after-all", "print the IR after each pass, on stderr"),
        ("print-op-generic", "print ops in MLIR's generic form"),
        ("print-debuginfo", "print locations, which hold the ONNX names"),
    ):
        add(f"--{name}", f"--mlir-{name}", action="store_true", dest=name.replace("-", "_"), help=help_)


def _add_testing(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--split-input-file",
        action="store_true",
        help="split the text at lines `// -----` into separate modules",
    )
    add(
        "--verify-diagnostics",
        action="store_true",
        help="compare errors and remarks with `// expected-error {{...}}` comments in the text; print no IR",
    )
    add(
        "--allow-unregistered-dialect",
        action="store_true",
        help="accept ops of unknown dialects, in generic form",
    )


def main(argv: list[str] | None = None) -> int:
    """
    The command; returns its status: 0 done, 1 could not, 2 wrong usage.

    Without `argv` it takes the arguments of this process.
    """
    words = sys.argv[1:] if argv is None else argv
    parser = make_argument_parser()
    try:
        arguments, unknown = parser.parse_known_args(bind_optional_values(words, "--check-numerics"))
        if wrong := misplaced_value(words, "--check-numerics"):
            parser.error(wrong)
        if unknown:
            parser.unrecognized(unknown, _pass_hint(unknown))
        if arguments.verify_diagnostics and arguments.output != "-":
            parser.error("--verify-diagnostics prints no IR, so -o has no use")
    except SystemExit as exit_:  # argparse has said why
        return exit_.code if isinstance(exit_.code, int) else WRONG_USAGE
    return guarded(lambda: _run(parser, arguments))


def _pass_hint(words: "Sequence[str]") -> str:
    """Hint for passes given as flags, as in mlir-opt."""
    from qdialect.compiler.pipeline_text import get_available_passes

    known = get_available_passes()
    passes = [name for word in words if (name := word.lstrip("-").partition("=")[0]) in known]
    return f"; passes are given as -p {','.join(passes)}" if passes else ""


def _run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    import_module("numpy")  # before xDSL, as in `qdialect`
    from qdialect.compiler.pipeline_text import PipelineError, get_available_passes, parse_pipeline

    try:
        passes = parse_pipeline(arguments.passes or "", get_available_passes())
    except PipelineError as error:
        print(f"usage: {USAGE % {'prog': parser.prog}}\n{parser.prog}: error: {error}", file=sys.stderr)
        return WRONG_USAGE
    tool = _Tool(arguments, passes)
    if arguments.verify_diagnostics:
        return tool.verify_diagnostics()
    tool.translate()
    return DONE


@dataclass
class _Tool:
    arguments: argparse.Namespace
    passes: list["ModulePass"]

    @property
    def name(self) -> str:
        return "<stdin>" if self.arguments.input == "-" else self.arguments.input

    @property
    def folder(self) -> Path | None:
        return None if self.arguments.input == "-" else Path(self.arguments.input).parent

    def context(self) -> "Context":
        from qdialect.text.reading import make_context

        return make_context(allow_unregistered=self.arguments.allow_unregistered_dialect)

    # --- input

    def read_onnx(self) -> "ModuleOp":
        import qdialect

        return qdialect.load(self.arguments.input)

    def chunks(self) -> list[str]:
        text = read_text(self.arguments.input)
        if not self.arguments.split_input_file:
            return [text]
        pieces = re.split(r"^[ \t]*// -----.*$", text, flags=re.MULTILINE)
        lines = [piece.count("\n") for piece in pieces]
        if len(pieces) > 1:  # a chunk may be empty or only comments, a file may not
            pieces = [p if re.sub(r"//.*", "", p).strip() else f"{p}\nbuiltin.module {{}}" for p in pieces]
        return ["\n" * sum(lines[:k]) + piece for k, piece in enumerate(pieces)]

    def parse(self, ctx: "Context", text: str) -> "tuple[ModuleOp, ModuleParser]":
        from qdialect.text.assembly import ModuleParser

        # Remarks and expectations refer to lines, which ops keep through passes as their locations.
        locate = self.arguments.remarks or self.arguments.verify_diagnostics
        parser = ModuleParser(ctx, text, self.name, self.folder, locate=locate)
        return parser.parse_module(), parser

    # --- passes

    def apply(self, ctx: "Context", module: "ModuleOp") -> None:
        from qdialect.rewriting.manager import Hook, PassManager, Timing, Verified

        timing = Timing()
        hooks: list[Hook] = [timing, Verified()]
        before, after = self.arguments.print_ir_before_all, self.arguments.print_ir_after_all
        if before or after:
            hooks.append(_printed(lambda module: self.print_text(module, sys.stderr), before, after))
        check = self.check(ctx, module)
        if isinstance(check, Hook):
            hooks.append(check)
        PassManager(*hooks, context=ctx).run(self.passes, module)
        if check is not None and not self.arguments.verify_diagnostics:
            print(check.summary(), file=sys.stderr)
        if self.arguments.time_passes:
            sys.stderr.write(timing.table())

    def check(self, ctx: "Context", module: "ModuleOp") -> "NumericsCheck | Checked | None":
        """The check of each pass, if requested; for several functions, the result of checking each."""
        path = self.arguments.check_numerics
        if path is None:
            return None
        from qdialect.checking.functions import check_functions, count_functions
        from qdialect.checking.numerics_check import NumericsCheck, check_feeds

        if count_functions(module) == 1 and not self.arguments.split_input_file:
            return NumericsCheck(module, check_feeds(module, path))
        if path:
            raise UserError("a module of several functions is checked on random inputs", "leave the file out")
        return check_functions(module, self.passes, ctx)

    # --- output

    def print_text(self, module: "ModuleOp", stream: TextIO) -> None:
        from qdialect.text.assembly import print_module

        print_module(
            module,
            stream,
            generic=self.arguments.print_op_generic,
            locations=self.arguments.print_debuginfo,
            constants="inline" if self.arguments.print_constants else "elide",
        )

    def translate(self) -> None:
        """Parse, transform and print every chunk; nothing is written before all have succeeded."""
        is_onnx = input_format(self.arguments.input) == "onnx"
        self.output_format()  # report a wrong extension before the work, not after
        ctx = self.context()
        modules: list[ModuleOp] = []
        if is_onnx:
            modules.append(self.read_onnx())
        else:
            modules += (self._parse_and_verify(ctx, text) for text in self.chunks())
        for module in modules:
            self.apply(ctx, module)
        if self.arguments.remarks:
            self._print_remarks(modules)
        self._write(modules)

    def _parse_and_verify(self, ctx: "Context", text: str) -> "ModuleOp":
        from qdialect.text.reading import verification_error

        module, parser = self.parse(ctx, text)
        if (diagnostic := verification_error(module, parser)) is not None:
            raise LocatedError(str(diagnostic))
        return module

    def output_format(self) -> str:
        return self.arguments.to or output_format(self.arguments.output)

    def _write(self, modules: "list[ModuleOp]") -> None:
        output = self.arguments.output
        if self.output_format() == "onnx":
            self._write_onnx(modules)
        elif output == "-":
            text = StringIO()
            for number, module in enumerate(modules):
                text.write("// -----\n" if number else "")
                self.print_text(module, text)
            sys.stdout.write(text.getvalue())
        else:
            from qdialect.onnx_io.models import save_text

            save_text(
                modules,
                Path(output),
                generic=self.arguments.print_op_generic,
                inline=self.arguments.print_constants,
            )

    def _write_onnx(self, modules: "list[ModuleOp]") -> None:
        import qdialect

        if len(modules) != 1:
            raise UserError(
                f"{len(modules)} modules do not fit into one ONNX file", "leave --split-input-file out"
            )
        if self.arguments.output == "-":
            raise UserError("an ONNX file does not go to standard output", "name a file with -o")
        qdialect.save(modules[0], self.arguments.output, external_data=self.arguments.external_data)

    # --- diagnostics

    def _print_remarks(self, modules: "list[ModuleOp]") -> None:
        from qdialect.cli.diagnostics import remark_diagnostics

        for module in modules:
            for remark in remark_diagnostics(module, self.name):
                print(remark, file=sys.stderr)

    def verify_diagnostics(self) -> int:
        from qdialect.cli.diagnostics import Verifier

        if input_format(self.arguments.input) == "onnx":
            raise UserError("an ONNX file has no comments to verify", "leave --verify-diagnostics out")
        verifier = Verifier(self.name, sys.stderr)
        for text in self.chunks():
            verifier.check(text, self._diagnose(text))
        return FAILED if verifier.mismatches else DONE

    def _diagnose(self, text: str) -> "list[Diagnostic]":
        """Diagnostics of parsing, verifying and transforming one chunk: at most one error, and the remarks."""
        from xdsl.utils.exceptions import DiagnosticException, ParseError

        from qdialect.cli.diagnostics import remark_diagnostics
        from qdialect.text.reading import Diagnostic, verification_error

        try:
            module, parser = self.parse(ctx := self.context(), text)
        except ParseError as error:
            place = error.span.get_location()
            return [Diagnostic("error", error.msg, place.file, place.line, place.col)]
        if (diagnostic := verification_error(module, parser)) is not None:
            return [diagnostic]
        errors: list[Diagnostic] = []
        try:
            self.apply(ctx, module)
        except (UserError, DiagnosticException) as error:
            errors.append(Diagnostic("error", str(error), self.name))
        return [*errors, *remark_diagnostics(module, self.name)]


def _printed(show: "Callable[[ModuleOp], None]", before: bool, after: bool) -> "Hook":
    """`--print-ir-before-all` and `--print-ir-after-all`."""
    from qdialect.rewriting.manager import Applied, Hook

    class Shown(Hook):
        def before(self, one: "ModulePass", module: "ModuleOp") -> None:
            if before:
                print(f"// ----- IR before {one.name}", file=sys.stderr)
                show(module)

        def after(self, applied: Applied, module: "ModuleOp") -> None:
            if after:
                print(f"// ----- IR after {applied.one.name}", file=sys.stderr)
                show(module)

    return Shown()


if __name__ == "__main__":
    sys.exit(main())
