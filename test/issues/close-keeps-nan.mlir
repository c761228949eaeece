// RUN: OPT %s -p 'hoist-quantize{activations=true}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'hoist-quantize{activations=true}'
// RUN: OPT %s -p lower-to-qdq | FILECHECK %s --check-prefix=QDQ

// A root makes a NaN of a number: what is clamped behind its quantize is not clamped in front of it, at any level.

// CHECK-LABEL: func.func @unmoved_behind_a_root(
// CHECK: onnx.Relu({{.*}}) {{.*}}-> tensor<2x3xf32>
// CHECK-NEXT: quant.qcast
// QDQ-LABEL: func.func @unmoved_behind_a_root(
func.func @unmoved_behind_a_root(%v: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = onnx.Sqrt(%v) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %x = onnx.Add(%s, %v) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{a NaN would be quantized to the least integer before the selection [hoist-quantize: not-a-number]}}
  %q = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>>
  %d = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>> to tensor<2x3xf32>
  func.return %d : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @clamped_behind_a_root(
// QDQ-LABEL: func.func @clamped_behind_a_root(
// QDQ: %[[P:.*]] = onnx.Pow(%{{.*}}, %{{.*}})
// QDQ-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[P]]
// QDQ-NEXT: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]]
// QDQ-NEXT: onnx.Relu(%[[D]])
func.func @clamped_behind_a_root(%v: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %k = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %x = onnx.Pow(%v, %k) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>>
  %r = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>>
  %d = quant.dcast %r : tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>> to tensor<2x3xf32>
  func.return %d : tensor<2x3xf32>
}

// A square, and a quotient by what is never 0, are numbers.

// CHECK-LABEL: func.func @numbers(
// CHECK: %[[Q:.*]] = quant.qcast
// CHECK-NEXT: onnx.Relu(%[[Q]])
// QDQ-LABEL: func.func @numbers(
func.func @numbers(%v: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %two = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %p = onnx.Pow(%v, %two) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %x = onnx.Div(%p, %two) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %r = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>>
  %d = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>> to tensor<2x3xf32>
  func.return %d : tensor<2x3xf32>
}
