// RUN: OPT %s -p 'insert-casts{target=generic}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'insert-casts{target=generic}'

// A pair in front, one behind the activation, none between: the product and its clamp are one kernel.
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT: %[[V0:.*]] = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.011764706:85>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<5x3x!quant.uniform<u8:f32, 0.011764706:85>> to tensor<5x3xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.Constant() {value = #onnx.tensor<[127, -64, 64, 8, 0, 127] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32:1, {0.007874016,0.031496063}>>
// CHECK-NEXT: %[[V3:.*]] = quant.dcast %[[V2]] : tensor<3x2x!quant.uniform<i8:f32:1, {0.007874016,0.031496063}>> to tensor<3x2xf32>
// CHECK-NEXT: %p = onnx.MatMul(%[[V1]], %[[V3]]) : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: %r = onnx.Relu(%p) : (tensor<5x2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: %[[V4:.*]] = quant.qcast %r : tensor<5x2xf32> to tensor<5x2x!quant.uniform<u8:f32, 0.015686275>>
// CHECK-NEXT: %[[V5:.*]] = quant.dcast %[[V4]] : tensor<5x2x!quant.uniform<u8:f32, 0.015686275>> to tensor<5x2xf32>
// CHECK-NEXT: %[[V6:.*]] = onnx.Constant() {value = #onnx.tensor<[127, 127, 127, -32, 0, 32] : tensor<2x3xi8>>} : () -> tensor<2x3x!q0>
// CHECK-NEXT: %[[V7:.*]] = quant.dcast %[[V6]] : tensor<2x3x!q0> to tensor<2x3xf32>
// CHECK-NEXT: %y = onnx.MatMul(%[[V5]], %[[V7]]) : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %[[V8:.*]] = quant.qcast %y : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.033333335:15>>
// CHECK-NEXT: %[[V9:.*]] = quant.dcast %[[V8]] : tensor<5x3x!quant.uniform<u8:f32, 0.033333335:15>> to tensor<5x3xf32>
// CHECK-NEXT: func.return %[[V9]] : tensor<5x3xf32>
func.func @chain(%x: tensor<5x3xf32> {qdialect.range = array<f64: -1.0, 2.0>}) -> tensor<5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 0.5, 0.25, 0.0, 4.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %v = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 0.5, -0.25, 0.0, 0.125] : tensor<2x3xf32>>} : () -> tensor<2x3xf32>
  %p = onnx.MatMul(%x, %w) attributes {qdialect.range = array<f64: -3.0, 4.0>} : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  %r = onnx.Relu(%p) attributes {qdialect.range = array<f64: 0.0, 4.0>} : (tensor<5x2xf32>) -> tensor<5x2xf32>
  %y = onnx.MatMul(%r, %v) attributes {qdialect.range = array<f64: -0.5, 8.0>} : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// A range whose steps would not be normal float32 is no range: its integers stand for [0, 1].
// CHECK-LABEL: func.func @ranges_near_zero(
// CHECK: quant.qcast %x : {{.*}} to tensor<5x3x!quant.uniform<u8:f32, 0.003921569>>
// CHECK: quant.qcast %{{.*}} : {{.*}} to tensor<5x2x!quant.uniform<u8:f32, 7.843137e-33>>
func.func @ranges_near_zero(%x: tensor<5x3xf32> {qdialect.range = array<f64: -1.0e-36, 1.0e-36>}) -> tensor<5x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 0.5, 0.25, 0.0, 4.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %y = onnx.MatMul(%x, %w) attributes {qdialect.range = array<f64: 0.0, 2.0e-30>} : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  func.return %y : tensor<5x2xf32>
}

// What moves or selects has one type on both sides: that of the whole group, of the widest range.
// CHECK-LABEL: func.func @one_type(
// CHECK-NEXT: %[[V0:.*]] = quant.qcast %y : tensor<1x3x2x3xf32> to tensor<1x3x2x3x!quant.uniform<u8:f32, 0.023529412:170>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<1x3x2x3x!quant.uniform<u8:f32, 0.023529412:170>> to tensor<1x3x2x3xf32>
// CHECK-NEXT: %[[V2:.*]] = quant.qcast %x : tensor<1x2x4x6xf32> to tensor<1x2x4x6x!quant.uniform<u8:f32, 0.023529412:170>>
// CHECK-NEXT: %[[V3:.*]] = quant.dcast %[[V2]] : tensor<1x2x4x6x!quant.uniform<u8:f32, 0.023529412:170>> to tensor<1x2x4x6xf32>
// CHECK-NEXT: %m = onnx.MaxPool(%[[V3]]) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x6xf32>) -> tensor<1x2x2x3xf32>
// CHECK-NEXT: %[[V4:.*]] = quant.qcast %m : tensor<1x2x2x3xf32> to tensor<1x2x2x3x!quant.uniform<u8:f32, 0.023529412:170>>
// CHECK-NEXT: %[[V5:.*]] = quant.dcast %[[V4]] : tensor<1x2x2x3x!quant.uniform<u8:f32, 0.023529412:170>> to tensor<1x2x2x3xf32>
// CHECK-NEXT: %c = onnx.Concat(%[[V5]], %[[V1]]) {axis = 1 : i64} : (tensor<1x2x2x3xf32>, tensor<1x3x2x3xf32>) -> tensor<1x5x2x3xf32>
// CHECK-NEXT: %[[V6:.*]] = quant.qcast %c : tensor<1x5x2x3xf32> to tensor<1x5x2x3x!quant.uniform<u8:f32, 0.023529412:170>>
// CHECK-NEXT: %[[V7:.*]] = quant.dcast %[[V6]] : tensor<1x5x2x3x!quant.uniform<u8:f32, 0.023529412:170>> to tensor<1x5x2x3xf32>
// CHECK-NEXT: %[[V8:.*]] = onnx.Constant() {value = #onnx.tensor<[32, 64, 16, -8, 127] : tensor<1x5x1x1xi8>>} : () -> tensor<1x5x1x1x!quant.uniform<i8:f32, 0.031496063>>
// CHECK-NEXT: %[[V9:.*]] = quant.dcast %[[V8]] : tensor<1x5x1x1x!quant.uniform<i8:f32, 0.031496063>> to tensor<1x5x1x1xf32>
// CHECK-NEXT: %z = onnx.Conv(%[[V7]], %[[V9]], _) : (tensor<1x5x2x3xf32>, tensor<1x5x1x1xf32>) -> tensor<1x1x2x3xf32>
// CHECK-NEXT: %[[V10:.*]] = quant.qcast %z : tensor<1x1x2x3xf32> to tensor<1x1x2x3x!quant.uniform<u8:f32, 0.033333335:15>>
// CHECK-NEXT: %[[V11:.*]] = quant.dcast %[[V10]] : tensor<1x1x2x3x!quant.uniform<u8:f32, 0.033333335:15>> to tensor<1x1x2x3xf32>
// CHECK-NEXT: func.return %[[V11]] : tensor<1x1x2x3xf32>
func.func @one_type(%x: tensor<1x2x4x6xf32> {qdialect.range = array<f64: -1.0, 2.0>}, %y: tensor<1x3x2x3xf32> {qdialect.range = array<f64: -4.0, 1.0>}) -> tensor<1x1x2x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 0.5, -0.25, 4.0] : tensor<1x5x1x1xf32>>} : () -> tensor<1x5x1x1xf32>
  %m = onnx.MaxPool(%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} attributes {qdialect.range = array<f64: 0.0, 2.0>} : (tensor<1x2x4x6xf32>) -> tensor<1x2x2x3xf32>
  %c = onnx.Concat(%m, %y) {axis = 1 : i64} attributes {qdialect.range = array<f64: -4.0, 2.0>} : (tensor<1x2x2x3xf32>, tensor<1x3x2x3xf32>) -> tensor<1x5x2x3xf32>
  %z = onnx.Conv(%c, %w) attributes {qdialect.range = array<f64: -0.5, 8.0>} : (tensor<1x5x2x3xf32>, tensor<1x5x1x1xf32>) -> tensor<1x1x2x3xf32>
  func.return %z : tensor<1x1x2x3xf32>
}

// Each operand of an addition has parameters of its own. Softmax stays in float.
// CHECK-LABEL: func.func @residual(
// CHECK-NEXT: %[[V0:.*]] = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.011764706:85>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<5x3x!quant.uniform<u8:f32, 0.011764706:85>> to tensor<5x3xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.Constant() {value = #onnx.tensor<[127, -127, 16, 32, 0, 127, -127, 127, 16] : tensor<3x3xi8>>} : () -> tensor<3x3x!q1>
// CHECK-NEXT: %[[V3:.*]] = quant.dcast %[[V2]] : tensor<3x3x!q1> to tensor<3x3xf32>
// CHECK-NEXT: %p = onnx.MatMul(%[[V1]], %[[V3]]) : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %[[V4:.*]] = quant.qcast %p : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.02745098:109>>
// CHECK-NEXT: %[[V5:.*]] = quant.dcast %[[V4]] : tensor<5x3x!quant.uniform<u8:f32, 0.02745098:109>> to tensor<5x3xf32>
// CHECK-NEXT: %s = onnx.Add(%[[V1]], %[[V5]]) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %[[V6:.*]] = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.039215688:102>>
// CHECK-NEXT: %[[V7:.*]] = quant.dcast %[[V6]] : tensor<5x3x!quant.uniform<u8:f32, 0.039215688:102>> to tensor<5x3xf32>
// CHECK-NEXT: %y = onnx.Softmax(%[[V7]]) {axis = -1 : i64} : (tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: func.return %y : tensor<5x3xf32>
func.func @residual(%x: tensor<5x3xf32> {qdialect.range = array<f64: -1.0, 2.0>}) -> tensor<5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 0.5, 0.25, 0.0, 4.0, -1.0, 2.0, 0.5] : tensor<3x3xf32>>} : () -> tensor<3x3xf32>
  %p = onnx.MatMul(%x, %w) attributes {qdialect.range = array<f64: -3.0, 4.0>} : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
  %s = onnx.Add(%x, %p) attributes {qdialect.range = array<f64: -4.0, 6.0>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = onnx.Softmax(%s) {axis = -1 : i64} attributes {qdialect.range = array<f64: 0.0, 1.0>} : (tensor<5x3xf32>) -> tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_no_range(
// CHECK: %p = onnx.MatMul(%x, %w) : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: func.return %p : tensor<5x2xf32>
func.func @unmoved_no_range(%x: tensor<5x3xf32>) -> tensor<5x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 0.5, 0.25, 0.0, 4.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  // expected-remark@+1 {{an operand or the result has no range; calibrate the model [insert-casts: no-range]}}
  %p = onnx.MatMul(%x, %w) attributes {qdialect.range = array<f64: -3.0, 4.0>} : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  func.return %p : tensor<5x2xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_weight(
// CHECK: %p = onnx.MatMul(%x, %w) : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: func.return %p : tensor<5x2xf32>
func.func @unmoved_computed_weight(%x: tensor<5x3xf32> {qdialect.range = array<f64: -1.0, 2.0>}, %w: tensor<3x2xf32> {qdialect.range = array<f64: -1.0, 2.0>}) -> tensor<5x2xf32> {
  // expected-remark@+1 {{the weight is computed at run time [insert-casts: computed-parameter]}}
  %p = onnx.MatMul(%x, %w) attributes {qdialect.range = array<f64: -3.0, 4.0>} : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  func.return %p : tensor<5x2xf32>
}
