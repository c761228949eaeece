// RUN: OPT %s -p lower-to-qoperator | FILECHECK %s
// RUN: OPT %s -p lower-to-qdq | FILECHECK %s --check-prefix=QDQ
// RUN: DIAGNOSTICS -p lower-to-qoperator

// Integers cross the boundary. As QDQ, floats do, and what quantized them at the end of a branch stands behind.

// CHECK-LABEL: func.func @branches(
// CHECK: onnx.Yield(%{{.*}}) : (tensor<2xui8>) -> ()
// CHECK: onnx.Yield(%{{.*}}) : (tensor<2xui8>) -> ()
// CHECK-NEXT: } : (tensor<i1>) -> tensor<2xui8>
// QDQ-LABEL: func.func @branches(
// QDQ: %[[R:.*]] = onnx.If(%p) then_branch {
// QDQ-NEXT: %[[T:.*]] = onnx.Exp(%x)
// QDQ-NEXT: onnx.Yield(%[[T]]) : (tensor<2xf32>) -> ()
// QDQ: } : (tensor<i1>) -> tensor<2xf32>
// QDQ-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[R]]
// QDQ-NEXT: onnx.DequantizeLinear(%[[Q]]
func.func @branches(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = onnx.If(%p) then_branch {
    %t = onnx.Exp(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %q = quant.qcast %t : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
    onnx.Yield(%q) : (tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
  } else_branch {
    %u = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %s = quant.qcast %u : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
    onnx.Yield(%s) : (tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
  } : (tensor<i1>) -> tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  %y = quant.dcast %r : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// Floats stay floats.

// CHECK-LABEL: func.func @unmoved_floats(
// CHECK: } : (tensor<i1>) -> tensor<2xf32>
// QDQ-LABEL: func.func @unmoved_floats(
// QDQ: } : (tensor<i1>) -> tensor<2xf32>
// QDQ-NEXT: func.return
func.func @unmoved_floats(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = onnx.If(%p) then_branch {
    %t = onnx.Exp(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%t) : (tensor<2xf32>) -> ()
  } else_branch {
    %u = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%u) : (tensor<2xf32>) -> ()
  } : (tensor<i1>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// Nothing moves: no kernel hands 4-bit integers on; as QDQ, floats cross.

// CHECK-LABEL: func.func @unmoved_four_bits(
// CHECK: } : (tensor<i1>) -> tensor<2x!quant.uniform<u4:f32, 0.5:3>>
// QDQ-LABEL: func.func @unmoved_four_bits(
// QDQ: } : (tensor<i1>) -> tensor<2xf32>
func.func @unmoved_four_bits(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-remark@+1 {{onnxruntime has no If on u4 in this opset [lower-to-qoperator: no-kernel]}}
  %r = onnx.If(%p) then_branch {
    %q = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<u4:f32, 0.5:3>>
    onnx.Yield(%q) : (tensor<2x!quant.uniform<u4:f32, 0.5:3>>) -> ()
  } else_branch {
    %u = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %s = quant.qcast %u : tensor<2xf32> to tensor<2x!quant.uniform<u4:f32, 0.5:3>>
    onnx.Yield(%s) : (tensor<2x!quant.uniform<u4:f32, 0.5:3>>) -> ()
  } : (tensor<i1>) -> tensor<2x!quant.uniform<u4:f32, 0.5:3>>
  %y = quant.dcast %r : tensor<2x!quant.uniform<u4:f32, 0.5:3>> to tensor<2xf32>
  func.return %y : tensor<2xf32>
}
