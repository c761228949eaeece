"""
Options of `compile` and `quantize`, each declared once: the command line derives its arguments from these fields, the
functions take them as keywords, and docs/api.md lists them.

Imports nothing heavy, so that errors on the command line are reported at once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, Field, dataclass, field, fields, replace
from inspect import Signature, signature
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from qdialect.errors import UserError, did_you_mean
from qdialect.exactness import Exactness
from qdialect.targets import target

if TYPE_CHECKING:
    from qdialect.numerics import Array

FORMS = ("qoperator", "qdq", "integer")
"""Forms in which integer ops are written to ONNX."""
UPSTREAM_FORMS = ("linalg", "tosa")
"""Forms of targets that take dialects of upstream MLIR instead of ONNX."""
PREFERENCES = ("speed", "balance", "accuracy")
"""What may decide between candidates of `quantize`."""
LEVELS = tuple(level.value for level in Exactness)
RESULT, MODEL = "the result", "the model"
IMAGES, ACCURACY = "images of --data", "accuracy"
CALIBRATION, ALGORITHMS = "calibration", "algorithms (default: the best on held-out samples)"
"""Headings of options in `--help`."""
CALLER = "the caller"
"""Pseudo heading of options that exist in Python only."""

OptionsT = TypeVar("OptionsT", bound="Options | ImageOptions | LabelOptions")
ModelT = TypeVar("ModelT", contravariant=True)
T = TypeVar("T")
R = TypeVar("R", covariant=True)
P = ParamSpec("P")


def _option(
    group: str,
    help: str,
    *,
    choices: Sequence[str] | None = None,
    metavar: str | None = None,
    flag: str | None = None,
    **default: Any,
) -> Any:
    """
    The field of an option, None by default. metavar: also selects the command line's converter. flag: name of a
    repeatable option, if different from the field's.
    """
    said = {"group": group, "help": help, "choices": choices, "metavar": metavar, "flag": flag}
    return field(metadata=said, **(default or {"default": None}))


def _with_costs(name: str | Path, costs: str | Path) -> str | Path:
    """The target with the costs of a file. Raises UserError if the costs are another target's."""
    if not str(costs).endswith(".toml"):
        raise UserError(
            f"'{costs}' is not a .toml file of kernel costs", "write them with `qdialect targets --calibrate`"
        )
    own = target(costs)
    if costs != name and own.like != name:
        raise UserError(
            f"'{costs}' has the costs of {own.like or 'no target'}, not of {name}",
            "write them with `qdialect targets --calibrate`",
        )
    return costs


@dataclass(frozen=True)
class CalibrationData:
    """Data to calibrate on."""

    data: "str | Path | Sequence[str | Path] | Iterable[Mapping[str, Array]] | None" = _option(
        CALLER,
        "dictionaries from graph input name to an array, whose first axis may be longer than the model's batch; or a"
        " path, a list of paths, or `module:function`, as docs/quantization.md lists them; None if profiles or random"
        " numbers do",
    )


@dataclass(frozen=True)
class Options:
    """Options of a compilation."""

    target: str | Path = _option(
        RESULT,
        "runtime or compiler for the result: a name of `qdialect targets`, or a file PATH.toml (default: %(default)s)",
        metavar="TARGET",
        default="onnxruntime",
    )
    form: str | None = _option(
        RESULT, "how integer ops are written (default: the target's own form)", choices=FORMS
    )
    exactness: str = _option(
        RESULT,
        "how far a rewrite may change results: not at all, an integer by one step, or more (default: %(default)s);"
        " onnxruntime's own optimizer, and its packing of constant weights, may change results further: `compare` shows"
        " both",
        choices=LEVELS,
        default=Exactness.CLOSE.value,
    )
    _: KW_ONLY
    costs: str | Path | None = _option(
        RESULT,
        "kernel costs of the machine that runs the result: a file that `qdialect targets --calibrate` wrote there",
        metavar="FILE",
    )
    integer_io: bool = _option(
        RESULT, "integer graph inputs and outputs; the caller quantizes and dequantizes", default=False
    )
    decompose: Sequence[str] = _option(
        MODEL,
        "split these ops into simpler ones: BatchNormalization, Celu, DynamicQuantizeLSTM, Einsum, Elu, Gemm, GRU, "
        "LSTM, Mish, RNN, Selu, Softplus",
        metavar="OP,...",
        default=(),
    )
    keep_float: Sequence[str] = _option(
        MODEL,
        "do not rewrite these nodes, or the nodes that compute these tensors; * matches any text, ? one character",
        metavar="NAME,...",
        default=(),
    )
    float_weights: bool = _option(
        MODEL,
        "store all weights of ops that stay in float as float constants: faster, but a larger file",
        default=False,
    )
    keep_overridable: bool = _option(
        MODEL, "keep initializers that are also graph inputs as inputs that a caller can set", default=False
    )
    batch: int | None = _option(
        MODEL, "batch size: the first size of inputs that leave it open", metavar="ROWS"
    )
    sizes: Sequence[str] = _option(
        MODEL, "values of other open sizes, by name: width=224", metavar="NAME=N,...", default=()
    )

    def __post_init__(self) -> None:
        for name in ("decompose", "keep_float", "sizes"):
            value: Sequence[str] = getattr(self, name)
            if isinstance(value, Mapping):
                raise UserError(f"{name} is {value!r}", "give a list of strings, as on the command line")
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        if self.costs is not None:
            object.__setattr__(self, "target", _with_costs(self.target, self.costs))

    @property
    def plain(self) -> "Options":
        """The options for a model that has been prepared: its nodes are decomposed and marked, and its sizes known."""
        return replace(self, decompose=(), keep_float=(), batch=None, sizes=())


@dataclass(frozen=True, kw_only=True)
class ImageOptions:
    """
    How images become inputs: `qdialect.data.preprocessing`. The profile and the written file keep it; without any of
    these options, what the file states is done again.
    """

    preprocess: str | Path | None = _option(
        IMAGES,
        "imagenet (shorter side resized so that the cut is 0.875 of it, mean and std of ImageNet), tf (-1 to 1), unit"
        " (0 to 1), bytes (0 to 255), caffe (0 to 255, BGR, means), or FILE.toml; options beside it take the place of"
        " its values (default: what the model file states, else unit)",
        metavar="NAME",
    )
    resize: int | None = _option(
        IMAGES, "resize the shorter side to N pixels, before the centre is cut out", metavar="N"
    )
    crop: int | None = _option(
        IMAGES,
        "cut NxN pixels out of the centre (default: the size of the model's input; without --resize, --crop and a"
        " preset that resizes, images are stretched)",
        metavar="N",
    )
    mean: Sequence[float] | None = _option(
        IMAGES,
        "mean of pixels of 0 to 1 (of 0 to 255 with --preprocess bytes), one number or one per channel",
        metavar="M,...",
    )
    std: Sequence[float] | None = _option(
        IMAGES, "standard deviation of pixels, one number or one per channel", metavar="S,..."
    )
    layout: str | None = _option(
        IMAGES, "layout of images (default: from the model's input shape)", choices=("NCHW", "NHWC")
    )
    bgr: bool = _option(IMAGES, "channels in the order blue, green, red", default=False)


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """What the outputs are judged by: `qdialect.data.labels` and `qdialect.data.metrics`."""

    labels: "str | Sequence[object] | Array | None" = _option(
        ACCURACY,
        "what the model should answer: folders (the class folders of --data, sorted by name), FILE.npy in the order of"
        " the data, key:NAME of .npz data, or FILE.csv with lines FILE,LABEL",
        metavar="L",
    )
    metric: str | None = _option(
        ACCURACY,
        "top1, top5, mse, psnr, cosine, miou, map, or module:function(outputs, labels) (default: top1)",
        metavar="M",
    )


IMAGE_OPTIONS = tuple(one.name for one in fields(ImageOptions))


@dataclass(frozen=True, kw_only=True)
class CompileOptions(ImageOptions, Options):
    """Options of `compile`."""

    data: "str | Path | Sequence[str | Path] | Iterable[Mapping[str, Array]] | None" = _option(
        CALLER,
        "samples, as for `quantize`: float ops between integer ops, such as residual additions, are quantized with "
        "ranges from them where that is faster; the verdict says what it costs",
    )
    feeds: "Sequence[Mapping[str, Array]]" = _option(
        CALLER,
        "dictionaries from graph input name to an array of the input's type and shape; the model is run on each "
        "before and after each pass, and each pass is judged by its class",
        default=(),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_images(self, self.data)


@dataclass(frozen=True, kw_only=True)
class Calibration(LabelOptions, ImageOptions):
    """Options of calibration."""

    random: bool = _option(
        CALIBRATION, "use random data: shows which layers become integer, does not calibrate", default=False
    )
    profiles: Sequence[str | Path] = _option(
        CALIBRATION, "a saved profile; several are added up", metavar="P", flag="--profile", default=()
    )
    save_profile: str | Path | None = _option(
        CALIBRATION, "save the profile of the samples, for --profile", metavar="FILE"
    )
    memory: int = _option(
        CALIBRATION,
        "memory for the tensors that are profiled in one run: 500M, 2G (default: 1G)",
        metavar="SIZE",
        default=1 << 30,
    )
    state: Mapping[str, str] = _option(
        CALIBRATION,
        "feed output OUT of one sample to input IN of the next; in Python {IN: OUT}",
        metavar="OUT=IN",
        default_factory=dict[str, str],
    )
    workers: int = _option(
        CALIBRATION, "number of profiling processes, at most one per core", metavar="N", default=1
    )
    scheduler: str | None = _option(
        CALIBRATION, "scheduler of a Dask cluster for profiling", metavar="ADDRESS"
    )
    range: str | None = _option(
        ALGORITHMS, "range of all activations: minmax, mse, or a percentile such as 99.99", metavar="R"
    )
    rounding: str | None = _option(ALGORITHMS, "how weights are rounded", choices=("nearest", "gptq"))
    weights: str = _option(
        ALGORITHMS,
        "int8; or int4[,block=32], which quantizes only the weights of matrix products; --keep-float, --rounding and"
        " --max-drop apply to these",
        metavar="TYPE",
        default="int8",
    )
    prefer: str = _option(
        ALGORITHMS,
        "what decides between candidates: speed, the shortest expected time; balance, a percent of the time for 0.3 dB;"
        " accuracy, a percent for 0.05 dB (default: %(default)s)",
        choices=PREFERENCES,
        default="balance",
    )
    measure: bool = _option(
        ALGORITHMS,
        "run the best candidates on this machine, one thread, and decide by the times measured: the only option whose"
        " result depends on the machine",
        default=False,
    )
    max_drop: str | None = _option(
        ALGORITHMS,
        "keep as few layers in float as meet limit X: a signal to noise such as 40dB, or 0.5%%: with labels, what the"
        " metric may lose (points of a share, else relative); without, the share of decisions that may change",
        metavar="X",
    )
    evaluate: "Callable[[Any, Any], Any] | None" = _option(
        CALLER,
        "metric in place of `metric`: a function of all held-out outputs (samples, ...), a dictionary by name if there"
        " are several, and of their labels, None without `labels`; it returns a number, of which larger is better, or"
        " one for each sample",
    )
    budget: bool = _option(CALLER, "whether the log lists the layers that cause most noise", default=False)
    show: Callable[[str], None] | None = _option(
        CALLER,
        "progress callback, called with a line of text; without one the logger `qdialect` gets it as INFO",
    )

    @property
    def measures_accuracy(self) -> bool:
        """True if there are labels, or a function that needs none."""
        return self.labels is not None or self.evaluate is not None

    @property
    def progress(self) -> Callable[[str], None]:
        """The progress callback; without one, that of the logger `qdialect`, which is silent unless it is set up."""
        from logging import getLogger  # the command line, which shows progress itself, starts without it

        return self.show or getLogger("qdialect").info


@dataclass(frozen=True)
class QuantizeOptions(Calibration, Options, CalibrationData):
    """Options of `quantize`. Raises UserError for a value that is none of an option's choices, or below 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.range is not None:
            object.__setattr__(self, "range", str(self.range))  # a percentile may be a number
        for one in fields(Calibration):
            value, choices = getattr(self, one.name), one.metadata["choices"]
            if choices and value is not None and value not in choices:
                raise UserError(f"{one.name} is {value!r}", f"choose from {', '.join(choices)}")
        for name, value in (("memory", self.memory), ("workers", self.workers)):
            if not (isinstance(value, Integral) and value > 0):
                raise UserError(f"{name} is {value!r}", "give a whole number from 1 on")
        if not isinstance(self.state, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UserError(
                f"state is {self.state!r}", "give a dictionary of outputs by the inputs that they feed"
            )
        if self.state and self.random:
            raise UserError("state and random exclude each other", "give sequences of data")
        self._check_accuracy()
        self._check_beside()

    def _check_accuracy(self) -> None:
        """Raise UserError for options of accuracy that would have no effect beside others."""
        if self.metric is not None and self.labels is None:
            raise UserError("metric needs labels to measure by", "give labels")
        if self.metric is not None and self.evaluate is not None:
            raise UserError("evaluate takes the place of metric", "give one of them")
        if self.measures_accuracy:
            if self.data is None:
                raise UserError("labels and evaluate need samples to measure on", "give data")
            if self.state:
                raise UserError("labels and evaluate are for samples on their own", "leave state out")

    def _check_beside(self) -> None:
        """Raise UserError for options that would have no effect beside others."""
        if self.random and (self.data is not None or self.profiles):
            raise UserError("random takes the place of data and profiles", "give one of them")
        if self.workers > 1 and self.scheduler is not None:
            raise UserError("a scheduler has workers of its own", "leave workers out")
        if self.measure and self.max_drop is not None:
            raise UserError(
                "a limit of noise is kept by expected times, not measured ones", "leave measure out"
            )
        if self.weights != "int8":
            if self.prefer != "balance":
                raise UserError(f"weights {self.weights} has no choice of layers", "leave prefer out")
            for name in ("range", "integer_io", "float_weights", "measure"):
                if getattr(self, name):
                    raise UserError(
                        f"weights {self.weights} leaves activations in float", f"leave {name} out"
                    )
        _check_images(self, self.data)


def _check_images(options: ImageOptions, data: object) -> None:
    """Raise UserError for an invalid option of images, and for one beside data that are no files."""
    if options.std is not None and not all(one > 0 for one in options.std):
        raise UserError(f"std is {options.std!r}", "pixels are divided by std: give numbers above 0")
    for one in fields(ImageOptions):
        value, choices = getattr(options, one.name), one.metadata["choices"]
        if choices and value is not None and value not in choices:
            raise UserError(f"{one.name} is {value!r}", f"choose from {', '.join(choices)}")
        if value != one.default and not (isinstance(data, str | Path) or _are_paths(data)):
            raise UserError(f"{one.name} applies to image files only", "prepare the arrays themselves")


def _are_paths(data: object) -> bool:
    """True for a list of paths."""
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(one, str | Path) for one in data)


def flag(one: Field[Any]) -> str:
    """The command-line option of a field: `keep_float` is `--keep-float`."""
    return one.metadata["flag"] or f"--{one.name.replace('_', '-')}"


def options_of(kind: type[OptionsT], values: object) -> OptionsT:
    """The options of class `kind` from an object with attributes for some fields, as parsed arguments."""
    return kind(**{one.name: getattr(values, one.name) for one in fields(kind) if hasattr(values, one.name)})


def described(one: Field[Any]) -> str:
    """Description of an option for Python's documentation."""
    return (one.metadata["help"].replace(" (default: %(default)s)", "").replace("%%", "%")).strip()


class Takes(Protocol[ModelT, P, R]):
    """The type of `compile` and `quantize`: functions of a model and options."""

    def __call__(self, model: ModelT, *options: P.args, **named: P.kwargs) -> R: ...


def with_options(
    options: Callable[P, OptionsT],
) -> Callable[[Callable[[ModelT, OptionsT], T]], Takes[ModelT, P, T]]:
    """Decorator that lets a function of a model and options take the fields of class `options` as keywords."""

    known = signature(options)

    def taking(function: Callable[[ModelT, OptionsT], T]) -> Takes[ModelT, P, T]:
        def taken(model: ModelT, *words: P.args, **named: P.kwargs) -> T:
            try:
                known.bind(*words, **named)
            except TypeError as error:
                fixes = (did_you_mean(one, known.parameters) for one in named if one not in known.parameters)
                fix = next(fixes, "")
                raise TypeError(f"{function.__name__}() {error}{fix and '; '}{fix}") from None
            return function(model, options(*words, **named))

        _document(taken, function, options)
        return taken

    return taking


def _document(function: Callable[..., Any], like: Callable[..., Any], options: Any) -> None:
    """
    Set the signature and the evaluated annotations of `function`, which takes the fields of `options` behind the model
    that `like` takes, and its name and docstring from `like`, with the descriptions of the options.
    """
    from qdialect.numerics import Array  # numpy: the command line reads options without it

    model = next(iter(signature(like).parameters.values()))
    words = list(signature(options).parameters.values())
    named = Signature([model, *words], return_annotation=signature(like).return_annotation)
    lines = [f"{one.name}: {described(one)}." for one in fields(options)]
    text = f"{(like.__doc__ or '').rstrip()}\n\n    " + "\n    ".join(lines) + "\n    "
    function.__dict__["__signature__"] = named
    of_model = signature(like, eval_str=True)
    of_options = signature(options, locals={"Array": Array}, eval_str=True).parameters.values()
    typed = [of_model.parameters[model.name], *of_options]
    function.__annotations__ = {one.name: one.annotation for one in typed}
    function.__annotations__["return"] = of_model.return_annotation
    function.__doc__, function.__module__ = text, like.__module__
    function.__name__, function.__qualname__ = like.__name__, like.__qualname__
