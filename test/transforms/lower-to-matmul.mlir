// RUN: OPT %s -p lower-to-matmul --print-constants | FILECHECK %s
// RUN: OPT %s -p lower-to-matmul{target="linalg"} | FILECHECK %s --check-prefix=ALWAYS
// RUN: DIAGNOSTICS -p lower-to-matmul

// Two pixels in a row become four, one after another: the weights of each are in a column.

// CHECK-LABEL: func.func @last_axis(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 0.75, 0.25, 0.0, 0.0, 0.25, 0.75, 1.0] : tensor<2x4xf32>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.MatMul(%x, %[[W]]) : (tensor<?x900x2xf32>, tensor<2x4xf32>) -> tensor<?x900x4xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @last_axis(%x: tensor<?x900x2xf32>) -> tensor<?x900x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %y = onnx.Resize(%x, _, %s) {mode = "linear"} : (tensor<?x900x2xf32>, tensor<3xf32>) -> tensor<?x900x4xf32>
  func.return %y : tensor<?x900x4xf32>
}

// The axis that becomes shorter comes first.

// CHECK-LABEL: func.func @image(
// CHECK: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<"0x0000003F0000003F00000000{{.*}} : tensor<8x16xf32>>}
// CHECK-NEXT: %[[X:.*]] = onnx.MatMul(%[[H]], %x) : (tensor<8x16xf32>, tensor<?x21x16x12xf32>) -> tensor<?x21x8x12xf32>
// CHECK: %[[W:.*]] = onnx.Constant() {{.*}} : tensor<12x96xf32>
// CHECK-NEXT: onnx.MatMul(%[[X]], %[[W]]) : (tensor<?x21x8x12xf32>, tensor<12x96xf32>) -> tensor<?x21x8x96xf32>
func.func @image(%x: tensor<?x21x16x12xf32>) -> tensor<?x21x8x96xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 0.5, 8.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %y = onnx.Resize(%x, _, %s) {mode = "linear"} : (tensor<?x21x16x12xf32>, tensor<4xf32>) -> tensor<?x21x8x96xf32>
  func.return %y : tensor<?x21x8x96xf32>
}

// A matrix for each channel from the left takes a call of its own, so for few rows each Resize is as fast.

// CHECK-LABEL: func.func @unmoved_small_matrices(
// CHECK: onnx.Resize
func.func @unmoved_small_matrices(%x: tensor<?x64x5x6xf32>) -> tensor<?x64x8x6xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 1.6, 1.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  // expected-remark@+1 {{a matrix product with rows this long takes as long [lower-to-matmul: does-not-pay]}}
  %y = onnx.Resize(%x, _, %s) {mode = "linear"} : (tensor<?x64x5x6xf32>, tensor<4xf32>) -> tensor<?x64x8x6xf32>
  func.return %y : tensor<?x64x8x6xf32>
}

// Between integer convolutions a session runs Resize with channels last, which takes less time than the products; also
// where casts, elementwise ops and joins stand between them. Behind the last convolution channels stand first.

// CHECK-LABEL: func.func @unmoved_channels_last(
// CHECK: onnx.Resize
// CHECK: onnx.Resize
// CHECK-NOT: onnx.Resize
func.func @unmoved_channels_last(%x: tensor<1x48x9x9xui8>, %w: tensor<48x48x1x1xi8>) -> tensor<1x48x72x72xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %a = onnx.Constant() {value = #onnx.tensor<[0.1] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[3] : tensor<ui8>>} : () -> tensor<ui8>
  %wz = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i8>>} : () -> tensor<i8>
  %0 = onnx.QLinearConv(%x, %a, %z, %w, %a, %wz, %a, %z) {kernel_shape = array<i64: 1, 1>} : (tensor<1x48x9x9xui8>, tensor<f32>, tensor<ui8>, tensor<48x48x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x48x9x9xui8>
  %1 = quant.scast %0 : tensor<1x48x9x9xui8> to tensor<1x48x9x9x!quant.uniform<u8:f32, 0.1:3>>
  %2 = quant.dcast %1 : tensor<1x48x9x9x!quant.uniform<u8:f32, 0.1:3>> to tensor<1x48x9x9xf32>
  // expected-remark@+1 {{a matrix product with rows this long takes as long [lower-to-matmul: does-not-pay]}}
  %3 = onnx.Resize(%2, _, %s) {mode = "linear"} : (tensor<1x48x9x9xf32>, tensor<4xf32>) -> tensor<1x48x18x18xf32>
  %4 = quant.qcast %3 : tensor<1x48x18x18xf32> to tensor<1x48x18x18x!quant.uniform<u8:f32, 0.1:3>>
  %5 = quant.scast %4 : tensor<1x48x18x18x!quant.uniform<u8:f32, 0.1:3>> to tensor<1x48x18x18xui8>
  %6 = onnx_ms.QLinearAdd(%5, %a, %z, %5, %a, %z, %a, %z) : (tensor<1x48x18x18xui8>, tensor<f32>, tensor<ui8>, tensor<1x48x18x18xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x48x18x18xui8>
  %7 = quant.scast %6 : tensor<1x48x18x18xui8> to tensor<1x48x18x18x!quant.uniform<u8:f32, 0.1:3>>
  %8 = quant.dcast %7 : tensor<1x48x18x18x!quant.uniform<u8:f32, 0.1:3>> to tensor<1x48x18x18xf32>
  // expected-remark@+1 {{a matrix product with rows this long takes as long [lower-to-matmul: does-not-pay]}}
  %9 = onnx.Resize(%8, _, %s) {mode = "linear"} : (tensor<1x48x18x18xf32>, tensor<4xf32>) -> tensor<1x48x36x36xf32>
  %10 = onnx.Relu(%9) : (tensor<1x48x36x36xf32>) -> tensor<1x48x36x36xf32>
  %11 = quant.qcast %10 : tensor<1x48x36x36xf32> to tensor<1x48x36x36x!quant.uniform<u8:f32, 0.1:3>>
  %12 = quant.scast %11 : tensor<1x48x36x36x!quant.uniform<u8:f32, 0.1:3>> to tensor<1x48x36x36xui8>
  %13 = onnx.QLinearConv(%12, %a, %z, %w, %a, %wz, %a, %z) {kernel_shape = array<i64: 1, 1>} : (tensor<1x48x36x36xui8>, tensor<f32>, tensor<ui8>, tensor<48x48x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x48x36x36xui8>
  %14 = quant.scast %13 : tensor<1x48x36x36xui8> to tensor<1x48x36x36x!quant.uniform<u8:f32, 0.1:3>>
  %15 = quant.dcast %14 : tensor<1x48x36x36x!quant.uniform<u8:f32, 0.1:3>> to tensor<1x48x36x36xf32>
  %16 = onnx.Resize(%15, _, %s) {mode = "linear"} : (tensor<1x48x36x36xf32>, tensor<4xf32>) -> tensor<1x48x72x72xf32>
  func.return %16 : tensor<1x48x72x72xf32>
}

// Between float convolutions a session runs Resize in blocks of channels if the scales are whole.

// CHECK-LABEL: func.func @unmoved_blocks(
// CHECK: onnx.Resize
// CHECK-NOT: onnx.Resize
func.func @unmoved_blocks(%x: tensor<1x32x16x16xf32>, %w: tensor<32x32x1x1xf32>) -> tensor<1x32x48x48xf32> {
  %2 = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %1 = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 1.5, 1.5] : tensor<4xf32>>} : () -> tensor<4xf32>
  %a = onnx.Conv(%x, %w) {kernel_shape = array<i64: 1, 1>} : (tensor<1x32x16x16xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x16x16xf32>
  // expected-remark@+1 {{a matrix product with rows this long takes as long [lower-to-matmul: does-not-pay]}}
  %b = onnx.Resize(%a, _, %2) {mode = "linear"} : (tensor<1x32x16x16xf32>, tensor<4xf32>) -> tensor<1x32x32x32xf32>
  %c = onnx.Conv(%b, %w) {kernel_shape = array<i64: 1, 1>} : (tensor<1x32x32x32xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x32x32xf32>
  %d = onnx.Resize(%c, _, %1) {mode = "linear"} : (tensor<1x32x32x32xf32>, tensor<4xf32>) -> tensor<1x32x48x48xf32>
  %e = onnx.Conv(%d, %w) {kernel_shape = array<i64: 1, 1>} : (tensor<1x32x48x48xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x48x48xf32>
  func.return %e : tensor<1x32x48x48xf32>
}

// Bytes: sums of quarters of them are exact in float, and what is behind the point is cut off as before.

// CHECK-LABEL: func.func @bytes(
// CHECK-NEXT: %[[X:.*]] = onnx.Cast(%x) {to = 1 : i64} : (tensor<?x21x16x12xui8>) -> tensor<?x21x16x12xf32>
// CHECK: %[[Y:.*]] = onnx.MatMul(%[[X]], %{{.*}}) : (tensor<?x21x16x12xf32>, tensor<12x24xf32>) -> tensor<?x21x16x24xf32>
// CHECK-NEXT: onnx.Cast(%[[Y]]) {to = 2 : i64} : (tensor<?x21x16x24xf32>) -> tensor<?x21x16x24xui8>
// ALWAYS-LABEL: func.func @bytes(
// ALWAYS: onnx.Resize
func.func @bytes(%x: tensor<?x21x16x12xui8>) -> tensor<?x21x16x24xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 1.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %y = onnx.Resize(%x, _, %s) {mode = "linear"} : (tensor<?x21x16x12xui8>, tensor<4xf32>) -> tensor<?x21x16x24xui8>
  func.return %y : tensor<?x21x16x24xui8>
}

// CHECK-LABEL: func.func @unmoved_rounded_sums(
// CHECK: onnx.Resize
func.func @unmoved_rounded_sums(%x: tensor<?x21x16x12xui8>) -> tensor<?x21x16x36xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 1.0, 3.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  // expected-remark@+1 {{float32 rounds the sums, so after truncation to integers they may differ by a step [lower-to-matmul: value-rounds]}}
  %y = onnx.Resize(%x, _, %s) {mode = "linear"} : (tensor<?x21x16x12xui8>, tensor<4xf32>) -> tensor<?x21x16x36xui8>
  func.return %y : tensor<?x21x16x36xui8>
}

// An axis in front of the last two has those behind it as one.

// CHECK-LABEL: func.func @volume(
// CHECK: onnx.Reshape(%x, {{.*}}) : {{.*}} -> tensor<?x9x5x420xf32>
// CHECK: onnx.MatMul({{.*}}) : (tensor<10x5xf32>, tensor<?x9x5x420xf32>) -> tensor<?x9x10x420xf32>
// CHECK: onnx.Reshape({{.*}}) : {{.*}} -> tensor<?x9x10x20x21xf32>
func.func @volume(%x: tensor<?x9x5x20x21xf32>) -> tensor<?x9x10x20x21xf32> {
  %k = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 1.0, 1.0] : tensor<5xf32>>} : () -> tensor<5xf32>
  %y = onnx.Resize(%x, _, %k) {mode = "linear"} : (tensor<?x9x5x20x21xf32>, tensor<5xf32>) -> tensor<?x9x10x20x21xf32>
  func.return %y : tensor<?x9x10x20x21xf32>
}

// Without a price there is no such kernel; opset 10 counted pixels from the corner.

// CHECK-LABEL: func.func @unmoved_short(
// CHECK: onnx.Resize
// ALWAYS-LABEL: func.func @unmoved_short(
// ALWAYS: onnx.MatMul
func.func @unmoved_short(%x: tensor<1x2x3xf32>) -> tensor<1x2x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 1.34] : tensor<3xf32>>} : () -> tensor<3xf32>
  // expected-remark@+1 {{a matrix product with rows this long takes as long [lower-to-matmul: does-not-pay]}}
  %y = onnx.Resize(%x, %s) {mode = "linear"} : (tensor<1x2x3xf32>, tensor<3xf32>) -> tensor<1x2x4xf32>
  func.return %y : tensor<1x2x4xf32>
}

// CHECK-LABEL: func.func @unmoved_modes(
// CHECK-NOT: onnx.MatMul
// CHECK: func.return
func.func @unmoved_modes(%x: tensor<1x21x4x6xf32>) -> (tensor<1x21x4x96xf32>, tensor<1x21x4x96xf32>, tensor<1x21x4x96xf32>, tensor<1x21x4x96xf32>, tensor<1x21x4x6xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 1.0, 16.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %r = onnx.Constant() {value = #onnx.tensor<[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.5] : tensor<8xf32>>} : () -> tensor<8xf32>
  %one = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 1.0, 1.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %0 = onnx.Resize(%x, _, %s) {mode = "nearest"} : (tensor<1x21x4x6xf32>, tensor<4xf32>) -> tensor<1x21x4x96xf32>
  // expected-remark@+1 {{Resize has the coordinate transformation tf_crop_and_resize [lower-to-matmul: interpolates]}}
  %1 = onnx.Resize(%x, %r, %s) {mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x21x4x6xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<1x21x4x96xf32>
  // expected-remark@+1 {{Resize has antialias or a keep_aspect_ratio_policy [lower-to-matmul: interpolates]}}
  %2 = onnx.Resize(%x, _, %s) {mode = "linear", antialias = 1 : i64} : (tensor<1x21x4x6xf32>, tensor<4xf32>) -> tensor<1x21x4x96xf32>
  %3 = onnx.Resize(%x, _, %s) {mode = "nearest"} : (tensor<1x21x4x6xf32>, tensor<4xf32>) -> tensor<1x21x4x96xf32>
  %4 = onnx.Resize(%x, _, %one) {mode = "linear"} : (tensor<1x21x4x6xf32>, tensor<4xf32>) -> tensor<1x21x4x6xf32>
  func.return %0, %1, %2, %3, %4 : tensor<1x21x4x96xf32>, tensor<1x21x4x96xf32>, tensor<1x21x4x96xf32>, tensor<1x21x4x96xf32>, tensor<1x21x4x6xf32>
}

// CHECK-LABEL: func.func @unmoved_sizes(
// CHECK-NOT: onnx.MatMul
// CHECK: func.return
func.func @unmoved_sizes(%a: tensor<1x21x?x6xf32>, %b: tensor<1x5x?x6xf32>, %c: tensor<*xf32>, %k: tensor<4xf32>, %d: tensor<1x9x4x6xf32>) -> (tensor<1x21x?x6xf32>, tensor<1x10x?x6xf32>, tensor<*xf32>, tensor<1x9x8x6xf32>, tensor<*xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 1.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %t = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 1.0, 1.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  // expected-remark@+1 {{the size of axis 2 is unknown, in the operand or in the result [lower-to-matmul: open-size]}}
  %0 = onnx.Resize(%a, _, %s) {mode = "linear"} : (tensor<1x21x?x6xf32>, tensor<4xf32>) -> tensor<1x21x?x6xf32>
  // expected-remark@+1 {{a size after the axis is unknown, so the axis cannot be moved to the end [lower-to-matmul: open-size]}}
  %1 = onnx.Resize(%b, _, %t) {mode = "linear"} : (tensor<1x5x?x6xf32>, tensor<4xf32>) -> tensor<1x10x?x6xf32>
  %2 = onnx.Resize(%c, _, %s) {mode = "linear"} : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  // expected-remark@+1 {{an axis, index or size that determines the axis of the scales is computed [lower-to-matmul: computed-parameter]}}
  %3 = onnx.Resize(%d, _, %k) {mode = "linear"} : (tensor<1x9x4x6xf32>, tensor<4xf32>) -> tensor<1x9x8x6xf32>
  // expected-remark@+1 {{[lower-to-matmul: unknown-shape]}}
  %4 = onnx.Resize(%d, _, %s) {mode = "linear"} : (tensor<1x9x4x6xf32>, tensor<4xf32>) -> tensor<*xf32>
  func.return %0, %1, %2, %3, %4 : tensor<1x21x?x6xf32>, tensor<1x10x?x6xf32>, tensor<*xf32>, tensor<1x9x8x6xf32>, tensor<*xf32>
}
