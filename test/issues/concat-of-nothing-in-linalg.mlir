// RUN: OPT %s -p lower-to-linalg | FILECHECK %s

// A Concat of operands none of which has an element gives a tensor without one.

// CHECK-LABEL: func.func @nothing(
// CHECK: tensor.empty() : tensor<2x0xf32>
func.func @nothing(%a: tensor<2x0xf32>, %b: tensor<2x0xf32>) -> tensor<2x0xf32> {
  %y = onnx.Concat(%a, %b) {axis = 1 : i64} : (tensor<2x0xf32>, tensor<2x0xf32>) -> tensor<2x0xf32>
  func.return %y : tensor<2x0xf32>
}
