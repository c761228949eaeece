// RUN: OPT %s -p lower-to-qdq,guard-session | FILECHECK %s

// No QuantizeLinear gives i32, and not every i32 survives the way through float: what was moved is read as it was.
// A Sum keeps a session from a quantize of its own behind the Transpose.

!x = !quant.uniform<i32:f32, 0.02>

// CHECK-LABEL: func.func @main(
// CHECK: %[[R:.*]] = onnx.DequantizeLinear(%x,
// CHECK-NEXT: %[[S:.*]] = onnx.Sum(%[[R]])
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[S]])
// CHECK-NEXT: %[[Y:.*]] = onnx.Relu(%[[T]])
// CHECK-NEXT: func.return %[[Y]]
func.func @main(%x: tensor<2x3xi32>) -> tensor<3x2xf32> {
  %q = quant.scast %x : tensor<2x3xi32> to tensor<2x3x!x>
  %t = onnx.Transpose(%q) {perm = array<i64: 1, 0>} : (tensor<2x3x!x>) -> tensor<3x2x!x>
  %r = onnx.Relu(%t) : (tensor<3x2x!x>) -> tensor<3x2x!x>
  %y = quant.dcast %r : tensor<3x2x!x> to tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}
