"""Compiling what was compiled changes nothing: one graph for each reason why it once did."""

import pytest
from guard_cases import full_context
from xdsl.dialects.builtin import ModuleOp

from graphs.structure import difference
from qdialect.api import compile
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.text.assembly import parse_module

HEAD = """
!u = !quant.uniform<u8:f32, 0.02:13>
!i = !quant.uniform<i8:f32, 0.02:-115>
!v = !quant.uniform<u8:f32, 0.05:183>
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}, onnx.ir_version = 8 : i64} {
"""

ACTIVATION = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<4x3xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!u>
  %j = onnx.Concat(%q, %q) {axis = 0 : i64} : (tensor<2x3x!u>, tensor<2x3x!u>) -> tensor<4x3x!u>
  %d = quant.dcast %j : tensor<4x3x!u> to tensor<4x3xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[1.5, 0.25, 3.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %s = onnx.Sub(%d, %k) : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %p = quant.qcast %s : tensor<4x3xf32> to tensor<4x3x!v>
  %e = quant.dcast %p : tensor<4x3x!v> to tensor<4x3xf32>
  %a = onnx.Relu(%e) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %t = quant.qcast %a : tensor<4x3xf32> to tensor<4x3x!v>
  %y = quant.dcast %t : tensor<4x3x!v> to tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}}
"""
"""Sub has no kernel. Written, the Relu stands in front of the quantize, and read again it left the Sub in float."""

ONE_SLICE = """
!a = !quant.uniform<u8:f32:1, {0.5:3,0.25:7,0.125}>
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x1xf32> {onnx.name = "y"},
      tensor<2x2xf32> {onnx.name = "z"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!a>
  %d = quant.dcast %q : tensor<2x3x!a> to tensor<2x3xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %s, %z = onnx.Split(%d, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>,
      tensor<2x2xf32>)
  %p = quant.qcast %s : tensor<2x1xf32> to tensor<2x1x!quant.uniform<u8:f32, 0.5:3>>
  %y = quant.dcast %p : tensor<2x1x!quant.uniform<u8:f32, 0.5:3>> to tensor<2x1xf32>
  func.return %y, %z : tensor<2x1xf32>, tensor<2x2xf32>
}}
"""
"""One scale along an axis of size 1 and one scale for all were two types."""

SIGNEDNESS = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}, %b: tensor<2x3xi1> {onnx.name = "b"})
      -> (tensor<2x3xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!i>
  %d = quant.dcast %q : tensor<2x3x!i> to tensor<2x3xf32>
  %p = quant.qcast %d : tensor<2x3xf32> to tensor<2x3x!u>
  %e = quant.dcast %p : tensor<2x3x!u> to tensor<2x3xf32>
  %y = onnx.Where(%b, %d, %e) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}}
"""
"""Casts of equal real numbers were one only after the passes that move casts."""

CLAMPED_LINE = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x3xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.007:44>>
  %d = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.007:44>> to tensor<2x3xf32>
  %h = onnx.HardSigmoid(%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = quant.qcast %h : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.0063:128>>
  %y = quant.dcast %p : tensor<2x3x!quant.uniform<u8:f32, 0.0063:128>> to tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}}
"""
"""A sum in the place of HardSigmoid had a Clip at zero behind it, which is read as a Relu."""

PER_AXIS = """
!a = !quant.uniform<u8:f32:1, {0.5:3,0.25:7}>
!w = !quant.uniform<i8:f32, 0.03>
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x2xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!u>
  %d = quant.dcast %q : tensor<2x3x!u> to tensor<2x3xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[5, -3, 7, 20, -9, 1] : tensor<3x2xi8>>} : () -> tensor<3x2x!w>
  %w = quant.dcast %k : tensor<3x2x!w> to tensor<3x2xf32>
  %m = onnx.MatMul(%d, %w) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %p = quant.qcast %m : tensor<2x2xf32> to tensor<2x2x!a>
  %e = quant.dcast %p : tensor<2x2x!a> to tensor<2x2xf32>
  %o = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %r = onnx.Clip(%e, %o, _) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %t = quant.qcast %r : tensor<2x2xf32> to tensor<2x2x!a>
  %y = quant.dcast %t : tensor<2x2x!a> to tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}}
"""
"""A product with a scale for each channel stayed in float, and was an integer product when read again."""

BRANCH = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}, %b: tensor<i1> {onnx.name = "b"})
      -> (tensor<4x3xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!u>
  %t = onnx.Concat(%q, %q) {axis = 0 : i64} : (tensor<2x3x!u>, tensor<2x3x!u>) -> tensor<4x3x!u>
  %y = onnx.If(%b) then_branch {
    %d = quant.dcast %t : tensor<4x3x!u> to tensor<4x3xf32>
    onnx.Yield(%d) : (tensor<4x3xf32>) -> ()
  } else_branch {
    %e = quant.dcast %t : tensor<4x3x!u> to tensor<4x3xf32>
    %r = onnx.Neg(%e) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    onnx.Yield(%r) : (tensor<4x3xf32>) -> ()
  } : (tensor<i1>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}}
"""
"""What a branch yields of the graph around it is copied when it is written; the copy was quantized when read again."""

CLAMPED_BRANCH = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}, %b: tensor<i1> {onnx.name = "b"})
      -> (tensor<2x3xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!u>
  %d = quant.dcast %q : tensor<2x3x!u> to tensor<2x3xf32>
  %r = onnx.If(%b) then_branch {
    %t = onnx.Relu(%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    onnx.Yield(%t) : (tensor<2x3xf32>) -> ()
  } else_branch {
    %l = onnx.Constant() {value = #onnx.tensor<[-0.5] : tensor<f32>>} : () -> tensor<f32>
    %h = onnx.Constant() {value = #onnx.tensor<[0.69] : tensor<f32>>} : () -> tensor<f32>
    %e = onnx.Clip(%d, %l, %h) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    onnx.Yield(%e) : (tensor<2x3xf32>) -> ()
  } : (tensor<i1>) -> tensor<2x3xf32>
  %p = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.004662162:107>>
  %y = quant.dcast %p : tensor<2x3x!quant.uniform<u8:f32, 0.004662162:107>> to tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}}
"""
"""Once a Clip in a branch was folded away, both branches requantized; read again, one requantize stood behind them."""

CAPTURED = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}, %b: tensor<i1> {onnx.name = "b"})
      -> (tensor<2x3xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!u>
  %d = quant.dcast %q : tensor<2x3x!u> to tensor<2x3xf32>
  %r = onnx.If(%b) then_branch {
    %t = onnx.Transpose(%d) {perm = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %w = onnx.Relu(%t) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    onnx.Yield(%w) : (tensor<2x3xf32>) -> ()
  } else_branch {
    %l = onnx.Constant() {value = #onnx.tensor<[-0.26] : tensor<f32>>} : () -> tensor<f32>
    %h = onnx.Constant() {value = #onnx.tensor<[9.0] : tensor<f32>>} : () -> tensor<f32>
    %e = onnx.Clip(%d, %l, %h) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    onnx.Yield(%e) : (tensor<2x3xf32>) -> ()
  } : (tensor<i1>) -> tensor<2x3xf32>
  %n = onnx.Exp(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!v>
  %y = quant.dcast %p : tensor<2x3x!v> to tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}}
"""
"""A Clip of the whole range goes, and its branch yields what stands outside: read again, that was copied."""

PART_OF_A_BRANCH = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}, %b: tensor<i1> {onnx.name = "b"})
      -> (tensor<3x1xf32> {onnx.name = "y"},
      tensor<2x3xf32> {onnx.name = "w"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!u>
  %w = quant.dcast %q : tensor<2x3x!u> to tensor<2x3xf32>
  %n = onnx.Transpose(%q) {perm = array<i64: 1, 0>} : (tensor<2x3x!u>) -> tensor<3x2x!u>
  %d = quant.dcast %n : tensor<3x2x!u> to tensor<3x2xf32>
  %r = onnx.If(%b) then_branch {
    %t = onnx.Relu(%d) : (tensor<3x2xf32>) -> tensor<3x2xf32>
    onnx.Yield(%t) : (tensor<3x2xf32>) -> ()
  } else_branch {
    %l = onnx.Constant() {value = #onnx.tensor<[0.011] : tensor<f32>>} : () -> tensor<f32>
    %h = onnx.Constant() {value = #onnx.tensor<[0.69] : tensor<f32>>} : () -> tensor<f32>
    %e = onnx.Clip(%d, %l, %h) : (tensor<3x2xf32>, tensor<f32>, tensor<f32>) -> tensor<3x2xf32>
    onnx.Yield(%e) : (tensor<3x2xf32>) -> ()
  } : (tensor<i1>) -> tensor<3x2xf32>
  %p = quant.qcast %r : tensor<3x2xf32> to tensor<3x2x!u>
  %f = quant.dcast %p : tensor<3x2x!u> to tensor<3x2xf32>
  %zero = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %one = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %s = onnx.Slice(%f, %zero, %one, %one) : (tensor<3x2xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
      -> tensor<3x1xf32>
  %z = quant.qcast %s : tensor<3x1xf32> to tensor<3x1x!u>
  %y = quant.dcast %z : tensor<3x1x!u> to tensor<3x1xf32>
  func.return %y, %w : tensor<3x1xf32>, tensor<2x3xf32>
}}
"""
"""A Slice stood in front of the quantize behind an If; read again, that did not reach the branches."""

SCATTERED = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}, %i: tensor<2x3xi64> {onnx.name = "i"})
      -> (tensor<3x2xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!u>
  %n = onnx.Exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!v>
  %e = quant.dcast %p : tensor<2x3x!v> to tensor<2x3xf32>
  %r = quant.qcast %e : tensor<2x3xf32> to tensor<2x3x!u>
  %s = onnx.ScatterElements(%q, %i, %r) : (tensor<2x3x!u>, tensor<2x3xi64>, tensor<2x3x!u>) -> tensor<2x3x!u>
  %t = onnx.Transpose(%s) {perm = array<i64: 1, 0>} : (tensor<2x3x!u>) -> tensor<3x2x!u>
  %y = quant.dcast %t : tensor<3x2x!u> to tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}}
"""
"""A ScatterElements of floats stood in front of its quantize, which does not go above it when read again."""

BOTH_EDGES = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x1xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!i>
  %m = onnx.ReduceMax(%q) {axes = array<i64: 1>} : (tensor<2x3x!i>) -> tensor<2x1x!i>
  %d = quant.dcast %m : tensor<2x1x!i> to tensor<2x1xf32>
  %y = onnx.Mul(%d, %d) : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  func.return %y : tensor<2x1xf32>
}}
"""
"""Of two residual edges from one value to one op, only the first had a pair."""

BATCH_NORM = """
func.func @main(%x: tensor<2x2x4xf32> {onnx.name = "x"}) -> (tensor<2x2x4xf32> {onnx.name = "y"},
      tensor<4x2x2xf32> {onnx.name = "z"}) {
  %q = quant.qcast %x : tensor<2x2x4xf32> to tensor<2x2x4x!u>
  %d = quant.dcast %q : tensor<2x2x4x!u> to tensor<2x2x4xf32>
  %g = onnx.Constant() {value = #onnx.tensor<[1.5, -0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %h = onnx.Constant() {value = #onnx.tensor<[0.25, 0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %n = onnx.BatchNormalization(%d, %g, %h, %h, %h) : (tensor<2x2x4xf32>, tensor<2xf32>, tensor<2xf32>,
      tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x4xf32>
  %p = quant.qcast %n : tensor<2x2x4xf32> to tensor<2x2x4x!v>
  %y = quant.dcast %p : tensor<2x2x4x!v> to tensor<2x2x4xf32>
  %t = onnx.Transpose(%n) {perm = array<i64: 2, 0, 1>} : (tensor<2x2x4xf32>) -> tensor<4x2x2xf32>
  %s = quant.qcast %t : tensor<4x2x2xf32> to tensor<4x2x2x!v>
  %z = quant.dcast %s : tensor<4x2x2x!v> to tensor<4x2x2xf32>
  func.return %y, %z : tensor<2x2x4xf32>, tensor<4x2x2xf32>
}}
"""
"""A BatchNormalization that every user quantizes, one behind a Transpose, became a Conv the second time."""

ONE_CHANNEL = """
func.func @main(%x: tensor<2x1x4xf32> {onnx.name = "x"}) -> (tensor<2x1x4xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x1x4xf32> to tensor<2x1x4x!u>
  %d = quant.dcast %q : tensor<2x1x4x!u> to tensor<2x1x4xf32>
  %g = onnx.Constant() {value = #onnx.tensor<[1.5] : tensor<1xf32>>} : () -> tensor<1xf32>
  %n = onnx.BatchNormalization(%d, %g, %g, %g, %g) : (tensor<2x1x4xf32>, tensor<1xf32>, tensor<1xf32>,
      tensor<1xf32>, tensor<1xf32>) -> tensor<2x1x4xf32>
  %p = quant.qcast %n : tensor<2x1x4xf32> to tensor<2x1x4x!v>
  %y = quant.dcast %p : tensor<2x1x4x!v> to tensor<2x1x4xf32>
  func.return %y : tensor<2x1x4xf32>
}}
"""
"""A weight of one channel had a list of one scale."""

JOINED = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}, %z: tensor<4x3xf32> {onnx.name = "z"},
      %b: tensor<4x3xi1> {onnx.name = "b"}) -> (tensor<4x3xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!u>
  %t = onnx.Concat(%q, %q) {axis = 0 : i64} : (tensor<2x3x!u>, tensor<2x3x!u>) -> tensor<4x3x!u>
  %n = onnx.Cos(%z) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %p = quant.qcast %n : tensor<4x3xf32> to tensor<4x3x!u>
  %r = onnx.Relu(%p) : (tensor<4x3x!u>) -> tensor<4x3x!u>
  %w = onnx.Where(%b, %r, %t) : (tensor<4x3xi1>, tensor<4x3x!u>, tensor<4x3x!u>) -> tensor<4x3x!u>
  %y = quant.dcast %w : tensor<4x3x!u> to tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}}
"""
"""A Where in front of its quantize had a pair in front of the operand that is quantized already."""

OWN_PAIRS = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x3xf32> {onnx.name = "y"}) {
  %n = onnx.Cos(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!u>
  %c = onnx.Constant() {value = #onnx.tensor<[1, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %t = onnx.Tile(%q, %c) : (tensor<2x3x!u>, tensor<2xi64>) -> tensor<2x3x!u>
  %y = onnx.Add(%t, %q) : (tensor<2x3x!u>, tensor<2x3x!u>) -> tensor<2x3x!v>
  %r = quant.dcast %y : tensor<2x3x!v> to tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}}
"""
"""A residual edge has a pair of its own for TensorRT; read again, there were two quantized tensors."""

PICKED_SCALE = """
!a = !quant.uniform<u8:f32:0, {0.5:3,0.25:7}>
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<3xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!u>
  %d = quant.dcast %q : tensor<2x3x!u> to tensor<2x3xf32>
  %i = onnx.Constant() {value = #onnx.tensor<[5, -3, 7, 20, -9, 1, 4, 4, 2] : tensor<3x3xi8>>} : ()
      -> tensor<3x3x!quant.uniform<i8:f32, 0.03>>
  %w = quant.dcast %i : tensor<3x3x!quant.uniform<i8:f32, 0.03>> to tensor<3x3xf32>
  %n = onnx.MatMul(%d, %w) : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %p = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!a>
  %k = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i64>>} : () -> tensor<i64>
  %g = onnx.Gather(%p, %k) {axis = 0 : i64} : (tensor<2x3x!a>, tensor<i64>)
      -> tensor<3x!quant.uniform<u8:f32, 0.25:7>>
  %y = quant.dcast %g : tensor<3x!quant.uniform<u8:f32, 0.25:7>> to tensor<3xf32>
  func.return %y : tensor<3xf32>
}}
"""
"""A row of several scales was quantized behind the Gather that picks it, and the whole of it when read again."""


IN_FRONT_OF_A_FLOAT = """
func.func @main(%x: tensor<1x2x4x5xf32> {onnx.name = "x"}) -> (tensor<1x2x4x5xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<1x2x4x5xf32> to tensor<1x2x4x5x!u>
  %d = quant.dcast %q : tensor<1x2x4x5x!u> to tensor<1x2x4x5xf32>
  %g = onnx.Constant() {value = #onnx.tensor<[1.5, -0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %h = onnx.Constant() {value = #onnx.tensor<[0.25, 0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %n = onnx.BatchNormalization(%d, %g, %h, %h, %h) : (tensor<1x2x4x5xf32>, tensor<2xf32>, tensor<2xf32>,
      tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x5xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[5, -3, 7, 20] : tensor<2x2x1x1xi8>>} : ()
      -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.03>>
  %w = quant.dcast %k : tensor<2x2x1x1x!quant.uniform<i8:f32, 0.03>> to tensor<2x2x1x1xf32>
  %y = onnx.Conv(%n, %w, _) : (tensor<1x2x4x5xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x5xf32>
  func.return %y : tensor<1x2x4x5xf32>
}}
"""
"""A BatchNormalization in front of a Conv folded only once its weight had been written as a float constant."""

NARROW_INPUT = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x3xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8<-7:7>:f32, 0.5:2>>
  %y = quant.dcast %q : tensor<2x3x!quant.uniform<i8<-7:7>:f32, 0.5:2>> to tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}}
"""
"""The clamp of a graph input stood in front of its quantize, and behind it when read again."""

MIXED_FOR_BRANCHES = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}, %z: tensor<2x3xf32> {onnx.name = "z"},
      %b: tensor<i1> {onnx.name = "b"}) -> (tensor<4x3xf32> {onnx.name = "y"}) {
  %n = onnx.Exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!u>
  %d = quant.dcast %q : tensor<2x3x!u> to tensor<2x3xf32>
  %o = onnx.Cos(%z) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = quant.qcast %o : tensor<2x3xf32> to tensor<2x3x!v>
  %e = quant.dcast %p : tensor<2x3x!v> to tensor<2x3xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[1, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %w = onnx.Tile(%d, %k) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %j = onnx.Concat(%w, %e) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %r = onnx.If(%b) then_branch {
    %t = onnx.Relu(%j) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    onnx.Yield(%t) : (tensor<4x3xf32>) -> ()
  } else_branch {
    %h = onnx.Constant() {value = #onnx.tensor<[0.69] : tensor<f32>>} : () -> tensor<f32>
    %c = onnx.Clip(%j, _, %h) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    onnx.Yield(%c) : (tensor<4x3xf32>) -> ()
  } : (tensor<i1>) -> tensor<4x3xf32>
  %s = quant.qcast %r : tensor<4x3xf32> to tensor<4x3x!v>
  %y = quant.dcast %s : tensor<4x3x!v> to tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}}
"""
"""A Concat that both branches quantize is quantized outside when it is written, and only then had operands alike."""

NARROW_BOUNDS = """
!n = !quant.uniform<u8<3:200>:f32, 0.02:13>
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x3xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!n>
  %d = quant.dcast %q : tensor<2x3x!n> to tensor<2x3xf32>
  %y = onnx.Neg(%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}}
"""
"""Narrow bounds are written as a Clip of the input, which stood between two pairs when read again."""

ROUNDS = """
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}, %z: tensor<2x3xf32> {onnx.name = "z"})
      -> (tensor<2x3xf32> {onnx.name = "y"}, tensor<2x3xf32> {onnx.name = "w"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!u>
  %d = quant.dcast %q : tensor<2x3x!u> to tensor<2x3xf32>
  %p = quant.qcast %d : tensor<2x3xf32> to tensor<2x3x!v>
  %e = quant.dcast %p : tensor<2x3x!v> to tensor<2x3xf32>
  %y = onnx.Scan(%e) {num_scan_inputs = 1 : i64} body {
  ^bb0(%r: tensor<3xf32>):
    %l = onnx.LeakyRelu(%r) {alpha = 0.2 : f32} : (tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield(%l) : (tensor<3xf32>) -> ()
  } : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = onnx.Exp(%z) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!v>
  %f = quant.dcast %m : tensor<2x3x!v> to tensor<2x3xf32>
  %w = onnx.Scan(%f) {num_scan_inputs = 1 : i64} body {
  ^bb0(%s: tensor<3xf32>):
    %k = onnx.Neg(%s) : (tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield(%k) : (tensor<3xf32>) -> ()
  } : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y, %w : tensor<2x3xf32>, tensor<2x3xf32>
}}
"""
"""What enters a Scan was quantized inside only: read again, it was of the type that it is requantized from, or none."""


OWN_BIAS = """
!w = !quant.uniform<i8:f32, 0.03>
!b = !quant.uniform<i32:f32, 0.007>
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x2xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!u>
  %d = quant.dcast %q : tensor<2x3x!u> to tensor<2x3xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[5, -3, 7, 20, -9, 1] : tensor<3x2xi8>>} : () -> tensor<3x2x!w>
  %w = quant.dcast %k : tensor<3x2x!w> to tensor<3x2xf32>
  %i = onnx.Constant() {value = #onnx.tensor<[100, -30] : tensor<2xi32>>} : () -> tensor<2x!b>
  %b = quant.dcast %i : tensor<2x!b> to tensor<2xf32>
  %y = onnx.Gemm(%d, %w, %b) : (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}}
"""
"""A bias in steps of its own was dequantized in each run, and a float constant when read again."""


def parse(text: str) -> ModuleOp:
    context = full_context()
    types = "".join(f"{line}\n" for line in text.splitlines() if line.startswith("!"))
    body = "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("!"))
    return parse_module(context, types + HEAD + body, "test", None)


LARGEST_OF_ROWS = """
func.func @main(%x: tensor<1x64x128xf32> {onnx.name = "x"}) -> (tensor<1x64xf32> {onnx.name = "y"}) {
  %q = quant.qcast %x : tensor<1x64x128xf32> to tensor<1x64x128x!u>
  %d = quant.dcast %q : tensor<1x64x128x!u> to tensor<1x64x128xf32>
  %m = onnx.ReduceMax(%d, _) {axes = array<i64: 2>, keepdims = 0 : i64} : (tensor<1x64x128xf32>) -> tensor<1x64xf32>
  %p = quant.qcast %m : tensor<1x64xf32> to tensor<1x64x!u>
  %y = quant.dcast %p : tensor<1x64x!u> to tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}}
"""
"""A Reshape behind a pool whose Transpose keeps the order, read again, got another list of sizes, by another name."""


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (ACTIVATION, "generic"),
        (ONE_SLICE, "onnxruntime"),
        (SIGNEDNESS, "onnxruntime"),
        (PER_AXIS, "onnxruntime"),
        (CLAMPED_LINE, "onnxruntime"),
        (BRANCH, "generic"),
        (CLAMPED_BRANCH, "generic"),
        (CAPTURED, "generic"),
        (PART_OF_A_BRANCH, "generic"),
        (SCATTERED, "generic"),
        (BOTH_EDGES, "tensorrt"),
        (BATCH_NORM, "onnxruntime"),
        (ONE_CHANNEL, "onnxruntime"),
        (JOINED, "generic"),
        (OWN_PAIRS, "tensorrt"),
        (PICKED_SCALE, "generic"),
        (IN_FRONT_OF_A_FLOAT, "onnxruntime"),
        (NARROW_INPUT, "generic"),
        (OWN_BIAS, "onnxruntime"),
        (MIXED_FOR_BRANCHES, "generic"),
        (NARROW_BOUNDS, "generic"),
        (ROUNDS, "generic"),
        (LARGEST_OF_ROWS, "onnxruntime"),
    ],
)
def test_twice_is_once(text: str, target: str):
    module = parse(text)
    compile(module, target)
    first = export_model(module)
    assert ("com.microsoft" in {n.domain for n in first.graph.node}) == (len(first.opset_import) > 1)
    again = import_model(export_model(module))
    compile(again, target)
    assert difference(first, export_model(again)) == ""
