// RUN: OPT %s -p choose-convolution-form | FILECHECK %s
// RUN: DIAGNOSTICS -p choose-convolution-form

!x = !quant.uniform<u8:f32, 0.02:3>
!y = !quant.uniform<u8:f32, 0.025:120>
!w = !quant.uniform<i8:f32:1, {0.25,0.5,0.25,0.5,0.25,0.5,0.25,0.5,0.25,0.5,0.25,0.5,0.25,0.5,0.25,0.125}>
!v = !quant.uniform<i8:f32, 0.5>
!b = !quant.uniform<i32:f32, 0.01>

// A row of a matrix is a pixel, its columns are channels; the weight turned, its scales along the outputs as before.

// CHECK-LABEL: func.func @product(
// CHECK-NEXT: %[[X:.*]] = onnx.Transpose(%x) {perm = array<i64: 0, 2, 1>} : (tensor<?x17x4x!{{.*}}>) -> tensor<?x4x17x!
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3] : tensor<16x4x1xi8>>} : () -> tensor<16x4x1x!{{.*}}>
// CHECK-NEXT: %[[C:.*]] = onnx.Conv(%[[X]], %[[W]], _) {kernel_shape = array<i64: 1>} : {{.*}} -> tensor<?x16x17x!quant.uniform<u8:f32, 0.025:120>>
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[C]]) {perm = array<i64: 0, 2, 1>}
// CHECK-NEXT: func.return %[[Y]]
func.func @product(%x: tensor<?x17x4x!x>) -> tensor<?x17x16x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3] : tensor<4x16xi8>>} : () -> tensor<4x16x!w>
  %y = onnx.MatMul(%x, %w) : (tensor<?x17x4x!x>, tensor<4x16x!w>) -> tensor<?x17x16x!y>
  func.return %y : tensor<?x17x16x!y>
}

// Two axes between are those of an image.

// CHECK-LABEL: func.func @image(
// CHECK-NEXT: onnx.Transpose(%x) {perm = array<i64: 0, 3, 1, 2>}
// CHECK: onnx.Conv({{.*}}) {kernel_shape = array<i64: 1, 1>} : {{.*}} -> tensor<2x16x3x7x!
// CHECK-NEXT: onnx.Transpose({{.*}}) {perm = array<i64: 0, 2, 3, 1>}
func.func @image(%x: tensor<2x3x7x4x!x>) -> tensor<2x3x7x16x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5] : tensor<4x16xi8>>} : () -> tensor<4x16x!v>
  %y = onnx.MatMul(%x, %w) : (tensor<2x3x7x4x!x>, tensor<4x16x!v>) -> tensor<2x3x7x16x!y>
  func.return %y : tensor<2x3x7x16x!y>
}

// The rows of a matrix are one image; its bias is the convolution's.

// CHECK-LABEL: func.func @gemm(
// CHECK: %[[I:.*]] = onnx.Reshape(%x, {{.*}}) : {{.*}} -> tensor<1x33x4x!
// CHECK-NEXT: %[[F:.*]] = onnx.Transpose(%[[I]])
// CHECK: %[[C:.*]] = onnx.Conv(%[[F]], {{.*}}, %b)
// CHECK-NEXT: %[[L:.*]] = onnx.Transpose(%[[C]])
// CHECK: onnx.Reshape(%[[L]], {{.*}}) : {{.*}} -> tensor<33x16x!
func.func @gemm(%x: tensor<33x4x!x>, %b: tensor<16x!b>) -> tensor<33x16x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5] : tensor<16x4xi8>>} : () -> tensor<16x4x!v>
  %y = onnx.Gemm(%x, %w, %b) {transB = 1 : i64} : (tensor<33x4x!x>, tensor<16x4x!v>, tensor<16x!b>) -> tensor<33x16x!y>
  func.return %y : tensor<33x16x!y>
}

// CHECK-LABEL: func.func @unmoved_few_rows(
// CHECK: onnx.MatMul
func.func @unmoved_few_rows(%x: tensor<40x15x4x!x>) -> tensor<40x15x16x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5] : tensor<4x16xi8>>} : () -> tensor<4x16x!v>
  // expected-remark@+1 {{a product of so few rows, or of an unknown number, is as fast [choose-convolution-form: does-not-pay]}}
  %y = onnx.MatMul(%x, %w) : (tensor<40x15x4x!x>, tensor<4x16x!v>) -> tensor<40x15x16x!y>
  func.return %y : tensor<40x15x16x!y>
}

// CHECK-LABEL: func.func @unmoved_other_channels(
// CHECK: onnx.MatMul
func.func @unmoved_other_channels(%x: tensor<2x40x6x!x>) -> tensor<2x40x16x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5] : tensor<6x16xi8>>} : () -> tensor<6x16x!v>
  // expected-remark@+1 {{with these channels a convolution takes as long as the product [choose-convolution-form: does-not-pay]}}
  %y = onnx.MatMul(%x, %w) : (tensor<2x40x6x!x>, tensor<6x16x!v>) -> tensor<2x40x16x!y>
  func.return %y : tensor<2x40x16x!y>
}

// A weight that two products take would be stored twice; one that is computed has no turned twin.

// CHECK-LABEL: func.func @unmoved_weights(
// CHECK-NOT: onnx.Conv
func.func @unmoved_weights(%x: tensor<2x40x4x!x>, %z: tensor<4x16x!v>) -> (tensor<2x40x16x!y>, tensor<2x40x16x!y>, tensor<2x40x16x!y>) {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5] : tensor<4x16xi8>>} : () -> tensor<4x16x!v>
  %a = onnx.MatMul(%x, %w) : (tensor<2x40x4x!x>, tensor<4x16x!v>) -> tensor<2x40x16x!y>
  %b = onnx.MatMul(%x, %w) : (tensor<2x40x4x!x>, tensor<4x16x!v>) -> tensor<2x40x16x!y>
  %c = onnx.MatMul(%x, %z) : (tensor<2x40x4x!x>, tensor<4x16x!v>) -> tensor<2x40x16x!y>
  func.return %a, %b, %c : tensor<2x40x16x!y>, tensor<2x40x16x!y>, tensor<2x40x16x!y>
}
