// RUN: OPT %s -p fold-casts | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-casts

// Each branch requantizes, and from the same type: one requantization behind does.

// CHECK-LABEL: func.func @branches(
// CHECK-NEXT: %[[R:.*]] = onnx.If(%p) then_branch {
// CHECK-NEXT: %[[T:.*]] = onnx.Relu(%q)
// CHECK-NEXT: onnx.Yield(%[[T]]) : (tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
// CHECK-NEXT: } else_branch {
// CHECK-NEXT: onnx.Yield(%q) : (tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
// CHECK-NEXT: } : (tensor<i1>) -> tensor<2x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[R]]
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[D]] : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.05>>
// CHECK-NEXT: func.return %[[Q]]
func.func @branches(%p: tensor<i1>, %q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x!quant.uniform<u8:f32, 0.05>> {
  %r = onnx.If(%p) then_branch {
    %t = onnx.Relu(%q) : (tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x!quant.uniform<u8:f32, 0.02:13>>
    %d = quant.dcast %t : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
    // expected-remark@+1 {{[fold-casts: other-parameters]}}
    %u = quant.qcast %d : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.05>>
    onnx.Yield(%u) : (tensor<2x!quant.uniform<u8:f32, 0.05>>) -> ()
  } else_branch {
    %e = quant.dcast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
    %v = quant.qcast %e : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.05>>
    onnx.Yield(%v) : (tensor<2x!quant.uniform<u8:f32, 0.05>>) -> ()
  } : (tensor<i1>) -> tensor<2x!quant.uniform<u8:f32, 0.05>>
  func.return %r : tensor<2x!quant.uniform<u8:f32, 0.05>>
}

// From different types, each requantizes by itself.

// CHECK-LABEL: func.func @unmoved_sides_differ(
// CHECK: } : (tensor<i1>) -> tensor<2x!quant.uniform<u8:f32, 0.05>>
// CHECK-NEXT: func.return
func.func @unmoved_sides_differ(%p: tensor<i1>, %a: tensor<2x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x!quant.uniform<u8:f32, 0.5:13>>) -> tensor<2x!quant.uniform<u8:f32, 0.05>> {
  %r = onnx.If(%p) then_branch {
    %d = quant.dcast %a : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
    // expected-remark@+1 {{[fold-casts: other-parameters]}}
    %u = quant.qcast %d : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.05>>
    onnx.Yield(%u) : (tensor<2x!quant.uniform<u8:f32, 0.05>>) -> ()
  } else_branch {
    %e = quant.dcast %b : tensor<2x!quant.uniform<u8:f32, 0.5:13>> to tensor<2xf32>
    // expected-remark@+1 {{[fold-casts: other-parameters]}}
    %v = quant.qcast %e : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.05>>
    onnx.Yield(%v) : (tensor<2x!quant.uniform<u8:f32, 0.05>>) -> ()
  } : (tensor<i1>) -> tensor<2x!quant.uniform<u8:f32, 0.05>>
  func.return %r : tensor<2x!quant.uniform<u8:f32, 0.05>>
}

// One branch quantizes what it computed.

// CHECK-LABEL: func.func @unmoved_computed(
// CHECK: } : (tensor<i1>) -> tensor<2x!quant.uniform<u8:f32, 0.05>>
// CHECK-NEXT: func.return
func.func @unmoved_computed(%p: tensor<i1>, %x: tensor<2xf32>, %a: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x!quant.uniform<u8:f32, 0.05>> {
  %r = onnx.If(%p) then_branch {
    %d = quant.dcast %a : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
    // expected-remark@+1 {{[fold-casts: other-parameters]}}
    %u = quant.qcast %d : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.05>>
    onnx.Yield(%u) : (tensor<2x!quant.uniform<u8:f32, 0.05>>) -> ()
  } else_branch {
    %v = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.05>>
    onnx.Yield(%v) : (tensor<2x!quant.uniform<u8:f32, 0.05>>) -> ()
  } : (tensor<i1>) -> tensor<2x!quant.uniform<u8:f32, 0.05>>
  func.return %r : tensor<2x!quant.uniform<u8:f32, 0.05>>
}

// The requantized integers are needed in a branch besides.

// CHECK-LABEL: func.func @unmoved_used_within(
// CHECK: } : (tensor<i1>) -> (tensor<2x!quant.uniform<u8:f32, 0.05>>, tensor<2xui8>)
// CHECK-NEXT: func.return
func.func @unmoved_used_within(%p: tensor<i1>, %a: tensor<2x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2xui8>) -> tensor<2x!quant.uniform<u8:f32, 0.05>> {
  %r, %s = onnx.If(%p) then_branch {
    %d = quant.dcast %a : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
    // expected-remark@+1 {{[fold-casts: other-parameters]}}
    %u = quant.qcast %d : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.05>>
    %i = quant.scast %u : tensor<2x!quant.uniform<u8:f32, 0.05>> to tensor<2xui8>
    onnx.Yield(%u, %i) : (tensor<2x!quant.uniform<u8:f32, 0.05>>, tensor<2xui8>) -> ()
  } else_branch {
    %e = quant.dcast %a : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
    // expected-remark@+1 {{[fold-casts: other-parameters]}}
    %v = quant.qcast %e : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.05>>
    onnx.Yield(%v, %b) : (tensor<2x!quant.uniform<u8:f32, 0.05>>, tensor<2xui8>) -> ()
  } : (tensor<i1>) -> (tensor<2x!quant.uniform<u8:f32, 0.05>>, tensor<2xui8>)
  func.return %r : tensor<2x!quant.uniform<u8:f32, 0.05>>
}

// The parts that a Loop stacks have scales along an axis that is another one in the whole.

// CHECK-LABEL: func.func @unmoved_stacked_along_an_axis(
// CHECK: %[[B:.*]] = quant.qcast
// CHECK-NEXT: onnx.Yield(%k, %[[B]])
// CHECK: func.return %s
func.func @unmoved_stacked_along_an_axis(%n: tensor<i64>, %q: tensor<2x!quant.uniform<u8:f32:0, {0.02:13,0.5:7}>>) -> tensor<?x2x!quant.uniform<u8:f32, 0.03:5>> {
  %s = onnx.Loop(%n, _) body {
  ^bb0(%m: tensor<i64>, %k: tensor<i1>):
    %a = onnx.Neg(%q) : (tensor<2x!quant.uniform<u8:f32:0, {0.02:13,0.5:7}>>) -> tensor<2x!quant.uniform<u8:f32:0, {0.02:13,0.5:7}>>
    %d = quant.dcast %a : tensor<2x!quant.uniform<u8:f32:0, {0.02:13,0.5:7}>> to tensor<2xf32>
    // expected-remark@+1 {{[fold-casts: other-parameters]}}
    %b = quant.qcast %d : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.03:5>>
    onnx.Yield(%k, %b) : (tensor<i1>, tensor<2x!quant.uniform<u8:f32, 0.03:5>>) -> ()
  } : (tensor<i64>) -> tensor<?x2x!quant.uniform<u8:f32, 0.03:5>>
  func.return %s : tensor<?x2x!quant.uniform<u8:f32, 0.03:5>>
}
