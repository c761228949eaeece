// RUN: OPT %s -p fold-identity | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-identity

// A chain of copies, one of an input; what was said of a copy is said of the original.

// CHECK-LABEL: func.func @copies(
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%x) attributes {onnx.quantization.0 = {SCALE_TENSOR = #onnx.tensor<[0.5] : tensor<f32>>}}
// CHECK-NEXT: func.return %[[R]], %x
func.func @copies(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %r = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = onnx.Identity(%r) attributes {onnx.quantization.0 = {SCALE_TENSOR = #onnx.tensor<[0.5] : tensor<f32>>}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = onnx.Identity(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = onnx.Identity(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %b, %c : tensor<2x3xf32>, tensor<2x3xf32>
}

// Nothing goes: the copy says more of its shape.

// CHECK-LABEL: func.func @unmoved_type_differs(
// CHECK-NEXT: %[[A:.*]] = onnx.Identity(%x)
// CHECK-NEXT: func.return %[[A]]
func.func @unmoved_type_differs(%x: tensor<*xf32>) -> tensor<2x3xf32> {
  // expected-remark@+1 {{onnx.Identity 'onnx.Identity': the copy is known to be of another type or shape [fold-identity: type-differs]}}
  %a = onnx.Identity(%x) : (tensor<*xf32>) -> tensor<2x3xf32>
  func.return %a : tensor<2x3xf32>
}

// Nothing goes: a branch has to make what it gives.

// CHECK-LABEL: func.func @unmoved_other_region(
// CHECK-NEXT: %[[N:.*]] = onnx.Neg(%x)
// CHECK: %[[A:.*]] = onnx.Identity(%[[N]])
// CHECK-NEXT: onnx.Yield(%[[A]])
func.func @unmoved_other_region(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %n = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = onnx.If(%p) then_branch {
    // expected-remark@+1 {{the original is outside this subgraph [fold-identity: other-region]}}
    %a = onnx.Identity(%n) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%a) : (tensor<2xf32>) -> ()
  } else_branch {
    %m = onnx.Abs(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%m) : (tensor<2xf32>) -> ()
  } : (tensor<i1>) -> tensor<2xf32>
  func.return %z : tensor<2xf32>
}
