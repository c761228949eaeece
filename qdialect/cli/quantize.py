"""`qdialect quantize`: reads, quantizes and writes one model."""

import argparse
from dataclasses import replace

from qdialect.cli.compile import check_feeds_of, check_paths, check_strict, say
from qdialect.cli.display import progress
from qdialect.cli.inputs import check_readable
from qdialect.cli.reporting import Reporting
from qdialect.cli.status import DONE
from qdialect.compiler.options import Calibration, ImageOptions, Options, options_of


def run(arguments: argparse.Namespace) -> int:
    """Reads, quantizes and writes one model."""
    _check(arguments)
    options = options_of(Options, arguments)
    if arguments.print_pipeline:
        from qdialect.compiler.pipeline import phases_text
        from qdialect.quantizer.preparing import quantize_phases

        print(phases_text(quantize_phases(options)))
        return DONE
    import qdialect
    from qdialect.quantizer.quantize import quantize_module

    with progress(arguments.quiet) as show:
        show(f"reading {arguments.input}")
        reporting = Reporting(arguments)
        module = qdialect.load(arguments.input, keep_functions=arguments.keep_functions)
        calibration = replace(options_of(Calibration, arguments), budget=arguments.verbose, show=show)
        feeds = check_feeds_of(arguments, options, module)
        done = quantize_module(module, arguments.data or None, calibration, options, feeds)
        check_strict(done.report, arguments)
        show(f"writing {arguments.output}")
        qdialect.save(module, arguments.output, external_data=arguments.external_data)
        measured = reporting.write(done.report, show, done)
    say(arguments, done.report, measured, done.log, done.summary())
    return DONE


def _check(arguments: argparse.Namespace) -> None:
    """Raise UserError for unusable arguments before the work begins."""
    from qdialect.data.preprocessing import given

    if arguments.weights != "int8":
        from qdialect.quantizer.weight_only import parse_weights

        parse_weights(arguments.weights)
    if arguments.max_drop is not None:
        from qdialect.quantizer.search.max_drop import parse_limit

        parse_limit(arguments.max_drop)
    given(options_of(ImageOptions, arguments))
    check_paths(arguments)
    for path in arguments.profiles:
        check_readable(path)
