"""`qdialect compile` and `qdialect quantize`."""

import argparse
import sys
from typing import Any

from qdialect.cli.inputs import check_model, check_readable, output_format
from qdialect.cli.progress import progress
from qdialect.cli.status import DONE
from qdialect.errors import UserError


def run(arguments: argparse.Namespace) -> int:
    """Reads, compiles and writes one model."""
    check_paths(arguments)
    refuse_unbuilt(arguments)
    import qdialect

    with progress(arguments.quiet) as show:
        show(f"reading {arguments.input}")
        module = qdialect.load(arguments.input, keep_functions=arguments.keep_functions)
        show(f"compiling for {arguments.target}")
        qdialect.compile(module, **options_of(arguments))
        show(f"writing {arguments.output}")
        qdialect.save(module, arguments.output, external_data=arguments.external_data)
    if arguments.remarks:
        from qdialect.remarks import remarks_of

        for remark in remarks_of(module):
            print(remark, file=sys.stderr)
    return DONE


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The fields of `compiler.Options` that the command line gives."""
    return {
        "target": arguments.target,
        "form": arguments.form,
        "exactness": arguments.exactness,
        "keep_overridable": arguments.keep_overridable,
        "integer_io": arguments.integer_io,
        "decompose": tuple(arguments.decompose or ()),
        "keep_float": tuple(arguments.keep_float or ()),
    }


def check_paths(arguments: argparse.Namespace) -> None:
    """UserError for a path that cannot do, before the work instead of after it."""
    check_model(arguments.input)
    for data in (arguments.data, arguments.check_numerics):
        if data:
            check_readable(data)
    if arguments.output is not None and output_format(arguments.output) != "onnx":
        raise UserError(f"the output '{arguments.output}' is not a .onnx file", "name it OUT.onnx")


def refuse_unbuilt(arguments: argparse.Namespace) -> None:
    """UserError for what the core does not do yet."""
    unbuilt = {
        "quantize": arguments.command == "quantize",
        "--check-numerics": arguments.check_numerics is not None,
        "--print-pipeline": arguments.print_pipeline,
        "--report": arguments.report is not None,
    }
    for name, asked in unbuilt.items():
        if asked:
            raise UserError(f"{name} is not implemented yet", "leave it out")
