"""Registry of dialects by name, each imported on first use."""

from collections.abc import Callable

from xdsl.ir import Dialect

from qdialect.dialects.quant import Quant


def get_own_dialects() -> dict[str, Callable[[], Dialect]]:
    """Factories of the dialects that this package defines, by name."""

    def get_onnx() -> Dialect:
        from qdialect.ops.dialects import Onnx

        return Onnx

    def get_onnx_ml() -> Dialect:
        from qdialect.ops.dialects import OnnxMl

        return OnnxMl

    def get_onnx_ms() -> Dialect:
        from qdialect.ops.dialects import OnnxMs

        return OnnxMs

    def get_quant() -> Dialect:
        return Quant

    return {"onnx": get_onnx, "onnx_ml": get_onnx_ml, "onnx_ms": get_onnx_ms, "quant": get_quant}


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Factories of our dialects and of xDSL's that our tools read, by name."""

    def get_builtin() -> Dialect:
        from xdsl.dialects.builtin import Builtin

        return Builtin

    def get_func() -> Dialect:
        from xdsl.dialects.func import Func

        return Func

    def get_test() -> Dialect:
        from xdsl.dialects.test import Test

        return Test

    def get_tosa() -> Dialect:
        from qdialect.dialects.tosa import Tosa

        return Tosa  # in place of xDSL's, which knows fewer operations: no dialect of our own for `xdsl-opt`

    theirs = {"builtin": get_builtin, "func": get_func, "test": get_test, "tosa": get_tosa}
    return {**theirs, **get_own_dialects()}
