// RUN: OPT %s -p 'lower-to-qdq{target=tensorrt}' | FILECHECK %s

!x = !quant.uniform<i8:f32, 0.02>
!n = !quant.uniform<i8<-7:100>:f32, 0.5>
!c = !quant.uniform<i8<-7:7>:f32:0, {0.5,0.25}>

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// Storage bounds are a clamp of reals in front: nothing stands inside a pair.

// CHECK-LABEL: func.func @narrow_storage(
// CHECK-DAG: %[[L:.*]] = onnx.Constant() {value = #onnx.tensor<[-3.5] : tensor<f32>>}
// CHECK-DAG: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[50.0] : tensor<f32>>}
// CHECK: %[[C:.*]] = onnx.Clip(%x, %[[L]], %[[H]])
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[C]],
// CHECK-NEXT: onnx.DequantizeLinear(%[[Q]],
func.func @narrow_storage(%x: tensor<3xf32>) -> tensor<3xf32> {
  %p = quant.qcast %x : tensor<3xf32> to tensor<3x!n>
  %u = quant.dcast %p : tensor<3x!n> to tensor<3xf32>
  func.return %u : tensor<3xf32>
}

// A residual edge has a pair of its own, also where the other reader is the graph's end.

// CHECK-LABEL: func.func @residual(
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%x,
// CHECK-NEXT: %[[A:.*]] = onnx.DequantizeLinear(%[[Q]],
// CHECK: %[[P:.*]] = onnx.QuantizeLinear(%x,
// CHECK-NEXT: %[[B:.*]] = onnx.DequantizeLinear(%[[P]],
// CHECK: %[[S:.*]] = onnx.Add(%[[A]], %y)
// CHECK: func.return %[[B]], %[[S]]
func.func @residual(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %p = quant.qcast %x : tensor<3xf32> to tensor<3x!x>
  %u = quant.dcast %p : tensor<3x!x> to tensor<3xf32>
  %s = onnx.Add(%u, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %u, %s : tensor<3xf32>, tensor<3xf32>
}

// Bounds that are other reals in each channel stay a clamp of integers.

// CHECK-LABEL: func.func @unchanged_per_axis(
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%x,
// CHECK: %[[C:.*]] = onnx.Clip(%[[Q]],
// CHECK-NEXT: onnx.DequantizeLinear(%[[C]],
func.func @unchanged_per_axis(%x: tensor<2xf32>) -> tensor<2xf32> {
  %p = quant.qcast %x : tensor<2xf32> to tensor<2x!c>
  %u = quant.dcast %p : tensor<2x!c> to tensor<2xf32>
  func.return %u : tensor<2xf32>
}

}
