// RUN: OPT %s -p 'decompose-dynamic{target=openvino work=12}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'decompose-dynamic{target=openvino work=12}'

// From so many multiply-adds on, the integers are quantized in steps of 1; what their zero point adds is taken off.

// CHECK-LABEL: func.func @product(
// CHECK: %[[Z:.*]] = onnx.Round(%{{.*}}) : (tensor<f32>) -> tensor<f32>
// CHECK: %[[R:.*]] = onnx.Add(%{{.*}}, %[[Z]]) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[R]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 1.0>>
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0:2,1.0:-2}>>
// CHECK-NEXT: %[[P:.*]] = onnx.MatMul(%[[Q]], %[[W]]) : {{.*}} -> tensor<2x2xf32>
// CHECK-NEXT: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[3.0, 18.0] : tensor<2xf32>>}
// CHECK-NEXT: %[[M:.*]] = onnx.Mul(%[[Z]], %[[C]])
// CHECK-NEXT: %[[Y:.*]] = onnx.Sub(%[[P]], %[[M]])
// CHECK-NEXT: func.return %[[Y]]
func.func @product(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2xi8>
  %wz = onnx.Constant() {value = #onnx.tensor<[2, -2] : tensor<2xi8>>} : () -> tensor<2xi8>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %p = onnx.MatMulInteger(%q, %w, %z, %wz) : (tensor<2x3xui8>, tensor<3x2xi8>, tensor<ui8>, tensor<2xi8>) -> tensor<2x2xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<2x2xi32>) -> tensor<2x2xf32>
  func.return %f : tensor<2x2xf32>
}

// Sizes that are not known are 1.

// CHECK-LABEL: func.func @unmoved_small(
// CHECK: onnx.MatMul(%{{.*}}, %{{.*}}) : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
func.func @unmoved_small(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2xi8>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<?x3xf32>) -> (tensor<?x3xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{[decompose-dynamic: float-sums]}}
  %p = onnx.MatMulInteger(%q, %w, %z) : (tensor<?x3xui8>, tensor<3x2xi8>, tensor<ui8>) -> tensor<?x2xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<?x2xi32>) -> tensor<?x2xf32>
  func.return %f : tensor<?x2xf32>
}

// Two convolutions of the same integers, one of which pads them with their zero point.

// CHECK-LABEL: func.func @convolutions(
// CHECK: %[[Z:.*]] = onnx.Round(%{{.*}}) : (tensor<f32>) -> tensor<f32>
// CHECK: %[[R:.*]] = onnx.Round(%{{.*}}) : (tensor<2x1x5x4xf32>) -> tensor<2x1x5x4xf32>
// CHECK-NEXT: %[[N:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 0, 0, 0, 0, 2] : tensor<8xi64>>}
// CHECK-NEXT: %[[B:.*]] = onnx.Pad(%[[R]], %[[N]], _, _) : {{.*}} -> tensor<2x1x6x6xf32>
// CHECK-NEXT: %[[C:.*]] = onnx.Add(%[[B]], %[[Z]])
// CHECK-NEXT: %[[P:.*]] = quant.qcast %[[C]] : tensor<2x1x6x6xf32> to {{.*}}
// CHECK-NEXT: %[[A:.*]] = onnx.Add(%[[R]], %[[Z]])
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[A]]
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[128, 255] : tensor<1x1x2x1xui8>>} : () -> tensor<1x1x2x1x!quant.uniform<u8:f32, 1.0:130>>
// CHECK-NEXT: onnx.Conv(%[[Q]], %[[W]], _) : {{.*}} -> tensor<2x1x4x4xf32>
// CHECK-NEXT: onnx.Constant() {value = #onnx.tensor<[123.0] : tensor<1x1x1x1xf32>>}
// CHECK: onnx.Conv(%[[P]], %{{.*}}, _) {dilations = array<i64: 1, 1>} : {{.*}} -> tensor<2x1x5x6xf32>
func.func @convolutions(%x: tensor<2x1x5x4xf32>) -> (tensor<2x1x4x4xf32>, tensor<2x1x5x6xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[128, 255] : tensor<1x1x2x1xui8>>} : () -> tensor<1x1x2x1xui8>
  %wz = onnx.Constant() {value = #onnx.tensor<[130] : tensor<ui8>>} : () -> tensor<ui8>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<2x1x5x4xf32>) -> (tensor<2x1x5x4xui8>, tensor<f32>, tensor<ui8>)
  %p = onnx.ConvInteger(%q, %w, %z, %wz) : (tensor<2x1x5x4xui8>, tensor<1x1x2x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<2x1x4x4xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<2x1x4x4xi32>) -> tensor<2x1x4x4xf32>
  %r = onnx.ConvInteger(%q, %w, %z, %wz) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 2>} : (tensor<2x1x5x4xui8>, tensor<1x1x2x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<2x1x5x6xi32>
  %g = onnx.Cast(%r) {to = 1 : i64} : (tensor<2x1x5x6xi32>) -> tensor<2x1x5x6xf32>
  func.return %f, %g : tensor<2x1x4x4xf32>, tensor<2x1x5x6xf32>
}

// CHECK-LABEL: func.func @unmoved_groups(
// CHECK: onnx.Conv(%{{.*}}, %{{.*}}, _) {group = 2 : i64} : (tensor<1x2x5x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x4xf32>
func.func @unmoved_groups(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1xi8>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x2x5x4xf32>) -> (tensor<1x2x5x4xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{[decompose-dynamic: float-sums]}}
  %p = onnx.ConvInteger(%q, %w, %z) {group = 2 : i64} : (tensor<1x2x5x4xui8>, tensor<2x1x1x1xi8>, tensor<ui8>) -> tensor<1x2x5x4xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<1x2x5x4xi32>) -> tensor<1x2x5x4xf32>
  func.return %f : tensor<1x2x5x4xf32>
}

// A weight for each matrix of a batch.

// CHECK-LABEL: func.func @unmoved_batch(
// CHECK: onnx.MatMul(%{{.*}}, %{{.*}}) : (tensor<2x3x2xf32>, tensor<2x2x1xf32>) -> tensor<2x3x1xf32>
func.func @unmoved_batch(%x: tensor<2x3x2xf32>) -> tensor<2x3x1xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2x1xi8>>} : () -> tensor<2x2x1xi8>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<2x3x2xf32>) -> (tensor<2x3x2xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{[decompose-dynamic: float-sums]}}
  %p = onnx.MatMulInteger(%q, %w, %z) : (tensor<2x3x2xui8>, tensor<2x2x1xi8>, tensor<ui8>) -> tensor<2x3x1xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<2x3x1xi32>) -> tensor<2x3x1xf32>
  func.return %f : tensor<2x3x1xf32>
}

// An even kernel pads one side more, of sizes that only a run tells.

// CHECK-LABEL: func.func @unmoved_open_pads(
// CHECK: onnx.Conv(%{{.*}}, %{{.*}}, _) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>} : (tensor<1x1x?x?xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x?x?xf32>
func.func @unmoved_open_pads(%x: tensor<1x1x?x?xf32>) -> tensor<1x1x?x?xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8] : tensor<1x1x4x4xi8>>} : () -> tensor<1x1x4x4xi8>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x1x?x?xf32>) -> (tensor<1x1x?x?xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{[decompose-dynamic: float-sums]}}
  %p = onnx.ConvInteger(%q, %w, %z) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>} : (tensor<1x1x?x?xui8>, tensor<1x1x4x4xi8>, tensor<ui8>) -> tensor<1x1x?x?xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<1x1x?x?xi32>) -> tensor<1x1x?x?xf32>
  func.return %f : tensor<1x1x?x?xf32>
}
