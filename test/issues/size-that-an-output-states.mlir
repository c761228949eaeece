// RUN: OPT %s -p raise-qdq | FILECHECK %s
// RUN: OPT %s -p raise-qdq,lower-to-qdq | FILECHECK %s --check-prefix=BACK

// The model states a size of its output that its input leaves open. A cast has one shape on both sides.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: -> tensor<?x3xf32>
// CHECK: quant.dcast {{.*}} to tensor<?x3xf32>
// BACK: onnx.DequantizeLinear({{.*}} -> tensor<?x3xf32>
func.func @main(%x: tensor<?x3xf32>) -> tensor<5x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.1] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[3] : tensor<ui8>>} : () -> tensor<ui8>
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<?x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x3xui8>
  %y = onnx.DequantizeLinear(%q, %s, %z) : (tensor<?x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}
