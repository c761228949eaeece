// RUN: OPT %s -p compose | FILECHECK %s
// RUN: DIAGNOSTICS -p compose

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>

// The bias joins the product, from either side, as a row or flat.

// CHECK-LABEL: func.func @bias(
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, -1.5] : tensor<2xf32>>}
// CHECK: onnx.Gemm(%{{.*}}, %{{.*}}, %[[B]]) : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
// CHECK-NOT: onnx.Add
func.func @bias(%x: tensor<3x4x!x>, %w: tensor<4x2x!w>) -> tensor<3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[0.5, -1.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %x : tensor<3x4x!x> to tensor<3x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %y = onnx.Add(%b, %p) : (tensor<2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @dequantized_row(
// CHECK: %[[B:.*]] = quant.dcast %{{.*}} : tensor<1x2x!quant.uniform<i8:f32, 0.5:3>> to tensor<1x2xf32>
// CHECK: onnx.Gemm(%{{.*}}, %{{.*}}, %[[B]])
// CHECK-NOT: onnx.Add
func.func @dequantized_row(%x: tensor<3x4x!x>, %w: tensor<4x2x!w>) -> tensor<3x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[5, -1] : tensor<1x2xi8>>} : () -> tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>
  %b = quant.dcast %c : tensor<1x2x!quant.uniform<i8:f32, 0.5:3>> to tensor<1x2xf32>
  %r = quant.dcast %x : tensor<3x4x!x> to tensor<3x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %y = onnx.Add(%p, %b) : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Nothing is composed: somebody else takes the product.

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: %[[P:.*]] = onnx.MatMul(
// CHECK-NEXT: onnx.Add(%[[P]]
func.func @unmoved_second_consumer(%x: tensor<3x4x!x>, %w: tensor<4x2x!w>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %b = onnx.Constant() {value = #onnx.tensor<[0.5, -1.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %x : tensor<3x4x!x> to tensor<3x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{onnx.Add 'onnx.Add': the product has a second consumer [compose: second-consumer]}}
  %y = onnx.Add(%p, %b) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y, %p : tensor<3x2xf32>, tensor<3x2xf32>
}

// Nothing is composed: a batch of matrices is no Gemm.

// CHECK-LABEL: func.func @unmoved_gemm_rank(
// CHECK: onnx.MatMul(
// CHECK-NEXT: onnx.Add(
func.func @unmoved_gemm_rank(%x: tensor<5x3x4x!x>, %w: tensor<4x2x!w>) -> tensor<5x3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[0.5, -1.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %x : tensor<5x3x4x!x> to tensor<5x3x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) : (tensor<5x3x4xf32>, tensor<4x2xf32>) -> tensor<5x3x2xf32>
  // expected-remark@+1 {{Gemm multiplies matrices, the operands have other ranks [compose: gemm-rank]}}
  %y = onnx.Add(%p, %b) : (tensor<5x3x2xf32>, tensor<2xf32>) -> tensor<5x3x2xf32>
  func.return %y : tensor<5x3x2xf32>
}

// Nothing is composed: one value for each row.

// CHECK-LABEL: func.func @unmoved_bias_shape(
// CHECK: onnx.MatMul(
// CHECK-NEXT: onnx.Add(
func.func @unmoved_bias_shape(%x: tensor<2x4x!x>, %w: tensor<4x2x!w>) -> tensor<2x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[0.5, -1.5] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %r = quant.dcast %x : tensor<2x4x!x> to tensor<2x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  // expected-remark@+1 {{what is added is not one value for each column [compose: bias-shape]}}
  %y = onnx.Add(%p, %b) : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// Nothing is composed: float operands, or nothing constant among the summands.

// CHECK-LABEL: func.func @unmoved_float(
// CHECK: onnx.MatMul(
// CHECK-NEXT: onnx.Add(
// CHECK-NEXT: onnx.Add(
func.func @unmoved_float(%x: tensor<3x4xf32>, %w: tensor<4x2xf32>, %c: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %b = onnx.Constant() {value = #onnx.tensor<[0.5, -1.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %p = onnx.MatMul(%x, %w) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %y = onnx.Add(%p, %b) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %z = onnx.Add(%p, %c) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y, %z : tensor<3x2xf32>, tensor<3x2xf32>
}
