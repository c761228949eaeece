// RUN: OPT %s -p 'lower-to-qdq{target=tensorrt}' | FILECHECK %s

!x = !quant.uniform<i8:f32, 0.02>
!y = !quant.uniform<i8:f32, 0.5>
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
// CHECK: %[[P:.*]] = onnx.QuantizeLinear(%x,
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%x,
// CHECK-NEXT: %[[A:.*]] = onnx.DequantizeLinear(%[[Q]],
// CHECK-NEXT: %[[S:.*]] = onnx.Add(%[[A]], %y)
// CHECK-NEXT: %[[B:.*]] = onnx.DequantizeLinear(%[[P]],
// CHECK-NEXT: func.return %[[B]], %[[S]]
func.func @residual(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %p = quant.qcast %x : tensor<3xf32> to tensor<3x!x>
  %u = quant.dcast %p : tensor<3x!x> to tensor<3xf32>
  %s = onnx.Add(%u, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %u, %s : tensor<3xf32>, tensor<3xf32>
}

// Where only residual edges read it, the cast that they shared is gone, and so is what it read.

// CHECK-LABEL: func.func @residuals(
// CHECK: %[[P:.*]] = onnx.QuantizeLinear(%x,
// CHECK-NEXT: %[[A:.*]] = onnx.DequantizeLinear(%[[P]],
// CHECK-NEXT: %[[S:.*]] = onnx.Add(%[[A]], %y)
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%x,
// CHECK-NEXT: %[[B:.*]] = onnx.DequantizeLinear(%[[Q]],
// CHECK-NEXT: %[[T:.*]] = onnx.Sub(%[[B]], %y)
// CHECK-NEXT: func.return %[[S]], %[[T]]
func.func @residuals(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %p = quant.qcast %x : tensor<3xf32> to tensor<3x!x>
  %u = quant.dcast %p : tensor<3x!x> to tensor<3xf32>
  %s = onnx.Add(%u, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %t = onnx.Sub(%u, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %s, %t : tensor<3xf32>, tensor<3xf32>
}

// Integers that come in, moved and read, are dequantized once; a pair would only complete nothing.

// CHECK-LABEL: func.func @integers(
// CHECK: %[[A:.*]] = onnx.DequantizeLinear(%x,
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[A]])
// CHECK: %[[M:.*]] = onnx.MatMul(%[[T]], %{{.*}})
// CHECK-NEXT: onnx.QuantizeLinear(%[[M]],
func.func @integers(%x: tensor<2x3xi8>) -> tensor<3x3xf32> {
  %p = quant.scast %x : tensor<2x3xi8> to tensor<2x3x!x>
  %t = onnx.Transpose(%p) {perm = array<i64: 1, 0>} : (tensor<2x3x!x>) -> tensor<3x2x!x>
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3x!x>
  %m = onnx.MatMul(%t, %v) : (tensor<3x2x!x>, tensor<2x3x!x>) -> tensor<3x3x!x>
  %r = quant.dcast %m : tensor<3x3x!x> to tensor<3x3xf32>
  func.return %r : tensor<3x3xf32>
}

// What is requantized only to be joined is quantized once, behind.

// CHECK-LABEL: func.func @joined(
// CHECK: %[[P:.*]] = onnx.DequantizeLinear(
// CHECK: %[[Q:.*]] = onnx.DequantizeLinear(
// CHECK-NEXT: %[[C:.*]] = onnx.Concat(%[[P]], %[[Q]])
// CHECK-NEXT: onnx.QuantizeLinear(%[[C]],
func.func @joined(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<6xf32> {
  %q = quant.qcast %y : tensor<3xf32> to tensor<3x!y>
  %u = quant.dcast %q : tensor<3x!y> to tensor<3xf32>
  %a = onnx.Sigmoid(%x) : (tensor<3xf32>) -> tensor<3x!x>
  %b = quant.qcast %u : tensor<3xf32> to tensor<3x!x>
  %c = onnx.Concat(%a, %b) {axis = 0 : i64} : (tensor<3x!x>, tensor<3x!x>) -> tensor<6x!x>
  %r = quant.dcast %c : tensor<6x!x> to tensor<6xf32>
  func.return %r : tensor<6xf32>
}

// Both of one other type: joined in that and requantized behind would not be what was read.

// CHECK-LABEL: func.func @unchanged_one_type(
// CHECK: %[[P:.*]] = onnx.DequantizeLinear(
// CHECK-NEXT: %[[A:.*]] = onnx.QuantizeLinear(%[[P]],
// CHECK: %[[Q:.*]] = onnx.DequantizeLinear(
// CHECK-NEXT: %[[C:.*]] = onnx.QuantizeLinear(%[[Q]],
// CHECK: %[[B:.*]] = onnx.DequantizeLinear(%[[A]],
// CHECK: %[[D:.*]] = onnx.DequantizeLinear(%[[C]],
// CHECK: onnx.Concat(%[[B]], %[[D]])
func.func @unchanged_one_type(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<6xf32> {
  %p = quant.qcast %x : tensor<3xf32> to tensor<3x!y>
  %q = quant.qcast %y : tensor<3xf32> to tensor<3x!y>
  %t = quant.dcast %p : tensor<3x!y> to tensor<3xf32>
  %u = quant.dcast %q : tensor<3x!y> to tensor<3xf32>
  %a = quant.qcast %t : tensor<3xf32> to tensor<3x!x>
  %b = quant.qcast %u : tensor<3xf32> to tensor<3x!x>
  %c = onnx.Concat(%a, %b) {axis = 0 : i64} : (tensor<3x!x>, tensor<3x!x>) -> tensor<6x!x>
  %r = quant.dcast %c : tensor<6x!x> to tensor<6xf32>
  func.return %r : tensor<6xf32>
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

// Integers of 16 bits have no Clip: their bounds are reals in front, for each channel.

// CHECK-LABEL: func.func @wide_per_axis(
// CHECK: %[[L:.*]] = onnx.Constant() {value = #onnx.tensor<[-256.0, -128.0] : tensor<2x1xf32>>}
// CHECK: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[255.5, 127.75] : tensor<2x1xf32>>}
// CHECK: %[[M:.*]] = onnx.Max(%x, %[[L]])
// CHECK: %[[N:.*]] = onnx.Min(%[[M]], %[[H]])
// CHECK: %[[Q:.*]] = {{.*}}QuantizeLinear(%[[N]],
// CHECK-NEXT: {{.*}}DequantizeLinear(%[[Q]],
func.func @wide_per_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %p = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i16<-512:511>:f32:0, {0.5,0.25}>>
  %u = quant.dcast %p : tensor<2x3x!quant.uniform<i16<-512:511>:f32:0, {0.5,0.25}>> to tensor<2x3xf32>
  func.return %u : tensor<2x3xf32>
}
