// RUN: OPT %s -p raise-arithmetic | FILECHECK %s

// A constant without elements has no smallest one: the product stays, what rounds its result is read.

// CHECK-LABEL: func.func @product(
// CHECK: %y = onnx.MatMul(%x, %w)
// CHECK: quant.qcast %y
func.func @product(%x: tensor<2x0xf32>) -> tensor<2x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[] : tensor<0x3xf32>>} : () -> tensor<0x3xf32>
  %low = onnx.Constant() {value = #onnx.tensor<[-128.0] : tensor<f32>>} : () -> tensor<f32>
  %high = onnx.Constant() {value = #onnx.tensor<[127.0] : tensor<f32>>} : () -> tensor<f32>
  %y = onnx.MatMul(%x, %w) : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %round = onnx.Round(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %clip = onnx.Clip(%round, %low, %high) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %clip : tensor<2x3xf32>
}
