// RUN: OPT %s -p raise-arithmetic | FILECHECK %s

// Only the graph says the rank of what its last op quantizes: the casts that stand for it have it.

// CHECK-LABEL: func.func @squeezed(
// CHECK-SAME: -> tensor<?x?xf32> {
// CHECK: %f = onnx.Squeeze(%x, _) : (tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %f : tensor<?x?xf32>
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[Q]] : {{.*}} to tensor<?x?xf32>
func.func @squeezed(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %low = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %high = onnx.Constant() {value = #onnx.tensor<[255.0] : tensor<f32>>} : () -> tensor<f32>
  %f = onnx.Squeeze(%x) : (tensor<?x?xf32>) -> tensor<*xf32>
  %a = onnx.Div(%f, %s) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %b = onnx.Round(%a) : (tensor<*xf32>) -> tensor<*xf32>
  %c = onnx.Clip(%b, %low, %high) : (tensor<*xf32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  %y = onnx.Mul(%c, %s) : (tensor<*xf32>, tensor<f32>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}
