// RUN: OPT %s -p 'decompose-dynamic{target=openvino}' | FILECHECK %s
// RUN: OPT %s -p 'decompose-dynamic{target=onnxruntime}' | FILECHECK %s --check-prefix=KEPT
// RUN: DIAGNOSTICS -p 'decompose-dynamic{target=openvino}'

// The integers are computed in float32, once for both sums; a zero point for each column goes into the weight.

// CHECK-LABEL: func.func @product(
// CHECK-DAG: %[[ZERO:.*]] = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>}
// CHECK-DAG: %[[MOST:.*]] = onnx.Constant() {value = #onnx.tensor<[255.0] : tensor<f32>>}
// CHECK: %[[A:.*]] = onnx.ReduceMin(%x, _) {keepdims = 0 : i64} : (tensor<?x3xf32>) -> tensor<f32>
// CHECK-NEXT: %[[LOW:.*]] = onnx.Min(%[[A]], %[[ZERO]])
// CHECK-NEXT: %[[B:.*]] = onnx.ReduceMax(%x, _) {keepdims = 0 : i64} : (tensor<?x3xf32>) -> tensor<f32>
// CHECK-NEXT: %[[HIGH:.*]] = onnx.Max(%[[B]], %[[ZERO]])
// CHECK-NEXT: %[[RANGE:.*]] = onnx.Sub(%[[HIGH]], %[[LOW]])
// CHECK-NEXT: %[[STEPS:.*]] = onnx.Div(%[[RANGE]], %[[MOST]])
// CHECK-NEXT: %[[T:.*]] = onnx.Max(%[[STEPS]],
// CHECK-NEXT: %[[NONE:.*]] = onnx.Equal(%[[RANGE]], %[[ZERO]])
// CHECK-NEXT: %[[S:.*]] = onnx.Where(%[[NONE]], %{{.*}}, %[[T]])
// CHECK-NEXT: %[[C:.*]] = onnx.Div(%[[LOW]], %[[S]])
// CHECK-NEXT: %[[D:.*]] = onnx.Neg(%[[C]])
// CHECK-NEXT: %[[Z:.*]] = onnx.Round(%[[D]])
// CHECK-NEXT: %[[F:.*]] = onnx.Div(%x, %[[S]])
// CHECK-NEXT: %[[G:.*]] = onnx.Round(%[[F]])
// CHECK: %[[H:.*]] = onnx.Add(%[[G]], %[[Z]])
// CHECK-NEXT: %[[I:.*]] = onnx.Clip(%[[H]], %{{.*}}, %{{.*}})
// CHECK-NEXT: %[[Q:.*]] = onnx.Sub(%[[I]], %[[Z]])
// CHECK: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[-1.0, 4.0, 1.0, 6.0, 3.0, 8.0] : tensor<3x2xf32>>}
// CHECK-NEXT: %[[P:.*]] = onnx.MatMul(%[[Q]], %[[V]]) : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Mul(%[[P]], %[[S]])
// CHECK-NEXT: func.return %[[Y]]
// KEPT-LABEL: func.func @product(
// KEPT: onnx.DynamicQuantizeLinear
func.func @product(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2xi8>
  %wz = onnx.Constant() {value = #onnx.tensor<[2, -2] : tensor<2xi8>>} : () -> tensor<2xi8>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<?x3xf32>) -> (tensor<?x3xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{dynamically quantized values: the target is faster in float, or computes in float [decompose-dynamic: float-sums]}}
  %p = onnx.MatMulInteger(%q, %w, %z, %wz) : (tensor<?x3xui8>, tensor<3x2xi8>, tensor<ui8>, tensor<2xi8>) -> tensor<?x2xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<?x2xi32>) -> tensor<?x2xf32>
  %y = onnx.Mul(%f, %s) : (tensor<?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
  func.return %y : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @convolution(
// CHECK: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[-2.0, 125.0] : tensor<1x1x2x1xf32>>}
// CHECK-NEXT: onnx.Conv(%{{.*}}, %[[V]], _) {pads = array<i64: 1, 0, 0, 0>}
func.func @convolution(%x: tensor<2x1x5x4xf32>) -> (tensor<2x1x5x4xf32>, tensor<f32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[128, 255] : tensor<1x1x2x1xui8>>} : () -> tensor<1x1x2x1xui8>
  %wz = onnx.Constant() {value = #onnx.tensor<[130] : tensor<ui8>>} : () -> tensor<ui8>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<2x1x5x4xf32>) -> (tensor<2x1x5x4xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{dynamically quantized values: the target is faster in float, or computes in float [decompose-dynamic: float-sums]}}
  %p = onnx.ConvInteger(%q, %w, %z, %wz) {pads = array<i64: 1, 0, 0, 0>} : (tensor<2x1x5x4xui8>, tensor<1x1x2x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<2x1x5x4xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<2x1x5x4xi32>) -> tensor<2x1x5x4xf32>
  func.return %f, %s : tensor<2x1x5x4xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: onnx.MatMulInteger
func.func @unmoved_second_consumer(%x: tensor<4x3xf32>) -> (tensor<4x2xf32>, tensor<4x3xui8>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2xi8>
  // expected-remark@+1 {{the integers have users other than sums that are cast to float [decompose-dynamic: second-consumer]}}
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<4x3xf32>) -> (tensor<4x3xui8>, tensor<f32>, tensor<ui8>)
  %p = onnx.MatMulInteger(%q, %w, %z) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<ui8>) -> tensor<4x2xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<4x2xi32>) -> tensor<4x2xf32>
  func.return %f, %q : tensor<4x2xf32>, tensor<4x3xui8>
}

// CHECK-LABEL: func.func @unmoved_integers_leave(
// CHECK: onnx.MatMulInteger
func.func @unmoved_integers_leave(%x: tensor<4x3xf32>) -> tensor<4x2xi32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2xi8>
  // expected-remark@+1 {{the integers have users other than sums that are cast to float [decompose-dynamic: second-consumer]}}
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<4x3xf32>) -> (tensor<4x3xui8>, tensor<f32>, tensor<ui8>)
  %p = onnx.MatMulInteger(%q, %w, %z) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<ui8>) -> tensor<4x2xi32>
  func.return %p : tensor<4x2xi32>
}

// CHECK-LABEL: func.func @unmoved_computed_weight(
// CHECK: onnx.MatMulInteger
func.func @unmoved_computed_weight(%x: tensor<4x3xf32>, %w: tensor<3x2xi8>) -> tensor<4x2xf32> {
  // expected-remark@+1 {{the weight is computed, or a zero point of it [decompose-dynamic: computed-parameter]}}
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<4x3xf32>) -> (tensor<4x3xui8>, tensor<f32>, tensor<ui8>)
  %p = onnx.MatMulInteger(%q, %w, %z) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<ui8>) -> tensor<4x2xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<4x2xi32>) -> tensor<4x2xf32>
  func.return %f : tensor<4x2xf32>
}

// Zero points run along one axis; these state two.

// CHECK-LABEL: func.func @unmoved_zero_points_of_two_axes(
// CHECK: onnx.MatMulInteger
func.func @unmoved_zero_points_of_two_axes(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2xi8>
  %c = onnx.Constant() {value = #onnx.tensor<[1, -2] : tensor<1x2xi8>>} : () -> tensor<1x2xi8>
  // expected-remark@+1 {{[decompose-dynamic: zero-point]}}
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<4x3xf32>) -> (tensor<4x3xui8>, tensor<f32>, tensor<ui8>)
  %p = onnx.MatMulInteger(%q, %w, %z, %c) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<ui8>, tensor<1x2xi8>) -> tensor<4x2xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<4x2xi32>) -> tensor<4x2xf32>
  func.return %f : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @unmoved_integers_turned(
// CHECK: onnx.DynamicQuantizeLinear
func.func @unmoved_integers_turned(%x: tensor<4x3xf32>) -> tensor<3x4xui8> {
  // expected-remark@+1 {{the integers have users other than sums that are cast to float [decompose-dynamic: second-consumer]}}
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<4x3xf32>) -> (tensor<4x3xui8>, tensor<f32>, tensor<ui8>)
  %t = onnx.Transpose(%q) {perm = array<i64: 1, 0>} : (tensor<4x3xui8>) -> tensor<3x4xui8>
  func.return %t : tensor<3x4xui8>
}

// CHECK-LABEL: func.func @unmoved_zero_point_of_the_weight(
// CHECK: onnx.MatMulInteger
func.func @unmoved_zero_point_of_the_weight(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xui8>>} : () -> tensor<3x2xui8>
  // expected-remark@+1 {{the integers have users other than sums that are cast to float [decompose-dynamic: second-consumer]}}
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<4x3xf32>) -> (tensor<4x3xui8>, tensor<f32>, tensor<ui8>)
  %p = onnx.MatMulInteger(%q, %w, %z, %z) : (tensor<4x3xui8>, tensor<3x2xui8>, tensor<ui8>, tensor<ui8>) -> tensor<4x2xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<4x2xi32>) -> tensor<4x2xf32>
  func.return %f : tensor<4x2xf32>
}
