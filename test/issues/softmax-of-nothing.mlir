// RUN: OPT %s -p raise-opset | FILECHECK %s

// A Reshape to a size of 0 would copy a size; along whichever axis, the softmax of no elements is the same.

// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT: %y = onnx.Softmax(%x) {axis = -1 : i64} : (tensor<1x4x0xf32>) -> tensor<1x4x0xf32>
builtin.module attributes {onnx.opset_import = {ai.onnx = 11 : i64}} {
  func.func @softmax(%x: tensor<1x4x0xf32>) -> tensor<1x4x0xf32> {
    %y = onnx.Softmax(%x) : (tensor<1x4x0xf32>) -> tensor<1x4x0xf32>
    func.return %y : tensor<1x4x0xf32>
  }
}
