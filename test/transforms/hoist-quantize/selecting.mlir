// RUN: OPT %s -p hoist-quantize | FILECHECK %s
// RUN: DIAGNOSTICS -p hoist-quantize

// CHECK-LABEL: func.func @reverse_sequence(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<4x3xf32> to tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.ReverseSequence(%[[Q]], %i{{.*}}) {{.*}}-> tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @reverse_sequence(%x: tensor<4x3xf32>, %i: tensor<3xi64>) -> tensor<4x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.ReverseSequence(%x, %i) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  %q = quant.qcast %y : tensor<4x3xf32> to tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @reverse_sequence_per_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.ReverseSequence(%[[Q]], %i{{.*}}) {{.*}}-> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @reverse_sequence_per_axis(%x: tensor<4x3xf32>, %i: tensor<3xi64>) -> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.ReverseSequence(%x, %i) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  %q = quant.qcast %y : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// More elements above than below, but what makes them makes integers: a dequantize, a constant, an integer kernel.

// CHECK-LABEL: func.func @shrinking_dequantized(
// CHECK: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[X]] : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: onnx.Gather(%[[Q]], %i)
func.func @shrinking_dequantized(%a: tensor<5x3x!quant.uniform<u8:f32, 0.03:13>>, %i: tensor<2xi64>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.03:13>> to tensor<5x3xf32>
  %y = onnx.Gather(%x, %i) : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @shrinking_kernel(
// CHECK: %[[X:.*]] = onnx.MatMul(%{{.*}}, %{{.*}})
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[X]] : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: onnx.Gather(%[[Q]], %i)
func.func @shrinking_kernel(%a: tensor<5x4x!quant.uniform<u8:f32, 0.03:13>>, %b: tensor<4x3x!quant.uniform<u8:f32, 0.03:13>>, %i: tensor<2xi64>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %r = quant.dcast %a : tensor<5x4x!quant.uniform<u8:f32, 0.03:13>> to tensor<5x4xf32>
  %s = quant.dcast %b : tensor<4x3x!quant.uniform<u8:f32, 0.03:13>> to tensor<4x3xf32>
  %x = onnx.MatMul(%r, %s) : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  %y = onnx.Gather(%x, %i) : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// Nothing moves: rows change places, their scales would not.

// CHECK-LABEL: func.func @unmoved_reverse_sequence(
// CHECK: %[[M:.*]] = onnx.ReverseSequence(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_reverse_sequence(%x: tensor<3x4xf32>, %i: tensor<4xi64>) -> tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.ReverseSequence(%x, %i) : (tensor<3x4xf32>, tensor<4xi64>) -> tensor<3x4xf32>
  // expected-remark@+1 {{[hoist-quantize: scales-along-axis]}}
  %q = quant.qcast %y : tensor<3x4xf32> to tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
}

// Nothing moves: of the elements cut away no scale is known.

// CHECK-LABEL: func.func @unmoved_slice_of_the_axis(
// CHECK: %[[M:.*]] = onnx.Slice(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_slice_of_the_axis(%x: tensor<2x6xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %y = onnx.Slice(%x, %c, %d, %e) : (tensor<2x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  // expected-remark@+1 {{[hoist-quantize: scales-along-axis]}}
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @unmoved_gather_of_the_axis(
// CHECK: %[[M:.*]] = onnx.Gather(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_gather_of_the_axis(%x: tensor<3x3xf32>) -> tensor<3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 0, 1] : tensor<3xi64>>} : () -> tensor<3xi64>
  %y = onnx.Gather(%x, %c) {axis = 1 : i64} : (tensor<3x3xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  // expected-remark@+1 {{[hoist-quantize: scales-along-axis]}}
  %q = quant.qcast %y : tensor<3x3xf32> to tensor<3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// Nothing moves: five rows would be quantized for two.

// CHECK-LABEL: func.func @unmoved_more_work(
// CHECK-NEXT: %[[Y:.*]] = onnx.Gather(%x, %i)
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_more_work(%x: tensor<5x3xf32>, %i: tensor<2xi64>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Gather(%x, %i) : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  // expected-remark@+1 {{the operand has more elements to quantize than the result [hoist-quantize: does-not-pay]}}
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}
