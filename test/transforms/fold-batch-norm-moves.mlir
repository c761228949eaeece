// RUN: OPT %s -p fold-batch-norm | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-batch-norm

// As channels-last models are exported: the bias, and the factors of a batch normalization, behind the Transpose.

// CHECK-LABEL: func.func @channels_last(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32:0, {0.5,0.125}>>
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[8.0, 4.0] : tensor<2xf32>>}
// CHECK: %[[Y:.*]] = onnx.Conv(%x, %{{.*}}, %[[B]]) : {{.*}} -> tensor<1x2x5x3xf32>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[Y]]) {perm = array<i64: 0, 2, 3, 1>} : {{.*}} -> tensor<1x5x3x2xf32>
// CHECK-NEXT: func.return %[[T]]
func.func @channels_last(%x: tensor<1x2x5x3xf32>) -> tensor<1x5x3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25>>
  %factor = onnx.Constant() {value = #onnx.tensor<[2.0, 0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %shift = onnx.Constant() {value = #onnx.tensor<[8.0, 4.0] : tensor<1x1x2xf32>>} : () -> tensor<1x1x2xf32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25>> to tensor<2x2x1x1xf32>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %t = onnx.Transpose(%c) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x5x3xf32>) -> tensor<1x5x3x2xf32>
  %m = onnx.Mul(%t, %factor) : (tensor<1x5x3x2xf32>, tensor<2xf32>) -> tensor<1x5x3x2xf32>
  %y = onnx.Add(%shift, %m) : (tensor<1x1x2xf32>, tensor<1x5x3x2xf32>) -> tensor<1x5x3x2xf32>
  func.return %y : tensor<1x5x3x2xf32>
}

// Two moves, and heads that share their factors: one for each channel of the product.

// CHECK-LABEL: func.func @heads(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[2.0, 12.0, 6.0, 24.0] : tensor<1x4xf32>>}
// CHECK: %[[Y:.*]] = onnx.MatMul(%x, %[[W]]) : (tensor<3x1xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: onnx.Reshape(%[[Y]],
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(
// CHECK-NEXT: func.return %[[T]]
func.func @heads(%x: tensor<3x1xf32>) -> tensor<2x2x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0] : tensor<1x4xf32>>} : () -> tensor<1x4xf32>
  %sizes = onnx.Constant() {value = #onnx.tensor<[3, 2, 2] : tensor<3xi64>>} : () -> tensor<3xi64>
  %factor = onnx.Constant() {value = #onnx.tensor<[1.0, 3.0] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %two = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.MatMul(%x, %w) : (tensor<3x1xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %r = onnx.Reshape(%c, %sizes) : (tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x2xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 2, 0>} : (tensor<3x2x2xf32>) -> tensor<2x2x3xf32>
  %m = onnx.Mul(%t, %factor) : (tensor<2x2x3xf32>, tensor<2x1xf32>) -> tensor<2x2x3xf32>
  %y = onnx.Mul(%m, %two) : (tensor<2x2x3xf32>, tensor<f32>) -> tensor<2x2x3xf32>
  func.return %y : tensor<2x2x3xf32>
}

// Others read what is moved; a normalization runs along axis 1 alone; the rank is not known.

// CHECK-LABEL: func.func @unmoved_others(
// CHECK: onnx.Transpose(
// CHECK-NEXT: onnx.Add(
// CHECK: onnx.Transpose(
// CHECK-NEXT: onnx.BatchNormalization(
// CHECK: onnx.Squeeze(
// CHECK-NEXT: onnx.Add(
func.func @unmoved_others(%x: tensor<3x2xf32>, %z: tensor<*xf32>, %a: tensor<2xi64>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<*xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 3.0] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %two = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %n = onnx.Constant() {value = #onnx.tensor<[1.0, 3.0, 2.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %c = onnx.MatMul(%x, %w) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %t = onnx.Transpose(%c) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{the value in between has a second consumer [fold-batch-norm: second-consumer]}}
  %y = onnx.Add(%t, %s) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %d = onnx.MatMul(%x, %w) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %u = onnx.Transpose(%d) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{the factors do not run along the linear op's channels [fold-batch-norm: weight-axis]}}
  %b = onnx.BatchNormalization(%u, %n, %n, %n, %n) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %e = onnx.MatMul(%z, %w) : (tensor<*xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  %q = onnx.Squeeze(%e, %a) : (tensor<*xf32>, tensor<2xi64>) -> tensor<*xf32>
  // expected-remark@+1 {{[fold-batch-norm: unknown-shape]}}
  %f = onnx.Add(%q, %two) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  func.return %t, %y, %b, %f : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<*xf32>
}

// A sum behind a vector's product may not load.

// CHECK-LABEL: func.func @unmoved_vector(
// CHECK: onnx.MatMul(
// CHECK-NEXT: onnx.Unsqueeze(
// CHECK-NEXT: onnx.Add(
func.func @unmoved_vector(%x: tensor<2xf32>) -> tensor<1x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %a = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %c = onnx.MatMul(%x, %w) : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  %u = onnx.Unsqueeze(%c, %a) : (tensor<2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
  %y = onnx.Add(%u, %b) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}
