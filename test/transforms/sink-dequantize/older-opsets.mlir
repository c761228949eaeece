// RUN: OPT %s -p sink-dequantize | FILECHECK %s
// RUN: DIAGNOSTICS -p sink-dequantize

// Opset 9: what became inputs later were attributes.

builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
// CHECK-LABEL: func.func @squeeze_11(
// CHECK: %[[M:.*]] = onnx.Squeeze(%q{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @squeeze_11(%q: tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> to tensor<1x2x1x3xf32>
  %y = onnx.Squeeze(%r) {axes = array<i64: 0, 2>} : (tensor<1x2x1x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unsqueeze_11(
// CHECK: %[[M:.*]] = onnx.Unsqueeze(%q{{.*}}) {{.*}}-> tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> to tensor<1x2x1x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @unsqueeze_11(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<1x2x1x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = onnx.Unsqueeze(%r) {axes = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<1x2x1x3xf32>
  func.return %y : tensor<1x2x1x3xf32>
}

// CHECK-LABEL: func.func @clip_6(
// CHECK: %[[M:.*]] = onnx.Clip(%q{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @clip_6(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Clip(%r) {min = 0.0 : f32, max = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @pad_2(
// CHECK: %[[M:.*]] = onnx.Pad(%q{{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<5x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @pad_2(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<5x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = onnx.Pad(%r) {pads = array<i64: 1, 0, 2, 0>} : (tensor<2x3xf32>) -> tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @slice_1(
// CHECK: %[[M:.*]] = onnx.Slice(%q{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.25:-7,0.125,0.75:9}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {0.25:-7,0.125,0.75:9}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @slice_1(%q: tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<2x6xf32>
  %y = onnx.Slice(%r) {axes = array<i64: 1>, starts = array<i64: 1>, ends = array<i64: -2>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_2(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Pad(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_pad_2(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x6xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: value-rounds]}}
  %y = onnx.Pad(%r) {pads = array<i64: 0, 1, 0, 2>, value = -0.25 : f32} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

}

// A slope of 0 makes PRelu a Relu; any other makes new numbers.

// CHECK-LABEL: func.func @prelu(
// CHECK: %[[M:.*]] = onnx.PRelu(%q, %{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @prelu(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.PRelu(%r, %s) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_prelu(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.PRelu(%[[R]]
func.func @unmoved_prelu(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<1xf32>>} : () -> tensor<1xf32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: slope]}}
  %y = onnx.PRelu(%r, %s) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
