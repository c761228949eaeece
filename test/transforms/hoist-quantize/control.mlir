// RUN: OPT %s -p hoist-quantize | FILECHECK %s
// RUN: DIAGNOSTICS -p hoist-quantize

// A quantize behind an If stands at the end of each branch.

// CHECK-LABEL: func.func @branches(
// CHECK: %[[T:.*]] = onnx.Exp(%x)
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[T]]
// CHECK-NEXT: onnx.Yield(%[[Q]]) : (tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
// CHECK: onnx.Yield(%{{.*}}) : (tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
// CHECK-NEXT: } : (tensor<i1>) -> tensor<2x!quant.uniform<u8:f32, 0.02:13>>
func.func @branches(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2x!quant.uniform<u8:f32, 0.02:13>> {
  %r = onnx.If(%p) then_branch {
    %t = onnx.Exp(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%t) : (tensor<2xf32>) -> ()
  } else_branch {
    %u = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%u) : (tensor<2xf32>) -> ()
  } : (tensor<i1>) -> tensor<2xf32>
  %q = quant.qcast %r : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: %[[R:.*]] = onnx.If(%p)
// CHECK: quant.qcast %[[R]]
func.func @unmoved_second_consumer(%p: tensor<i1>, %x: tensor<2xf32>) -> (tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xf32>) {
  %r = onnx.If(%p) then_branch {
    %t = onnx.Exp(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%t) : (tensor<2xf32>) -> ()
  } else_branch {
    %u = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%u) : (tensor<2xf32>) -> ()
  } : (tensor<i1>) -> tensor<2xf32>
  // expected-remark@+1 {{[hoist-quantize: second-consumer]}}
  %q = quant.qcast %r : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q, %r : tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xf32>
}

// What each round gives is quantized there; what goes round is not, else a round would start from a rounded one.

// CHECK-LABEL: func.func @unmoved_carried(
// CHECK: %[[F:.*]], %[[S:.*]] = onnx.Loop(
// CHECK: %[[A:.*]] = onnx.Exp(
// CHECK-NEXT: %[[B:.*]] = quant.qcast %[[A]]
// CHECK-NEXT: onnx.Yield(%{{.*}}, %[[A]], %[[B]])
// CHECK: quant.qcast %[[F]]
func.func @unmoved_carried(%n: tensor<i64>, %x: tensor<2xf32>) -> (tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<?x2x!quant.uniform<u8:f32, 0.5:13>>) {
  %f, %s = onnx.Loop(%n, _, %x) body {
  ^bb0(%m: tensor<i64>, %k: tensor<i1>, %v: tensor<2xf32>):
    %a = onnx.Exp(%v) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%k, %a, %a) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> ()
  } : (tensor<i64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)
  // expected-remark@+1 {{each iteration would start from the rounded result of the previous one [hoist-quantize: quantizer-between]}}
  %q = quant.qcast %f : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  %r = quant.qcast %s : tensor<?x2xf32> to tensor<?x2x!quant.uniform<u8:f32, 0.5:13>>
  func.return %q, %r : tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<?x2x!quant.uniform<u8:f32, 0.5:13>>
}
