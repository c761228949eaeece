// RUN: OPT %s -p 'hoist-quantize{activations=true selects=false}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'hoist-quantize{activations=true selects=false}'
// RUN: OPT %s -p 'lower-to-qdq{selects=false}' | FILECHECK %s --check-prefix=QDQ

// A quantize makes the least integer of a NaN, which a Relu in front of it lets through and one behind it does not:
// bit for bit, neither stands in the other's place.

// CHECK-LABEL: func.func @unmoved_not_a_number(
// CHECK: onnx.Relu(%x) {{.*}}-> tensor<2x3xf32>
// CHECK-NEXT: quant.qcast
// QDQ-LABEL: func.func @unmoved_not_a_number(
// QDQ: onnx.Relu(%x)
func.func @unmoved_not_a_number(%v: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %x = onnx.Sqrt(%v) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{a NaN would be quantized to the least integer before the selection [hoist-quantize: not-a-number]}}
  %q = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>>
  %d = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>> to tensor<2x3xf32>
  func.return %d : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @behind(
// QDQ-LABEL: func.func @behind(
// QDQ: %[[Q:.*]] = onnx.QuantizeLinear(%x
// QDQ-NEXT: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]]
// QDQ-NEXT: onnx.Relu(%[[D]])
func.func @behind(%v: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %x = onnx.Sqrt(%v) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>>
  %r = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>>
  %d = quant.dcast %r : tensor<2x3x!quant.uniform<i8:f32, 0.05:-7>> to tensor<2x3xf32>
  func.return %d : tensor<2x3xf32>
}
