// RUN: OPT %s -p 'legalize{target=openvino}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'legalize{target=openvino}'

!i = !quant.uniform<i8:f32, 0.02:-5>
!z = !quant.uniform<i8:f32, 0.04>
!w = !quant.uniform<i8:f32, 0.25>

// What a convolution reads, what moves into it and the join that it comes from are u8; what it gives stays.

// CHECK-LABEL: func.func @conv(
// CHECK: %[[A:.*]] = quant.qcast %x : tensor<1x2x2x3xf32> to tensor<1x2x2x3x!quant.uniform<u8:f32, 0.02:123>>
// CHECK-NEXT: %[[C:.*]] = onnx.Concat(%[[A]], %[[K:.*]]) {axis = 1 : i64} : (tensor<1x2x2x3x!quant.uniform<u8:f32, 0.02:123>>, tensor<1x1x2x3x!quant.uniform<u8:f32, 0.02:123>>)
// CHECK-NEXT: %[[M:.*]] = onnx.MaxPool(%[[C]])
// CHECK-NEXT: onnx.Conv(%[[M]], %{{.*}}, _) : (tensor<1x3x1x2x!quant.uniform<u8:f32, 0.02:123>>, tensor<2x3x1x1x!quant.uniform<i8:f32, 0.25>>) -> tensor<1x2x1x2x!quant.uniform<i8:f32, 0.02:-5>>
func.func @conv(%x: tensor<1x2x2x3xf32>) -> tensor<1x2x1x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -3, 4, 5, 6] : tensor<2x3x1x1xi8>>} : () -> tensor<2x3x1x1x!w>
  %k = onnx.Constant() {value = #onnx.tensor<[7, 8, -9, 1, 2, 3] : tensor<1x1x2x3xi8>>} : () -> tensor<1x1x2x3x!i>
  %a = quant.qcast %x : tensor<1x2x2x3xf32> to tensor<1x2x2x3x!i>
  %c = onnx.Concat(%a, %k) {axis = 1 : i64} : (tensor<1x2x2x3x!i>, tensor<1x1x2x3x!i>) -> tensor<1x3x2x3x!i>
  %m = onnx.MaxPool(%c) {kernel_shape = array<i64: 2, 2>} : (tensor<1x3x2x3x!i>) -> tensor<1x3x1x2x!i>
  %t = onnx.Conv(%m, %w, _) : (tensor<1x3x1x2x!i>, tensor<2x3x1x1x!w>) -> tensor<1x2x1x2x!i>
  %r = quant.dcast %t : tensor<1x2x1x2x!i> to tensor<1x2x1x2xf32>
  func.return %r : tensor<1x2x1x2xf32>
}

// Integers from outside come in as they are: a pair makes u8 of them, in front of what moves them.

// CHECK-LABEL: func.func @boundary(
// CHECK: %[[Q:.*]] = quant.scast %x : tensor<1x5x4x2xi8> to tensor<1x5x4x2x!quant.uniform<i8:f32, 0.02:-5>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: %[[U:.*]] = quant.qcast %[[R]] : tensor<1x5x4x2xf32> to tensor<1x5x4x2x!quant.uniform<u8:f32, 0.02:123>>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[U]])
// CHECK-NEXT: onnx.ConvTranspose(%[[T]]
func.func @boundary(%x: tensor<1x5x4x2xi8>) -> tensor<1x3x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -3, 4, 5, 6] : tensor<2x3x1x1xi8>>} : () -> tensor<2x3x1x1x!w>
  %q = quant.scast %x : tensor<1x5x4x2xi8> to tensor<1x5x4x2x!i>
  %t = onnx.Transpose(%q) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x5x4x2x!i>) -> tensor<1x2x5x4x!i>
  %r = onnx.ConvTranspose(%t, %w, _) : (tensor<1x2x5x4x!i>, tensor<2x3x1x1x!w>) -> tensor<1x3x5x4xf32>
  func.return %r : tensor<1x3x5x4xf32>
}

// A branch of a subgraph is tied to what comes out of it.

// CHECK-LABEL: func.func @branches(
// CHECK: onnx.If
// CHECK-COUNT-2: quant.qcast %x : tensor<1x2x5x4xf32> to tensor<1x2x5x4x!quant.uniform<u8:f32, 0.02:123>>
// CHECK: onnx.Conv({{.*}}!quant.uniform<u8:f32, 0.02:123>>
func.func @branches(%x: tensor<1x2x5x4xf32>, %c: tensor<i1>) -> tensor<1x2x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -3, 4] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!w>
  %b = onnx.If(%c) then_branch {
    %one = quant.qcast %x : tensor<1x2x5x4xf32> to tensor<1x2x5x4x!i>
    onnx.Yield(%one) : (tensor<1x2x5x4x!i>) -> ()
  } else_branch {
    %two = quant.qcast %x : tensor<1x2x5x4xf32> to tensor<1x2x5x4x!i>
    onnx.Yield(%two) : (tensor<1x2x5x4x!i>) -> ()
  } : (tensor<i1>) -> tensor<1x2x5x4x!i>
  %r = onnx.Conv(%b, %w, _) : (tensor<1x2x5x4x!i>, tensor<2x2x1x1x!w>) -> tensor<1x2x5x4xf32>
  func.return %r : tensor<1x2x5x4xf32>
}

// Without a zero point i8 is as fast; and a product of matrices takes any.

// CHECK-LABEL: func.func @unmoved_symmetric(
// CHECK: onnx.Conv({{.*}}tensor<1x2x5x4x!quant.uniform<i8:f32, 0.04>>
func.func @unmoved_symmetric(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -3, 4] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!w>
  %a = quant.qcast %x : tensor<1x2x5x4xf32> to tensor<1x2x5x4x!z>
  %r = onnx.Conv(%a, %w, _) : (tensor<1x2x5x4x!z>, tensor<2x2x1x1x!w>) -> tensor<1x2x5x4xf32>
  func.return %r : tensor<1x2x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_product(
// CHECK: onnx.MatMul({{.*}}tensor<3x2x!quant.uniform<i8:f32, 0.02:-5>>
func.func @unmoved_product(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -3, 4] : tensor<2x2xi8>>} : () -> tensor<2x2x!w>
  %a = quant.qcast %x : tensor<3x2xf32> to tensor<3x2x!i>
  %r = onnx.MatMul(%a, %w) : (tensor<3x2x!i>, tensor<2x2x!w>) -> tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}

// What is put together from several is u8 without a zero point too.

// CHECK-LABEL: func.func @joined(
// CHECK: onnx.Concat({{.*}}!quant.uniform<u8:f32, 0.04:128>
// CHECK-NEXT: onnx.Conv({{.*}}tensor<1x2x5x4x!quant.uniform<u8:f32, 0.04:128>>
func.func @joined(%x: tensor<1x1x5x4xf32>, %y: tensor<1x1x5x4xf32>) -> tensor<1x2x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -3, 4] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!w>
  %a = quant.qcast %x : tensor<1x1x5x4xf32> to tensor<1x1x5x4x!z>
  %b = quant.qcast %y : tensor<1x1x5x4xf32> to tensor<1x1x5x4x!z>
  %c = onnx.Concat(%a, %b) {axis = 1 : i64} : (tensor<1x1x5x4x!z>, tensor<1x1x5x4x!z>) -> tensor<1x2x5x4x!z>
  %r = onnx.Conv(%c, %w, _) : (tensor<1x2x5x4x!z>, tensor<2x2x1x1x!w>) -> tensor<1x2x5x4xf32>
  func.return %r : tensor<1x2x5x4xf32>
}

// Beside its own inputs, copies of which carry what i8 weights do not hold, stands no other value.

// CHECK-LABEL: func.func @unmoved_copied(
// CHECK: onnx.Conv({{.*}}tensor<1x3x5x4x!quant.uniform<i8:f32, 0.04>>
func.func @unmoved_copied(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -3, 4, 5, -6] : tensor<2x3x1x1xi8>>} : () -> tensor<2x3x1x1x!w>
  %k = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %a = quant.qcast %x : tensor<1x2x5x4xf32> to tensor<1x2x5x4x!z>
  %b = onnx.Gather(%a, %k) {axis = 1 : i64} : (tensor<1x2x5x4x!z>, tensor<1xi64>) -> tensor<1x1x5x4x!z>
  %c = onnx.Concat(%a, %b) {axis = 1 : i64} : (tensor<1x2x5x4x!z>, tensor<1x1x5x4x!z>) -> tensor<1x3x5x4x!z>
  %r = onnx.Conv(%c, %w, _) : (tensor<1x3x5x4x!z>, tensor<2x3x1x1x!w>) -> tensor<1x2x5x4xf32>
  func.return %r : tensor<1x2x5x4xf32>
}
