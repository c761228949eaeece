// RUN: OPT %s -p 'raise-qdq{clamped=true}' | FILECHECK %s

// What is clamped to the ends of a type of 16 bits is quantized as it is: -0.25 * 32770 and 0.25 * 32765.

// CHECK-LABEL: func.func @clamped(
// CHECK: quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i16:f32, 0.25:2>>
func.func @clamped(%x: tensor<2x3xf32>) -> tensor<2x3xi16> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[2] : tensor<i16>>} : () -> tensor<i16>
  %l = onnx.Constant() {value = #onnx.tensor<[-8192.5] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[8191.25] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Clip(%x, %l, %h) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %q = onnx.QuantizeLinear(%c, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<i16>) -> tensor<2x3xi16>
  func.return %q : tensor<2x3xi16>
}

// Of several scales the clamp is a Max and a Min.

// CHECK-LABEL: func.func @of_several_scales(
// CHECK: quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u16:f32:0, {0.25:4,0.5:2}>>
func.func @of_several_scales(%x: tensor<2x3xf32>) -> tensor<2x3xui16> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25, 0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %z = onnx.Constant() {value = #onnx.tensor<[4, 2] : tensor<2xui16>>} : () -> tensor<2xui16>
  %l = onnx.Constant() {value = #onnx.tensor<[-1.0, -1.0] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %h = onnx.Constant() {value = #onnx.tensor<[16382.75, 32766.5] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %m = onnx.Max(%x, %l) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %c = onnx.Min(%m, %h) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %q = onnx.QuantizeLinear(%c, %s, %z) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xf32>, tensor<2xui16>) -> tensor<2x3xui16>
  func.return %q : tensor<2x3xui16>
}

// A clamp to less than the type's range, one of bytes, and one that others read besides stay.

// CHECK-LABEL: func.func @unmoved_narrower(
// CHECK: %[[C:.*]] = onnx.Clip(%x,
// CHECK-NEXT: quant.qcast %[[C]]
func.func @unmoved_narrower(%x: tensor<2x3xf32>) -> tensor<2x3xi16> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[2] : tensor<i16>>} : () -> tensor<i16>
  %l = onnx.Constant() {value = #onnx.tensor<[-8192.5] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[8191.0] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Clip(%x, %l, %h) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %q = onnx.QuantizeLinear(%c, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<i16>) -> tensor<2x3xi16>
  func.return %q : tensor<2x3xi16>
}

// CHECK-LABEL: func.func @unmoved_bytes(
// CHECK: %[[C:.*]] = onnx.Clip(%x,
// CHECK-NEXT: quant.qcast %[[C]]
func.func @unmoved_bytes(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[2] : tensor<i8>>} : () -> tensor<i8>
  %l = onnx.Constant() {value = #onnx.tensor<[-32.5] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[31.25] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Clip(%x, %l, %h) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %q = onnx.QuantizeLinear(%c, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  func.return %q : tensor<2x3xi8>
}

// CHECK-LABEL: func.func @unmoved_read_twice(
// CHECK: %[[C:.*]] = onnx.Clip(%x,
// CHECK-NEXT: quant.qcast %[[C]]
func.func @unmoved_read_twice(%x: tensor<2x3xf32>) -> (tensor<2x3xi16>, tensor<2x3xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[2] : tensor<i16>>} : () -> tensor<i16>
  %l = onnx.Constant() {value = #onnx.tensor<[-8192.5] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[8191.25] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Clip(%x, %l, %h) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %q = onnx.QuantizeLinear(%c, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<i16>) -> tensor<2x3xi16>
  func.return %q, %c : tensor<2x3xi16>, tensor<2x3xf32>
}
