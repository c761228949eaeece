// Reshapes that split or merge the axis along which there are scales: each element keeps its own.
// RUN: OPT %s -p hoist-quantize | FILECHECK %s
// RUN: DIAGNOSTICS -p hoist-quantize

// CHECK-LABEL: func.func @merged_in_front(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0}>>
// CHECK-NEXT: onnx.Reshape(%[[Q]], %{{.*}}) {{.*}}-> tensor<6x!quant.uniform<i8:f32:0, {1.0,1.0,2.0:3,2.0:3,4.0,4.0}>>
func.func @merged_in_front(%x: tensor<3x2xf32>) -> tensor<6x!quant.uniform<i8:f32:0, {1.0,1.0,2.0:3,2.0:3,4.0,4.0}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[6] : tensor<1xi64>>} : () -> tensor<1xi64>
  %y = onnx.Reshape(%x, %c) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<6xf32>
  %q = quant.qcast %y : tensor<6xf32> to tensor<6x!quant.uniform<i8:f32:0, {1.0,1.0,2.0:3,2.0:3,4.0,4.0}>>
  func.return %q : tensor<6x!quant.uniform<i8:f32:0, {1.0,1.0,2.0:3,2.0:3,4.0,4.0}>>
}

// CHECK-LABEL: func.func @merged_behind(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3x4xf32> to tensor<2x3x4x!quant.uniform<i8:f32:1, {1.0,2.0:3,4.0}>>
// CHECK-NEXT: onnx.Reshape(%[[Q]], %{{.*}}) {{.*}}-> tensor<6x4x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0,1.0,2.0:3,4.0}>>
func.func @merged_behind(%x: tensor<2x3x4xf32>) -> tensor<6x4x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0,1.0,2.0:3,4.0}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[6, 4] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Reshape(%x, %c) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  %q = quant.qcast %y : tensor<6x4xf32> to tensor<6x4x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0,1.0,2.0:3,4.0}>>
  func.return %q : tensor<6x4x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0,1.0,2.0:3,4.0}>>
}

// CHECK-LABEL: func.func @split_in_groups(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<?x6x4xf32> to tensor<?x6x4x!quant.uniform<i8:f32:1, {1.0,1.0,2.0:3,2.0:3,4.0,4.0}>>
// CHECK-NEXT: onnx.Reshape(%[[Q]], %{{.*}}) {{.*}}-> tensor<?x3x2x4x!quant.uniform<i8:f32:1, {1.0,2.0:3,4.0}>>
func.func @split_in_groups(%x: tensor<?x6x4xf32>) -> tensor<?x3x2x4x!quant.uniform<i8:f32:1, {1.0,2.0:3,4.0}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 3, 2, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Reshape(%x, %c) : (tensor<?x6x4xf32>, tensor<4xi64>) -> tensor<?x3x2x4xf32>
  %q = quant.qcast %y : tensor<?x3x2x4xf32> to tensor<?x3x2x4x!quant.uniform<i8:f32:1, {1.0,2.0:3,4.0}>>
  func.return %q : tensor<?x3x2x4x!quant.uniform<i8:f32:1, {1.0,2.0:3,4.0}>>
}

// CHECK-LABEL: func.func @split_in_periods(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<6xf32> to tensor<6x!quant.uniform<i8:f32:0, {1.0,2.0:3,1.0,2.0:3,1.0,2.0:3}>>
// CHECK-NEXT: onnx.Reshape(%[[Q]], %{{.*}}) {{.*}}-> tensor<3x2x!quant.uniform<i8:f32:1, {1.0,2.0:3}>>
func.func @split_in_periods(%x: tensor<6xf32>) -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0,2.0:3}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[3, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Reshape(%x, %c) : (tensor<6xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  %q = quant.qcast %y : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i8:f32:1, {1.0,2.0:3}>>
  func.return %q : tensor<3x2x!quant.uniform<i8:f32:1, {1.0,2.0:3}>>
}

// CHECK-LABEL: func.func @split_and_merged(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x4x3xf32> to tensor<2x4x3x!quant.uniform<i8:f32:1, {1.0,1.0,2.0:3,2.0:3}>>
// CHECK-NEXT: onnx.Reshape(%[[Q]], %{{.*}}) {{.*}}-> tensor<4x6x!quant.uniform<i8:f32:0, {1.0,2.0:3,1.0,2.0:3}>>
func.func @split_and_merged(%x: tensor<2x4x3xf32>) -> tensor<4x6x!quant.uniform<i8:f32:0, {1.0,2.0:3,1.0,2.0:3}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[4, 6] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Reshape(%x, %c) : (tensor<2x4x3xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  %q = quant.qcast %y : tensor<4x6xf32> to tensor<4x6x!quant.uniform<i8:f32:0, {1.0,2.0:3,1.0,2.0:3}>>
  func.return %q : tensor<4x6x!quant.uniform<i8:f32:0, {1.0,2.0:3,1.0,2.0:3}>>
}

// CHECK-LABEL: func.func @unmoved_scales_along_axis(
// CHECK: %[[M:.*]] = onnx.Reshape(%x
// CHECK-NEXT: quant.qcast %[[M]]
func.func @unmoved_scales_along_axis(%x: tensor<3x2xf32>) -> tensor<6x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0,4.0,2.0:3,1.0}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[6] : tensor<1xi64>>} : () -> tensor<1xi64>
  %y = onnx.Reshape(%x, %c) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<6xf32>
  // expected-remark@+1 {{[hoist-quantize: scales-along-axis]}}
  %q = quant.qcast %y : tensor<6xf32> to tensor<6x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0,4.0,2.0:3,1.0}>>
  func.return %q : tensor<6x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0,4.0,2.0:3,1.0}>>
}
