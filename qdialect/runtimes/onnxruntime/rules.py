"""
The table of what sessions of onnxruntime do wrongly, refuse, or make slower as they load a model with casts, each with
the guard that prevents it. A guard changes no number: it is a Sum of one operand, a pair of casts of the type that is
there already, or another form of equal results.

`test/unit/runtimes/onnxruntime/test_rules.py` runs the installed onnxruntime with each rule left out: where nothing is
lost any more, it fails, and the rule may go.

Before it fuses, a session makes signed bytes unsigned and drops clamps that the quantize implies, so neither signedness
nor a clamp separates an op from its quantize.
"""

from __future__ import annotations

from qdialect.runtimes.onnxruntime import (
    biases,
    cast_motion,
    clamps,
    kernel_fusion,
    names,
    spellings,
    weights,
)
from qdialect.runtimes.rules import Rule, SessionRules

MEASURED = ("1.31.1", "1.32.0")
"""The versions of onnxruntime in which each rule was seen to be needed, unless it says others."""

IN_FRONT = "a Sum in front of the quantize"
OF_ALL = "a Sum in front of the quantize, and of equal ones"


CAPTURED = Rule(
    "captured-moves",
    "misses edges into subgraphs as it moves casts, or drops a quantize of what is dequantized from the same type, "
    "signedness aside, and aborts",
    "a Sum in front of what the subgraph captures, or of the quantize and the ops between",
    sweeps=cast_motion.part_captured,
)
TYPED_MOVES = Rule(
    "typed-moves",
    "from opset 21 on, writes the casts that it moves past ops on i8 with a type that it changes elsewhere, and "
    "refuses",
    "a pair of casts behind such ops; a Sum for a scale that is zero, negative, not finite or computed",
    sweeps=cast_motion.pair_moved,
)
RETURNED = Rule(
    "returned-moves",
    "moves a quantize in front of moves whose operand the graph returns, which it then returns rounded",
    "a Sum in front of the move",
    sweeps=cast_motion.part_outputs,
)
CAPTURED_WEIGHT = Rule(
    "captured-weight",
    "makes MatMulNBits of a product in a subgraph whose weight, scales or zero points are captured, and aborts",
    "a Sum in front of the weight",
    finds=weights.captured_weight,
)
MOVED_I32 = Rule(
    "moved-i32",
    "moves a dequantize of i32 down, with a quantize to i32, which no op makes, and refuses",
    "a Sum in front of the move",
    finds=cast_motion.moved_i32,
    issue="https://github.com/microsoft/onnxruntime/issues/25001",
)
OTHER_BIAS = Rule(
    "other-bias",
    "takes dequantized i32 that is added to a product for its bias in steps of x_scale * w_scale, whatever its scale",
    "a Sum in front of the bias",
    finds=biases.other_bias,
)
WIDER_BIAS = Rule(
    "wider-bias",
    "makes a bias of what is added to a product of integers times scales, though it has more axes than the product, "
    "and loses them, so that what reads the result refuses it, or computes along other axes; or though it has more "
    "elements than the weight has columns, as for a vector, which the kernel refuses",
    "a Sum in front of the addition",
    finds=biases.wider_bias,
)
OTHER_FILTER = Rule(
    "other-filter",
    "fuses Conv and Gemm though the scales of the weight run along another axis than the outputs, and refuses a weight "
    "of i32",
    "a Sum in front of the weight",
    finds=weights.other_filter,
)
WIDENED = Rule(
    "batched-bias",
    "from opset 21 on, makes a Gemm behind a Reshape of a batched product of i8 and the Add of a vector, moves casts "
    "past the Reshape, and refuses",
    "the vector gets the result's rank; a Sum in front of a product whose vector is computed",
    sweeps=biases.widen_biases,
)
ODD_QUANTIZE = Rule(
    "odd-quantize",
    "takes a scale of a quantize that is zero, negative or not finite for a positive one, as it drops clamps in front "
    "or fuses",
    IN_FRONT,
    finds=clamps.odd_quantize,
)
MERGED = Rule(
    "merged-quantize",
    "merges a quantize with one above of other parameters, in steps of the common range",
    IN_FRONT,
    finds=clamps.merged_quantize,
)
LOST_CLAMP = Rule(
    "lost-clamp",
    "drops a Clip that a quantize implies but for 2^-23, in steps of small scales a large error; of less than 8 bits, "
    "drops any Relu, and refuses what selects elements",
    IN_FRONT,
    finds=clamps.lost_clamp,
)
ODD_OPERAND = Rule(
    "odd-operand",
    "takes a scale of an operand that is zero, negative or not finite for a positive one, as it fuses the op",
    OF_ALL,
    finds=kernel_fusion.odd_operand,
    from_all=True,
    issue="https://github.com/microsoft/onnxruntime/issues/21176",
)
ODD_SELECTION = Rule(
    "odd-selection",
    "selects among integers, whose order a negative scale turns round, or finds no difference by a scale of zero",
    "a Sum in front of the op",
    finds=clamps.odd_selection,
    issue="https://github.com/microsoft/onnxruntime/issues/21176",
)
ODD_PRODUCT = Rule(
    "odd-product",
    "fuses a product, with the Add of a bias behind it, into a kernel that counts the bias in steps of a scale that is "
    "zero, negative or not finite",
    "a Sum in front of the weight; of the activation if the weight is float",
    finds=weights.odd_product,
)
QUANTIZED_AGAIN = Rule(
    "quantized-weight",
    "quantizes the float weight of an op between casts by one scale, whether it has a kernel for the result or not",
    OF_ALL,
    finds=weights.quantized_again,
    from_all=True,
)
LOST_BIAS = Rule(
    "lost-bias",
    "counts a float bias in int32 steps of x_scale * w_scale, which are too fine for it, or too coarse",
    OF_ALL,
    finds=biases.lost_bias,
    from_all=True,
)
REFUSED_SCALES = Rule(
    "refused-scales",
    "fuses an op with casts that have several scales, or others than float32, into a kernel that refuses them",
    OF_ALL,
    finds=kernel_fusion.refused_scales,
    from_all=True,
)
SLOWER_KERNEL = Rule(
    "slower-kernel",
    "fuses an op with its casts into an integer kernel that takes longer than the three",
    OF_ALL,
    finds=kernel_fusion.slower_kernel,
    from_all=True,
    is_for_speed=True,
)
WRONG_KERNEL = Rule(
    "wrong-kernel",
    "fuses an op with its casts into a kernel that is wrong at some scales or windows",
    OF_ALL,
    finds=kernel_fusion.wrong_kernel,
    from_all=True,
)
SLOWER_NORMALIZATION = Rule(
    "slower-normalization",
    "makes a slower op of a float op and its producer, by `unfused` of the target's file",
    "the producer is written as another op of equal results",
    writes=spellings.spell_producer,
    is_for_speed=True,
)
SPELLED_OUT = Rule(
    "slow-float-op",
    "runs a float op slower than others of equal results, by `spelled` of the target's file",
    "the others",
    writes=spellings.spell_out,
    is_for_speed=True,
)
REFUSED_PRODUCT = Rule(
    "refused-product",
    "fuses an 8-bit product whatever reads it into a kernel that refuses several scales of the activation, or scales "
    "of the weight that run along another axis than the columns of one matrix",
    "a Sum in front of the weight; in front of the activation if the weight is in blocks",
    finds=weights.refused_product,
)
ROUNDED_ACTIVATION = Rule(
    "rounded-activation",
    "makes MatMulNBits of a product with a weight of bytes whose activation is dequantized in front of moves that stop "
    "its casts: it rounds the activation again",
    "a Sum in front of the weight",
    finds=weights.rounded_activation,
)
NARROW_SELECTION = Rule(
    "narrow-selection",
    "moves a dequantize of less than 8 bits down past an op that selects elements, which has no kernel on these",
    "a Sum in front of the op",
    finds=clamps.selects_among_narrow,
)
INVENTED_NAME = Rule(
    "invented-name",
    "names the sizes in front of a product that it makes of a MatMul and an Add, and refuses a model with a constant "
    "of that name",
    "another name",
    sweeps=names.call_otherwise,
)

SWEEPS: tuple[tuple[Rule, ...], ...] = (
    (CAPTURED,),
    (TYPED_MOVES,),
    (RETURNED,),
    (CAPTURED_WEIGHT, MOVED_I32, OTHER_BIAS, WIDER_BIAS, OTHER_FILTER, ODD_SELECTION, ODD_PRODUCT),
    (WIDENED,),
    (
        ODD_QUANTIZE, MERGED, LOST_CLAMP, ODD_OPERAND, QUANTIZED_AGAIN, LOST_BIAS,
        REFUSED_SCALES, SLOWER_KERNEL, WRONG_KERNEL,
        SLOWER_NORMALIZATION, SPELLED_OUT,
        REFUSED_PRODUCT, ROUNDED_ACTIVATION, NARROW_SELECTION,
    ),
    (TYPED_MOVES,),  # of what only quantizes read until a Sum stood between
    (INVENTED_NAME,),
)  # fmt: skip
"""The rules in the order in which they are applied, by sweeps over the module: one rule of a sweep guards an op."""

TABLE = SessionRules("onnxruntime", MEASURED, SWEEPS)
