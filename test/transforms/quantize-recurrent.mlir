// RUN: OPT %s -p 'quantize-recurrent{least=2}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'quantize-recurrent{least=2}'

// 8 columns of 3 and of 2: column k of W holds 127 times its scale, 2**-k, in one place.

// CHECK-LABEL: func.func @lstm(
// CHECK-DAG: #onnx.tensor<[127, 64, 0, 0, 0, 0, 0, 0, 0, -127, 0, 0, 0, 0, 0, 0, 0, 0, 127, 127, 127, 127, 127, 127] : tensor<1x3x8xi8>>
// CHECK-DAG: #onnx.tensor<[1.0, 0.5, 0.25, 0.125, 1.0, 1.0, 1.0, 1.0] : tensor<1x8xf32>>
// CHECK: onnx_ms.DynamicQuantizeLSTM(%x, %{{.*}}, %{{.*}}, %b, _, _, _, _, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {hidden_size = 2 : i64} : {{.*}} -> tensor<5x1x4x2xf32>
func.func @lstm(%x: tensor<5x4x3xf32>, %b: tensor<1x16xf32>) -> tensor<5x1x4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[127.0, 0.0, 0.0, 32.0, -63.5, 0.0, 0.0, 0.0, 31.75, 0.0, 0.0, 15.875, 0.0, 0.0, 127.0, 0.0, 0.0, 127.0, 0.0, 0.0, 127.0, 0.0, 0.0, 127.0] : tensor<1x8x3xf32>>} : () -> tensor<1x8x3xf32>
  %r = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0] : tensor<1x8x2xf32>>} : () -> tensor<1x8x2xf32>
  %y = onnx.LSTM(%x, %w, %r, %b) {hidden_size = 2 : i64} : (tensor<5x4x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>, tensor<1x16xf32>) -> tensor<5x1x4x2xf32>
  func.return %y : tensor<5x1x4x2xf32>
}

// CHECK-LABEL: func.func @unmoved_float_is_faster(
// CHECK: onnx.LSTM(
func.func @unmoved_float_is_faster(%x: tensor<5x4x3xf32>) -> tensor<5x1x4x1xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0] : tensor<1x4x3xf32>>} : () -> tensor<1x4x3xf32>
  %r = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0] : tensor<1x4x1xf32>>} : () -> tensor<1x4x1xf32>
  // expected-remark@+1 {{with less than 2 hidden units the float kernel is faster [quantize-recurrent: float-faster]}}
  %y = onnx.LSTM(%x, %w, %r) {hidden_size = 1 : i64} : (tensor<5x4x3xf32>, tensor<1x4x3xf32>, tensor<1x4x1xf32>) -> tensor<5x1x4x1xf32>
  func.return %y : tensor<5x1x4x1xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_weight(
// CHECK: onnx.LSTM(
func.func @unmoved_computed_weight(%x: tensor<5x4x3xf32>, %w: tensor<1x8x3xf32>, %r: tensor<1x8x2xf32>) -> tensor<5x1x4x2xf32> {
  // expected-remark@+1 {{a weight is computed, or not finite [quantize-recurrent: computed-parameter]}}
  %y = onnx.LSTM(%x, %w, %r) {hidden_size = 2 : i64} : (tensor<5x4x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>) -> tensor<5x1x4x2xf32>
  func.return %y : tensor<5x1x4x2xf32>
}

// CHECK-LABEL: func.func @unmoved_batch_first(
// CHECK: onnx.LSTM(
func.func @unmoved_batch_first(%x: tensor<4x5x3xf32>, %w: tensor<1x8x3xf32>, %r: tensor<1x8x2xf32>) -> tensor<4x5x1x2xf32> {
  // expected-remark@+1 {{the kernel takes the time axis first, the op has the batch axis first; export the model with layout 0 [quantize-recurrent: recurrent-form]}}
  %y = onnx.LSTM(%x, %w, %r) {hidden_size = 2 : i64, layout = 1 : i64} : (tensor<4x5x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>) -> tensor<4x5x1x2xf32>
  func.return %y : tensor<4x5x1x2xf32>
}

// CHECK-LABEL: func.func @unmoved_element_type(
// CHECK: onnx.LSTM(
func.func @unmoved_element_type(%x: tensor<5x4x3xf16>, %w: tensor<1x8x3xf16>, %r: tensor<1x8x2xf16>) -> tensor<5x1x4x2xf16> {
  // expected-remark@+1 {{only LSTM in f32 is quantized [quantize-recurrent: expressed-type]}}
  %y = onnx.LSTM(%x, %w, %r) {hidden_size = 2 : i64} : (tensor<5x4x3xf16>, tensor<1x8x3xf16>, tensor<1x8x2xf16>) -> tensor<5x1x4x2xf16>
  func.return %y : tensor<5x1x4x2xf16>
}
