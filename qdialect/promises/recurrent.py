"""Result shapes of com.microsoft's recurrent operators, which onnx's shape inference does not cover."""

from __future__ import annotations

from dataclasses import dataclass

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.promises.base import Promise


@dataclass(frozen=True)
class HiddenStates(Promise):
    """The results are those of ONNX's LSTM: the hidden states of all steps, the last one, the last cell state."""

    weight: int
    """The operand that holds the recurrent weights, (directions, hidden, gates)."""

    def shapes(self, op: OnnxOp) -> list[tuple[int, ...]] | None:
        """(steps, directions, batch, hidden), then twice (directions, batch, hidden); None if too little is known."""
        x, weight = shape_of(op.operands[0].type), shape_of(op.operands[self.weight].type)
        if x is None or len(x) != 3 or weight is None or len(weight) != 3 or DYNAMIC in weight:
            return None
        last = (weight[0], x[1], weight[1])
        return [(x[0], *last), last, last]


HIDDEN_STATES: dict[tuple[str, str], HiddenStates] = {(MICROSOFT, "DynamicQuantizeLSTM"): HiddenStates(2)}
