// RUN: OPT %s -p 'hoist-quantize{rewritten=true}' | FILECHECK %s
// RUN: OPT %s -p hoist-quantize | FILECHECK %s --check-prefix=FLOAT
// RUN: OPT %s -p hoist-quantize --verify-diagnostics

// What is written with another op's kernel can be one of integers, and Relu in front of the quantize would be in its
// way; where nobody writes it so, nothing moves.

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>

// CHECK-LABEL: func.func @conv_transpose(
// CHECK: %[[C:.*]] = onnx.ConvTranspose(
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[C]]
// CHECK-NEXT: onnx.Relu(%[[Q]])
// FLOAT-LABEL: func.func @conv_transpose(
// FLOAT: onnx.Relu(
// FLOAT-NEXT: quant.qcast
func.func @conv_transpose(%x: tensor<1x1x5x!x>, %w: tensor<1x1x3x!w>) -> tensor<1x1x7x!x> {
  %r = quant.dcast %x : tensor<1x1x5x!x> to tensor<1x1x5xf32>
  %v = quant.dcast %w : tensor<1x1x3x!w> to tensor<1x1x3xf32>
  %c = onnx.ConvTranspose(%r, %v) : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x7xf32>
  %y = onnx.Relu(%c) : (tensor<1x1x7xf32>) -> tensor<1x1x7xf32>
  // expected-remark@+1 {{[hoist-quantize: does-not-pay]}}
  %q = quant.qcast %y : tensor<1x1x7xf32> to tensor<1x1x7x!x>
  func.return %q : tensor<1x1x7x!x>
}

// CHECK-LABEL: func.func @difference(
// CHECK: %[[C:.*]] = onnx.Sub(
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[C]]
// CHECK-NEXT: onnx.MaxPool(%[[Q]])
// FLOAT-LABEL: func.func @difference(
// FLOAT: onnx.MaxPool(
// FLOAT-NEXT: quant.qcast
func.func @difference(%x: tensor<1x1x5x!x>, %y: tensor<1x1x5x!x>) -> tensor<1x1x4x!x> {
  %r = quant.dcast %x : tensor<1x1x5x!x> to tensor<1x1x5xf32>
  %s = quant.dcast %y : tensor<1x1x5x!x> to tensor<1x1x5xf32>
  %d = onnx.Sub(%r, %s) : (tensor<1x1x5xf32>, tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
  %m = onnx.MaxPool(%d) {kernel_shape = array<i64: 2>} : (tensor<1x1x5xf32>) -> tensor<1x1x4xf32>
  // expected-remark@+1 {{[hoist-quantize: does-not-pay]}}
  %q = quant.qcast %m : tensor<1x1x4xf32> to tensor<1x1x4x!x>
  func.return %q : tensor<1x1x4x!x>
}

// A MaxPool of images in float takes longer than to quantize all that it selects from; one of rows does not wait for it.

// CHECK-LABEL: func.func @pool_of_images(
// CHECK: %[[D:.*]] = onnx.LeakyRelu(%x)
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[D]]
// CHECK-NEXT: onnx.MaxPool(%[[Q]])
// FLOAT-LABEL: func.func @pool_of_images(
// FLOAT: onnx.MaxPool(
// FLOAT-NEXT: quant.qcast
func.func @pool_of_images(%x: tensor<1x3x4x6xf32>) -> tensor<1x3x2x3x!x> {
  %d = onnx.LeakyRelu(%x) {alpha = 0.1 : f32} : (tensor<1x3x4x6xf32>) -> tensor<1x3x4x6xf32>
  %m = onnx.MaxPool(%d) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x3x4x6xf32>) -> tensor<1x3x2x3xf32>
  // expected-remark@+1 {{[hoist-quantize: does-not-pay]}}
  %q = quant.qcast %m : tensor<1x3x2x3xf32> to tensor<1x3x2x3x!x>
  func.return %q : tensor<1x3x2x3x!x>
}

// CHECK-LABEL: func.func @unmoved_pool_of_rows(
// CHECK: onnx.MaxPool(
// CHECK-NEXT: quant.qcast
// FLOAT-LABEL: func.func @unmoved_pool_of_rows(
func.func @unmoved_pool_of_rows(%x: tensor<1x3x6xf32>) -> tensor<1x3x3x!x> {
  %d = onnx.LeakyRelu(%x) {alpha = 0.1 : f32} : (tensor<1x3x6xf32>) -> tensor<1x3x6xf32>
  %m = onnx.MaxPool(%d) {kernel_shape = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x3x6xf32>) -> tensor<1x3x3xf32>
  // expected-remark@+1 {{[hoist-quantize: does-not-pay]}}
  %q = quant.qcast %m : tensor<1x3x3xf32> to tensor<1x3x3x!x>
  func.return %q : tensor<1x3x3x!x>
}

// What is made from floats is not.

// CHECK-LABEL: func.func @unmoved_float(
// CHECK: onnx.Relu(
// CHECK-NEXT: quant.qcast
// FLOAT-LABEL: func.func @unmoved_float(
func.func @unmoved_float(%x: tensor<2x3xf32>) -> tensor<2x3x!x> {
  %d = onnx.Sub(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = onnx.Relu(%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{[hoist-quantize: does-not-pay]}}
  %q = quant.qcast %m : tensor<2x3xf32> to tensor<2x3x!x>
  func.return %q : tensor<2x3x!x>
}

// A clamp of a residual sum in float is a pass over four times the memory; a float product's kernel does it along.

!s = !quant.uniform<i8:f32, 0.02>
!s16 = !quant.uniform<i16:f32, 0.02>
!f = !quant.uniform<i8:f32, 0.01>

// CHECK-LABEL: func.func @residual(
// CHECK: %[[D:.*]] = onnx.Add(
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[D]]
// CHECK-NEXT: onnx.Relu(%[[Q]])
// FLOAT-LABEL: func.func @residual(
// FLOAT: onnx.Relu(
// FLOAT-NEXT: quant.qcast
func.func @residual(%x: tensor<1x3x4x6x!s>, %w: tensor<3x3x1x1x!f>, %y: tensor<1x3x4x6xf32>) -> tensor<1x3x4x6x!s> {
  %r = quant.dcast %x : tensor<1x3x4x6x!s> to tensor<1x3x4x6xf32>
  %v = quant.dcast %w : tensor<3x3x1x1x!f> to tensor<3x3x1x1xf32>
  %c = onnx.Conv(%r, %v) : (tensor<1x3x4x6xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x6xf32>
  %d = onnx.Add(%c, %y) : (tensor<1x3x4x6xf32>, tensor<1x3x4x6xf32>) -> tensor<1x3x4x6xf32>
  %m = onnx.Relu(%d) : (tensor<1x3x4x6xf32>) -> tensor<1x3x4x6xf32>
  // expected-remark@+1 {{[hoist-quantize: does-not-pay]}}
  %q = quant.qcast %m : tensor<1x3x4x6xf32> to tensor<1x3x4x6x!s>
  func.return %q : tensor<1x3x4x6x!s>
}

// CHECK-LABEL: func.func @unmoved_product_of_floats(
// CHECK: onnx.Relu(
// CHECK-NEXT: quant.qcast
func.func @unmoved_product_of_floats(%r: tensor<1x3x4x6xf32>, %w: tensor<3x3x1x1x!f>, %y: tensor<1x3x4x6xf32>) -> tensor<1x3x4x6x!s> {
  %v = quant.dcast %w : tensor<3x3x1x1x!f> to tensor<3x3x1x1xf32>
  %c = onnx.Conv(%r, %v) : (tensor<1x3x4x6xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x6xf32>
  %d = onnx.Add(%c, %y) : (tensor<1x3x4x6xf32>, tensor<1x3x4x6xf32>) -> tensor<1x3x4x6xf32>
  %m = onnx.Relu(%d) : (tensor<1x3x4x6xf32>) -> tensor<1x3x4x6xf32>
  // expected-remark@+1 {{[hoist-quantize: does-not-pay]}}
  %q = quant.qcast %m : tensor<1x3x4x6xf32> to tensor<1x3x4x6x!s>
  func.return %q : tensor<1x3x4x6x!s>
}

// CHECK-LABEL: func.func @unmoved_wide_storage(
// CHECK: onnx.Relu(
// CHECK-NEXT: quant.qcast
func.func @unmoved_wide_storage(%x: tensor<1x3x4x6x!s>, %w: tensor<3x3x1x1x!f>, %y: tensor<1x3x4x6xf32>) -> tensor<1x3x4x6x!s16> {
  %r = quant.dcast %x : tensor<1x3x4x6x!s> to tensor<1x3x4x6xf32>
  %v = quant.dcast %w : tensor<3x3x1x1x!f> to tensor<3x3x1x1xf32>
  %c = onnx.Conv(%r, %v) : (tensor<1x3x4x6xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x6xf32>
  %d = onnx.Add(%c, %y) : (tensor<1x3x4x6xf32>, tensor<1x3x4x6xf32>) -> tensor<1x3x4x6xf32>
  %m = onnx.Relu(%d) : (tensor<1x3x4x6xf32>) -> tensor<1x3x4x6xf32>
  // expected-remark@+1 {{[hoist-quantize: does-not-pay]}}
  %q = quant.qcast %m : tensor<1x3x4x6xf32> to tensor<1x3x4x6x!s16>
  func.return %q : tensor<1x3x4x6x!s16>
}

// CHECK-LABEL: func.func @unmoved_constant_summand(
// CHECK: onnx.Relu(
// CHECK-NEXT: quant.qcast
func.func @unmoved_constant_summand(%x: tensor<1x3x4x6x!s>, %w: tensor<3x3x1x1x!f>) -> tensor<1x3x4x6x!s> {
  %y = onnx.Constant() {value = dense<0.5> : tensor<1x3x4x6xf32>} : () -> tensor<1x3x4x6xf32>
  %r = quant.dcast %x : tensor<1x3x4x6x!s> to tensor<1x3x4x6xf32>
  %v = quant.dcast %w : tensor<3x3x1x1x!f> to tensor<3x3x1x1xf32>
  %c = onnx.Conv(%r, %v) : (tensor<1x3x4x6xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x6xf32>
  %d = onnx.Add(%c, %y) : (tensor<1x3x4x6xf32>, tensor<1x3x4x6xf32>) -> tensor<1x3x4x6xf32>
  %m = onnx.Relu(%d) : (tensor<1x3x4x6xf32>) -> tensor<1x3x4x6xf32>
  // expected-remark@+1 {{[hoist-quantize: does-not-pay]}}
  %q = quant.qcast %m : tensor<1x3x4x6xf32> to tensor<1x3x4x6x!s>
  func.return %q : tensor<1x3x4x6x!s>
}

// CHECK-LABEL: func.func @unmoved_no_sum(
// CHECK: onnx.Relu(
// CHECK-NEXT: quant.qcast
func.func @unmoved_no_sum(%x: tensor<1x3x4x6x!s>, %w: tensor<3x3x1x1x!f>, %y: tensor<1x3x4x6xf32>) -> tensor<1x3x4x6x!s> {
  %r = quant.dcast %x : tensor<1x3x4x6x!s> to tensor<1x3x4x6xf32>
  %v = quant.dcast %w : tensor<3x3x1x1x!f> to tensor<3x3x1x1xf32>
  %c = onnx.Conv(%r, %v) : (tensor<1x3x4x6xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x6xf32>
  %d = onnx.Mul(%c, %y) : (tensor<1x3x4x6xf32>, tensor<1x3x4x6xf32>) -> tensor<1x3x4x6xf32>
  %m = onnx.Relu(%d) : (tensor<1x3x4x6xf32>) -> tensor<1x3x4x6xf32>
  // expected-remark@+1 {{[hoist-quantize: does-not-pay]}}
  %q = quant.qcast %m : tensor<1x3x4x6xf32> to tensor<1x3x4x6x!s>
  func.return %q : tensor<1x3x4x6x!s>
}
