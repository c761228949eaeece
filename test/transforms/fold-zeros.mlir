// RUN: OPT %s -p fold-zeros | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-zeros

// Zeros of a size that is computed, cut out of more.

// CHECK-LABEL: func.func @computed_sizes(
// CHECK-NEXT: %[[Y:.*]] = onnx.LSTM(%x, %w, %r, _, _, _, _, _) {hidden_size = 2 : i64}
// CHECK-NEXT: func.return %[[Y]]
func.func @computed_sizes(%x: tensor<5x?x3xf32>, %w: tensor<1x8x3xf32>, %r: tensor<1x8x2xf32>, %s: tensor<3xi64>) -> tensor<5x1x?x2xf32> {
  %from = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %to = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %z = onnx.ConstantOfShape(%s) : (tensor<3xi64>) -> tensor<4x?x2xf32>
  %h = onnx.Slice(%z, %from, %to) : (tensor<4x?x2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x?x2xf32>
  %y = onnx.LSTM(%x, %w, %r, _, _, %h, %h) {hidden_size = 2 : i64} : (tensor<5x?x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>, tensor<1x?x2xf32>, tensor<1x?x2xf32>) -> tensor<5x1x?x2xf32>
  func.return %y : tensor<5x1x?x2xf32>
}

// A constant; what is behind it stays.

// CHECK-LABEL: func.func @constant(
// CHECK: onnx.LSTM(%x, %w, %r, _, _, _, %c, _) {hidden_size = 2 : i64}
func.func @constant(%x: tensor<5x1x3xf32>, %w: tensor<1x8x3xf32>, %r: tensor<1x8x2xf32>, %c: tensor<1x1x2xf32>) -> tensor<5x1x1x2xf32> {
  %h = onnx.Constant() {value = #onnx.tensor<[0.0, 0.0] : tensor<1x1x2xf32>>} : () -> tensor<1x1x2xf32>
  %y = onnx.LSTM(%x, %w, %r, _, _, %h, %c) {hidden_size = 2 : i64} : (tensor<5x1x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<5x1x1x2xf32>
  func.return %y : tensor<5x1x1x2xf32>
}

// Zeros of a recurrent op on integers.

// CHECK-LABEL: func.func @dynamic(
// CHECK: onnx_ms.DynamicQuantizeLSTM(%x, %w, %r, _, _, _, _, _, %ws, %wz, %rs, %rz)
func.func @dynamic(%x: tensor<2x3x4xf32>, %w: tensor<1x4x20xi8>, %r: tensor<1x5x20xi8>, %ws: tensor<1x20xf32>, %wz: tensor<1x20xi8>, %rs: tensor<1x20xf32>, %rz: tensor<1x20xi8>, %s: tensor<3xi64>) -> tensor<2x1x3x5xf32> {
  %h = onnx.ConstantOfShape(%s) : (tensor<3xi64>) -> tensor<1x3x5xf32>
  %y = onnx_ms.DynamicQuantizeLSTM(%x, %w, %r, _, _, %h, %h, _, %ws, %wz, %rs, %rz) {hidden_size = 5 : i64} : (tensor<2x3x4xf32>, tensor<1x4x20xi8>, tensor<1x5x20xi8>, tensor<1x3x5xf32>, tensor<1x3x5xf32>, tensor<1x20xf32>, tensor<1x20xi8>, tensor<1x20xf32>, tensor<1x20xi8>) -> tensor<2x1x3x5xf32>
  func.return %y : tensor<2x1x3x5xf32>
}

// CHECK-LABEL: func.func @unmoved_ones(
// CHECK: %[[H:.*]] = onnx.ConstantOfShape(%s)
// CHECK: onnx.GRU(%x, %w, %r, _, _, %[[H]])
func.func @unmoved_ones(%x: tensor<5x1x3xf32>, %w: tensor<1x6x3xf32>, %r: tensor<1x6x2xf32>, %s: tensor<3xi64>) -> tensor<5x1x1x2xf32> {
  %h = onnx.ConstantOfShape(%s) {value = #onnx.tensor<[1.0] : tensor<1xf32>>} : (tensor<3xi64>) -> tensor<1x1x2xf32>
  %y = onnx.GRU(%x, %w, %r, _, _, %h) {hidden_size = 2 : i64} : (tensor<5x1x3xf32>, tensor<1x6x3xf32>, tensor<1x6x2xf32>, tensor<1x1x2xf32>) -> tensor<5x1x1x2xf32>
  func.return %y : tensor<5x1x1x2xf32>
}

// Results that nobody reads, from the last one on.

// CHECK-LABEL: func.func @unread(
// CHECK-NEXT: %[[Y:.*]] = onnx.MaxPool(%x) {{.*}} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x3xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @unread(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x4x3xf32> {
  %y, %i = onnx.MaxPool(%x) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x5x4xf32>) -> (tensor<1x2x4x3xf32>, tensor<1x2x4x3xi64>)
  func.return %y : tensor<1x2x4x3xf32>
}

// CHECK-LABEL: func.func @unmoved_read(
// CHECK-NEXT: %{{.*}}, %[[I:.*]] = onnx.MaxPool(%x)
// CHECK-NEXT: func.return %[[I]]
func.func @unmoved_read(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x4x3xi64> {
  %y, %i = onnx.MaxPool(%x) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x5x4xf32>) -> (tensor<1x2x4x3xf32>, tensor<1x2x4x3xi64>)
  func.return %i : tensor<1x2x4x3xi64>
}

// More results than one mean training, of other statistics; newer opsets ask for all three.

// CHECK-LABEL: func.func @unmoved_training(
// CHECK-NEXT: %[[Y:.*]], %{{.*}}, %{{.*}} = onnx.BatchNormalization(%x
// CHECK-NEXT: func.return %[[Y]]
func.func @unmoved_training(%x: tensor<3x4x5x2xf32>, %s: tensor<4xf32>) -> tensor<3x4x5x2xf32> {
  %y, %m, %v = onnx.BatchNormalization(%x, %s, %s, %s, %s) {training_mode = 1 : i64} : (tensor<3x4x5x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<3x4x5x2xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return %y : tensor<3x4x5x2xf32>
}

// onnxruntime's kernel without indices refuses the pads of windows that skip the last elements; others are as above.

// CHECK-LABEL: func.func @unmoved_skipping(
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = onnx.MaxPool(%x)
// CHECK-NEXT: func.return %[[Y]]
func.func @unmoved_skipping(%x: tensor<1x2x6x6xf32>) -> tensor<1x2x2x3xf32> {
  %y, %i = onnx.MaxPool(%x) {auto_pad = "SAME_UPPER", kernel_shape = array<i64: 2, 2>, strides = array<i64: 3, 2>} : (tensor<1x2x6x6xf32>) -> (tensor<1x2x2x3xf32>, tensor<1x2x2x3xi64>)
  func.return %y : tensor<1x2x2x3xf32>
}

// CHECK-LABEL: func.func @unread_same(
// CHECK-NEXT: %[[Y:.*]] = onnx.MaxPool(%x)
// CHECK-NEXT: func.return %[[Y]]
func.func @unread_same(%x: tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32> {
  %y, %i = onnx.MaxPool(%x) {auto_pad = "SAME_UPPER", kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x6x6xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xi64>)
  func.return %y : tensor<1x2x3x3xf32>
}

// One zero point in place of one for each channel: 120 and 124 become 122, the differences to them stay.

// CHECK-LABEL: func.func @zero_points(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[3, 252, 8, 197] : tensor<2x1x1x2xui8>>}
// CHECK: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[122] : tensor<ui8>>}
// CHECK: onnx.ConvInteger(%x, %[[W]], %z, %[[Z]])
func.func @zero_points(%x: tensor<1x1x3x3xui8>, %z: tensor<ui8>) -> tensor<1x2x3x2xi32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 250, 10, 199] : tensor<2x1x1x2xui8>>} : () -> tensor<2x1x1x2xui8>
  %zeros = onnx.Constant() {value = #onnx.tensor<[120, 124] : tensor<2xui8>>} : () -> tensor<2xui8>
  %y = onnx.ConvInteger(%x, %w, %z, %zeros) : (tensor<1x1x3x3xui8>, tensor<2x1x1x2xui8>, tensor<ui8>, tensor<2xui8>) -> tensor<1x2x3x2xi32>
  func.return %y : tensor<1x2x3x2xi32>
}

// Too far apart; and columns of a MatMulInteger, which may have their own.

// CHECK-LABEL: func.func @unmoved_zero_points(
// CHECK: onnx.ConvInteger(%x, %{{.*}}, %z, %[[Z:.*]]) : {{.*}}tensor<2xui8>)
// CHECK: onnx.MatMulInteger(%a, %{{.*}}, %z, %[[Z]]) : {{.*}}tensor<2xui8>)
func.func @unmoved_zero_points(%x: tensor<1x1x3x3xui8>, %a: tensor<3x2xui8>, %z: tensor<ui8>) -> (tensor<1x2x3x2xi32>, tensor<3x2xi32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[0, 255, 0, 255] : tensor<2x1x1x2xui8>>} : () -> tensor<2x1x1x2xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xui8>>} : () -> tensor<2x2xui8>
  %zeros = onnx.Constant() {value = #onnx.tensor<[120, 124] : tensor<2xui8>>} : () -> tensor<2xui8>
  // expected-remark@+1 {{the zero points of the weight differ too much for one common zero point [fold-zeros: zero-point]}}
  %y = onnx.ConvInteger(%x, %w, %z, %zeros) : (tensor<1x1x3x3xui8>, tensor<2x1x1x2xui8>, tensor<ui8>, tensor<2xui8>) -> tensor<1x2x3x2xi32>
  %m = onnx.MatMulInteger(%a, %v, %z, %zeros) : (tensor<3x2xui8>, tensor<2x2xui8>, tensor<ui8>, tensor<2xui8>) -> tensor<3x2xi32>
  func.return %y, %m : tensor<1x2x3x2xi32>, tensor<3x2xi32>
}
