// RUN: OPT %s -p 'lower-conv-transpose{always=true}' --print-constants | FILECHECK %s
// RUN: OPT %s -p 'lower-conv-transpose{always=true}' --verify-diagnostics
// RUN: OPT %s -p lower-conv-transpose --remarks 2>&1 | FILECHECK %s --check-prefix=CHEAPEST

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:1, {0.01,0.02:3}>
!b = !quant.uniform<i32:f32:0, {0.0002,0.0004}>
!y = !quant.uniform<u8:f32, 0.04:9>

// One channel to two, a window of 2 x 3: six times two outputs, the channels of each place in the window together.

// CHECK-LABEL: func.func @image(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12] : tensor<12x1x1x1xi8>>} : () -> tensor<12x1x1x1x!q0>
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 5, 6] : tensor<12xi32>>}
// CHECK-NEXT: %[[C:.*]] = onnx.Conv(%x, %[[W]], %[[B]]) {kernel_shape = array<i64: 1, 1>} : {{.*}} -> tensor<?x12x?x5x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: %[[L:.*]] = onnx.Transpose(%[[C]]) {perm = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 5, 2, 6] : tensor<5xi64>>}
// CHECK-NEXT: %[[R:.*]] = onnx.Reshape(%[[L]], %[[S]]) : {{.*}} -> tensor<?x?x5x2x6x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[R]]) {perm = array<i64: 0, 1, 3, 2, 4>}
// CHECK-NEXT: %[[U:.*]] = onnx.Constant() {value = #onnx.tensor<[0, -1, 15, 2] : tensor<4xi64>>}
// CHECK-NEXT: %[[V:.*]] = onnx.Reshape(%[[T]], %[[U]]) : {{.*}} -> tensor<?x?x15x2x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[V]]) {perm = array<i64: 0, 3, 1, 2>} : {{.*}} -> tensor<?x2x?x15x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: func.return %[[Y]]
func.func @image(%x: tensor<?x1x?x5x!x>) -> tensor<?x2x?x15x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] : tensor<1x2x2x3xi8>>} : () -> tensor<1x2x2x3x!w>
  %b = onnx.Constant() {value = #onnx.tensor<[5, 6] : tensor<2xi32>>} : () -> tensor<2x!b>
  %y = onnx.ConvTranspose(%x, %w, %b) {strides = array<i64: 2, 3>} : (tensor<?x1x?x5x!x>, tensor<1x2x2x3x!w>, tensor<2x!b>) -> tensor<?x2x?x15x!y>
  func.return %y : tensor<?x2x?x15x!y>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!s = !quant.uniform<i8:f32, 0.02>
!w = !quant.uniform<i8:f32, 0.01>
!y = !quant.uniform<u8:f32, 0.04:9>
!z = !quant.uniform<i8:f32, 0.04:9>

// A line, in float: no place to change with another.

// CHECK-LABEL: func.func @line(
// CHECK: %[[C:.*]] = onnx.Conv(%x, %{{.*}}, _) {{.*}} -> tensor<1x2x5xf32>
// CHECK-NEXT: %[[L:.*]] = onnx.Transpose(%[[C]]) {perm = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 10, 1] : tensor<3xi64>>}
// CHECK-NEXT: %[[R:.*]] = onnx.Reshape(%[[L]], %[[S]])
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[R]]) {perm = array<i64: 0, 2, 1>} : {{.*}} -> tensor<1x1x10xf32>
func.func @line(%x: tensor<1x1x5x!x>) -> tensor<1x1x10xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x1x2xi8>>} : () -> tensor<1x1x2x!w>
  %y = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x10xf32>
  func.return %y : tensor<1x1x10xf32>
}

// CHECK-LABEL: func.func @unmoved_windows_overlap(
// CHECK-NOT: onnx.Conv(
// CHECK: func.return
func.func @unmoved_windows_overlap(%x: tensor<1x1x5x!x>) -> (tensor<1x1x6xf32>, tensor<1x1x8xf32>, tensor<1x1x11xf32>, tensor<1x1x9xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x1x2xi8>>} : () -> tensor<1x1x2x!w>
  // expected-remark@+1 {{[lower-conv-transpose: windows-overlap]}}
  %a = onnx.ConvTranspose(%x, %w) : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x6xf32>
  // expected-remark@+1 {{[lower-conv-transpose: windows-overlap]}}
  %b = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>, pads = array<i64: 1, 1>} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x8xf32>
  // expected-remark@+1 {{[lower-conv-transpose: windows-overlap]}}
  %c = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>, output_padding = array<i64: 1>} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x11xf32>
  // expected-remark@+1 {{[lower-conv-transpose: windows-overlap]}}
  %d = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>, output_shape = array<i64: 9>} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x9xf32>
  func.return %a, %b, %c, %d : tensor<1x1x6xf32>, tensor<1x1x8xf32>, tensor<1x1x11xf32>, tensor<1x1x9xf32>
}

// CHECK-LABEL: func.func @unmoved_others(
// CHECK-NOT: onnx.Conv(
// CHECK: func.return
func.func @unmoved_others(%x: tensor<1x2x?x!x>, %v: tensor<2x1x2x!w>, %s: tensor<1x2x5x!s>, %r: tensor<1x2x5x!x>) -> (tensor<1x1x?xf32>, tensor<1x1x10xf32>, tensor<1x2x10xf32>, tensor<1x1x10xf32>, tensor<1x1x10x!z>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x1x2xi8>>} : () -> tensor<2x1x2x!w>
  // expected-remark@+1 {{[lower-conv-transpose: unknown-width]}}
  %a = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>} : (tensor<1x2x?x!x>, tensor<2x1x2x!w>) -> tensor<1x1x?xf32>
  // expected-remark@+1 {{[lower-conv-transpose: computed-weight]}}
  %b = onnx.ConvTranspose(%r, %v) {strides = array<i64: 2>} : (tensor<1x2x5x!x>, tensor<2x1x2x!w>) -> tensor<1x1x10xf32>
  // expected-remark@+1 {{[lower-conv-transpose: grouped]}}
  %c = onnx.ConvTranspose(%r, %w) {strides = array<i64: 2>, group = 2 : i64} : (tensor<1x2x5x!x>, tensor<2x1x2x!w>) -> tensor<1x2x10xf32>
  // expected-remark@+1 {{[lower-conv-transpose: storage]}}
  %d = onnx.ConvTranspose(%s, %w) {strides = array<i64: 2>} : (tensor<1x2x5x!s>, tensor<2x1x2x!w>) -> tensor<1x1x10xf32>
  // expected-remark@+1 {{[lower-conv-transpose: storage]}}
  %e = onnx.ConvTranspose(%r, %w) {strides = array<i64: 2>} : (tensor<1x2x5x!x>, tensor<2x1x2x!w>) -> tensor<1x1x10x!z>
  func.return %a, %b, %c, %d, %e : tensor<1x1x?xf32>, tensor<1x1x10xf32>, tensor<1x2x10xf32>, tensor<1x1x10xf32>, tensor<1x1x10x!z>
}

// Without `always`, the measured costs decide: a few pixels are not worth it.

// CHEAPEST: remark: onnx.ConvTranspose {{.*}}with these channels the transposed convolution is as fast in float [lower-conv-transpose: float-is-faster]
