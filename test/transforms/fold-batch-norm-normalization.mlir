// RUN: OPT %s -p fold-batch-norm | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-batch-norm

// A factor and a shift for each element of the last axis, where there was no shift; one factor for all, for two users.

// CHECK-LABEL: func.func @channels(
// CHECK-NEXT: %[[G:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, -0.75, 0.5] : tensor<3xf32>>}
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[3.0, 3.0, 3.0] : tensor<3xf32>>}
// CHECK-NEXT: %[[N:.*]] = onnx.LayerNormalization(%x, %[[G]], %[[B]]) {epsilon = 5.000000e-01 : f32}
// CHECK-NEXT: func.return %[[N]]
func.func @channels(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %g = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0, -1.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[0.5, -0.25, -0.5] : tensor<1x3xf32>>} : () -> tensor<1x3xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[3.0] : tensor<f32>>} : () -> tensor<f32>
  %n = onnx.LayerNormalization(%x, %g) {epsilon = 0.5 : f32} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %m = onnx.Mul(%n, %k) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Add(%m, %s) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @two_users(
// CHECK-NEXT: %[[G:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.75, -0.25, 1.0, 1.25, 1.5] : tensor<2x3xf32>>}
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[0.25, 0.5, 0.75, 1.0, 1.25, 1.5] : tensor<2x3xf32>>}
// CHECK-NEXT: %[[N:.*]] = onnx.LayerNormalization(%x, %[[G]], %[[B]]) {axis = 1 : i64}
// CHECK-NEXT: func.return %[[N]], %[[N]]
func.func @two_users(%x: tensor<5x2x3xf32>) -> (tensor<5x2x3xf32>, tensor<5x2x3xf32>) {
  %g = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0, -1.0, 4.0, 5.0, 6.0] : tensor<2x3xf32>>} : () -> tensor<2x3xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : tensor<2x3xf32>>} : () -> tensor<2x3xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %d = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<f32>>} : () -> tensor<f32>
  %n = onnx.LayerNormalization(%x, %g, %b) {axis = 1 : i64} : (tensor<5x2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<5x2x3xf32>
  %y = onnx.Mul(%n, %k) : (tensor<5x2x3xf32>, tensor<f32>) -> tensor<5x2x3xf32>
  %z = onnx.Div(%n, %d) : (tensor<5x2x3xf32>, tensor<f32>) -> tensor<5x2x3xf32>
  func.return %y, %z : tensor<5x2x3xf32>, tensor<5x2x3xf32>
}

// The normalization's result is rounded, and so is the product, to another type.

// CHECK-LABEL: func.func @unmoved_quantizer_between(
// CHECK: onnx.LayerNormalization({{.*}} -> tensor<2x3x!quant.uniform<u16:f32, 0.0002:32768>>
// CHECK-NEXT: onnx.Mul({{.*}} -> tensor<2x3x!quant.uniform<u8:f32, 0.02:128>>
func.func @unmoved_quantizer_between(%x: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:128>> {
  %g = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0, -1.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[-0.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{a quantize in between rounds, and folding would drop that rounding [fold-batch-norm: quantizer-between]}}
  %n = onnx.LayerNormalization(%x, %g) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3x!quant.uniform<u16:f32, 0.0002:32768>>
  %y = onnx.Mul(%n, %k) : (tensor<2x3x!quant.uniform<u16:f32, 0.0002:32768>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:128>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.02:128>>
}

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: onnx.Mul(
func.func @unmoved_second_consumer(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %g = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0, -1.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{the value in between has a second consumer [fold-batch-norm: second-consumer]}}
  %n = onnx.LayerNormalization(%x, %g) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%n, %k) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y, %n : tensor<2x3xf32>, tensor<2x3xf32>
}

// Two users that shift by different numbers, though both scale by 1.

// CHECK-LABEL: func.func @unmoved_other_shift(
// CHECK: onnx.Add(
// CHECK-NEXT: onnx.Add(
func.func @unmoved_other_shift(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %g = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0, -1.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %l = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{the value in between has a second consumer [fold-batch-norm: second-consumer]}}
  %n = onnx.LayerNormalization(%x, %g) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = onnx.Add(%n, %k) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %z = onnx.Add(%n, %l) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y, %z : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_other_axis(
// CHECK: onnx.Mul(
func.func @unmoved_other_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %g = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0, -1.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[0.25, 3.0] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  // expected-remark@+1 {{the factors do not run along the linear op's channels [fold-batch-norm: weight-axis]}}
  %n = onnx.LayerNormalization(%x, %g) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%n, %k) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_weight(
// CHECK: onnx.Mul(
func.func @unmoved_computed_weight(%x: tensor<2x3xf32>, %g: tensor<3xf32>) -> tensor<2x3xf32> {
  %k = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{the weight is computed at run time [fold-batch-norm: computed-parameter]}}
  %n = onnx.LayerNormalization(%x, %g) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%n, %k) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
