// RUN: OPT %s -p 'insert-casts{target=generic}' | FILECHECK %s

// The unused product went, and with it the pair in front of it, which the other product was to read.

// CHECK-LABEL: func.func @unused(
// CHECK: %[[REAL:.*]] = quant.dcast %{{.*}} : tensor<5x3x!quant.uniform<u8:f32, 0.011764706:85>> to tensor<5x3xf32>
// CHECK: onnx.MatMul(%[[REAL]], %{{.*}}) : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
// CHECK-NOT: onnx.Softplus
func.func @unused(%x: tensor<5x3xf32> {qdialect.range = array<f64: -1.0, 2.0>}) -> tensor<5x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 4.0, 5.0, -6.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %v = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, -3.0, 4.0, 5.0, -6.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %a = onnx.MatMul(%x, %w) attributes {qdialect.range = array<f64: -3.0, 4.0>} : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  %b = onnx.Softplus(%a) attributes {qdialect.range = array<f64: 0.0, 4.0>} : (tensor<5x2xf32>) -> tensor<5x2xf32>
  %y = onnx.MatMul(%x, %v) attributes {qdialect.range = array<f64: -3.0, 5.0>} : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  func.return %y : tensor<5x2xf32>
}
