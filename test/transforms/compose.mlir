// RUN: OPT %s -p compose | FILECHECK %s
// RUN: DIAGNOSTICS -p compose

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>

// CHECK-LABEL: func.func @float_bias(
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>}
// CHECK-DAG: %[[X:.*]] = quant.dcast %x
// CHECK-DAG: %[[W:.*]] = quant.dcast %w
// CHECK: %[[Y:.*]] = onnx.Gemm(%[[X]], %[[W]], %[[B]]) : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @float_bias(%x: tensor<3x4x!x>, %w: tensor<4x2x!w>) -> tensor<3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %x : tensor<3x4x!x> to tensor<3x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %y = onnx.Add(%p, %b) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// The bias stands first, is quantized, and has a row of its own.

// CHECK-LABEL: func.func @quantized_bias_first(
// CHECK: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[8, -4] : tensor<1x2xi32>>}
// CHECK-DAG: %[[B:.*]] = quant.dcast %[[C]]
// CHECK-DAG: %[[X:.*]] = quant.dcast %x
// CHECK-DAG: %[[W:.*]] = quant.dcast %w
// CHECK: %[[Y:.*]] = onnx.Gemm(%[[X]], %[[W]], %[[B]]) : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @quantized_bias_first(%x: tensor<3x4x!x>, %w: tensor<4x2x!w>) -> tensor<3x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[8, -4] : tensor<1x2xi32>>} : () -> tensor<1x2x!quant.uniform<i32:f32:1, {0.01,0.005}>>
  %b = quant.dcast %c : tensor<1x2x!quant.uniform<i32:f32:1, {0.01,0.005}>> to tensor<1x2xf32>
  %r = quant.dcast %x : tensor<3x4x!x> to tensor<3x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %y = onnx.Add(%b, %p) : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// A product of floats stays: no integer kernel is at stake, and the sum would round elsewhere.

// CHECK-LABEL: func.func @unmoved_float(
// CHECK: %[[P:.*]] = onnx.MatMul(%x, %{{.*}})
// CHECK-NEXT: onnx.Add(%[[P]], %{{.*}})
func.func @unmoved_float(%x: tensor<3x4xf32>, %w: tensor<4x2x!w>) -> tensor<3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%x, %s) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %y = onnx.Add(%p, %b) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// What is added is computed: another branch, no bias.

// CHECK-LABEL: func.func @unmoved_computed(
// CHECK: %[[P:.*]] = onnx.MatMul(
// CHECK-NEXT: onnx.Add(%[[P]], %b)
func.func @unmoved_computed(%x: tensor<3x4x!x>, %w: tensor<4x2x!w>, %b: tensor<2xf32>) -> tensor<3x2xf32> {
  %r = quant.dcast %x : tensor<3x4x!x> to tensor<3x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %y = onnx.Add(%p, %b) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: %[[P:.*]] = onnx.MatMul(
// CHECK-NEXT: %[[Y:.*]] = onnx.Add(%[[P]], %{{.*}})
// CHECK-NEXT: func.return %[[P]], %[[Y]]
func.func @unmoved_second_consumer(%x: tensor<3x4x!x>, %w: tensor<4x2x!w>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %x : tensor<3x4x!x> to tensor<3x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{the product has a second consumer [compose: second-consumer]}}
  %y = onnx.Add(%p, %b) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %p, %y : tensor<3x2xf32>, tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_kept_float(
// CHECK: %[[P:.*]] = onnx.MatMul(
// CHECK-NEXT: onnx.Add(%[[P]], %{{.*}})
func.func @unmoved_kept_float(%x: tensor<3x4x!x>, %w: tensor<4x2x!w>) -> tensor<3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %x : tensor<3x4x!x> to tensor<3x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) attributes {qdialect.keep_float} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{[compose: kept-float]}}
  %y = onnx.Add(%p, %b) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_gemm_rank(
// CHECK: %[[P:.*]] = onnx.MatMul(
// CHECK-NEXT: onnx.Add(%[[P]], %{{.*}})
func.func @unmoved_gemm_rank(%x: tensor<5x3x4x!x>, %w: tensor<4x2x!w>) -> tensor<5x3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %x : tensor<5x3x4x!x> to tensor<5x3x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) : (tensor<5x3x4xf32>, tensor<4x2xf32>) -> tensor<5x3x2xf32>
  // expected-remark@+1 {{Gemm multiplies matrices, the operands have other ranks [compose: invalid-op]}}
  %y = onnx.Add(%p, %b) : (tensor<5x3x2xf32>, tensor<2xf32>) -> tensor<5x3x2xf32>
  func.return %y : tensor<5x3x2xf32>
}

// One value for each row.

// CHECK-LABEL: func.func @unmoved_bias_shape(
// CHECK: %[[P:.*]] = onnx.MatMul(
// CHECK-NEXT: onnx.Add(%[[P]], %{{.*}})
func.func @unmoved_bias_shape(%x: tensor<3x4x!x>, %w: tensor<4x2x!w>) -> tensor<3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5, 3.5] : tensor<3x1xf32>>} : () -> tensor<3x1xf32>
  %r = quant.dcast %x : tensor<3x4x!x> to tensor<3x4xf32>
  %s = quant.dcast %w : tensor<4x2x!w> to tensor<4x2xf32>
  %p = onnx.MatMul(%r, %s) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{the addend is not one value for each column [compose: bias-shape]}}
  %y = onnx.Add(%p, %b) : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}
