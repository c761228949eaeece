// RUN: OPT %s -p sink-dequantize | FILECHECK %s
// RUN: DIAGNOSTICS -p sink-dequantize

// Both branches of one type: the integers leave, what is made in the branch as what was captured.

// CHECK-LABEL: func.func @branches(
// CHECK-NEXT: %[[R:.*]] = onnx.If(%p) then_branch {
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%q)
// CHECK-NEXT: onnx.Yield(%[[T]]) : (tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
// CHECK: else_branch {
// CHECK-NEXT: onnx.Yield(%q) : (tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
// CHECK-NEXT: } : (tensor<i1>) -> tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[R]]
// CHECK-NEXT: func.return %[[D]]
func.func @branches(%p: tensor<i1>, %q: tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x2xf32> {
  %d = quant.dcast %q : tensor<2x2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x2xf32>
  %r = onnx.If(%p) then_branch {
    %t = onnx.Transpose(%d) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    onnx.Yield(%t) : (tensor<2x2xf32>) -> ()
  } else_branch {
    onnx.Yield(%d) : (tensor<2x2xf32>) -> ()
  } : (tensor<i1>) -> tensor<2x2xf32>
  func.return %r : tensor<2x2xf32>
}

// A constant that the type expresses is one of its integers.

// CHECK-LABEL: func.func @branch_of_zeros(
// CHECK: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[13, 13] : tensor<2xui8>>} : () -> tensor<2x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: onnx.Yield(%[[C]])
func.func @branch_of_zeros(%p: tensor<i1>, %q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2xf32> {
  %r = onnx.If(%p) then_branch {
    %d = quant.dcast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
    onnx.Yield(%d) : (tensor<2xf32>) -> ()
  } else_branch {
    %c = onnx.Constant() {value = #onnx.tensor<[0.0, 0.0] : tensor<2xf32>>} : () -> tensor<2xf32>
    onnx.Yield(%c) : (tensor<2xf32>) -> ()
  } : (tensor<i1>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @unmoved_float_side(
// CHECK: onnx.Yield(%{{.*}}) : (tensor<2xf32>) -> ()
func.func @unmoved_float_side(%p: tensor<i1>, %q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2xf32> {
  // expected-remark@+1 {{one side of the subgraph's boundary is float; quantize the value with the same type on both sides [sink-dequantize: sides-differ]}}
  %r = onnx.If(%p) then_branch {
    %d = quant.dcast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
    onnx.Yield(%d) : (tensor<2xf32>) -> ()
  } else_branch {
    %c = onnx.Constant() {value = #onnx.tensor<[0.0, 0.01] : tensor<2xf32>>} : () -> tensor<2xf32>
    onnx.Yield(%c) : (tensor<2xf32>) -> ()
  } : (tensor<i1>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @unmoved_sides_differ(
// CHECK: onnx.Yield(%{{.*}}) : (tensor<2xf32>) -> ()
func.func @unmoved_sides_differ(%p: tensor<i1>, %a: tensor<2x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x!quant.uniform<u8:f32, 0.5:13>>) -> tensor<2xf32> {
  // expected-remark@+1 {{the sides of a subgraph's boundary have different scales or zero points; use one [sink-dequantize: sides-differ]}}
  %r = onnx.If(%p) then_branch {
    %d = quant.dcast %a : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
    onnx.Yield(%d) : (tensor<2xf32>) -> ()
  } else_branch {
    %e = quant.dcast %b : tensor<2x!quant.uniform<u8:f32, 0.5:13>> to tensor<2xf32>
    onnx.Yield(%e) : (tensor<2xf32>) -> ()
  } : (tensor<i1>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// What goes round a loop enters, stays and leaves as integers; what each round gives is stacked as such.

// CHECK-LABEL: func.func @loop(
// CHECK: %[[F:.*]], %[[S:.*]] = onnx.Loop(%n, _, %q) body {
// CHECK-NEXT: ^{{.*}}(%{{.*}}: tensor<i64>, %[[K:.*]]: tensor<i1>, %[[V:.*]]: tensor<2x!quant.uniform<u8:f32, 0.02:13>>):
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[V]]
// CHECK: %[[Z:.*]] = quant.qcast
// CHECK-NEXT: onnx.Yield(%[[K]], %[[Z]], %[[Z]]) : (tensor<i1>, tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
// CHECK: -> (tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<?x2x!quant.uniform<u8:f32, 0.02:13>>)
// CHECK-NEXT: %[[T:.*]] = quant.dcast %[[S]]
// CHECK-NEXT: %[[G:.*]] = quant.dcast %[[F]]
// CHECK-NEXT: func.return %[[G]], %[[T]]
func.func @loop(%n: tensor<i64>, %q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<2xf32>, tensor<?x2xf32>) {
  %i = quant.dcast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
  %f, %s = onnx.Loop(%n, _, %i) body {
  ^bb0(%m: tensor<i64>, %k: tensor<i1>, %v: tensor<2xf32>):
    %a = onnx.Exp(%v) : (tensor<2xf32>) -> tensor<2xf32>
    %b = quant.qcast %a : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
    %c = quant.dcast %b : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
    onnx.Yield(%k, %c, %c) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> ()
  } : (tensor<i64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)
  func.return %f, %s : tensor<2xf32>, tensor<?x2xf32>
}

// CHECK-LABEL: func.func @unmoved_loop(
// CHECK: onnx.Loop(%n, _, %i)
func.func @unmoved_loop(%n: tensor<i64>, %q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2xf32> {
  %i = quant.dcast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
  // expected-remark@+1 {{[sink-dequantize: sides-differ]}}
  %f = onnx.Loop(%n, _, %i) body {
  ^bb0(%m: tensor<i64>, %k: tensor<i1>, %v: tensor<2xf32>):
    %a = onnx.Exp(%v) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%k, %a) : (tensor<i1>, tensor<2xf32>) -> ()
  } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  func.return %f : tensor<2xf32>
}

// Scan takes a tensor apart: per tensor, each part has its type.

// CHECK-LABEL: func.func @scan(
// CHECK-NEXT: %[[T:.*]] = onnx.Scan(%q) {num_scan_inputs = 1 : i64} body {
// CHECK-NEXT: ^{{.*}}(%[[E:.*]]: tensor<2x!quant.uniform<u8:f32, 0.02:13>>):
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[E]]
func.func @scan(%q: tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<3x2xf32> {
  %r = quant.dcast %q : tensor<3x2x!quant.uniform<u8:f32, 0.02:13>> to tensor<3x2xf32>
  %t = onnx.Scan(%r) {num_scan_inputs = 1 : i64} body {
  ^bb0(%e: tensor<2xf32>):
    %f = onnx.Exp(%e) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%f) : (tensor<2xf32>) -> ()
  } : (tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return %t : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_scan_along_scales(
// CHECK-NEXT: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.Scan(%[[R]])
func.func @unmoved_scan_along_scales(%q: tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) -> tensor<2x2xf32> {
  %r = quant.dcast %q : tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>> to tensor<2x2xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %t = onnx.Scan(%r) {num_scan_inputs = 1 : i64} body {
  ^bb0(%e: tensor<2xf32>):
    %f = onnx.Exp(%e) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%f) : (tensor<2xf32>) -> ()
  } : (tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %t : tensor<2x2xf32>
}

// What leaves as stored integers, as lower-to-qoperator writes it, leaves under its type; a constant is read likewise.

// CHECK-LABEL: func.func @stored_branches(
// CHECK-NEXT: %[[R:.*]] = onnx.If(%p) then_branch {
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%q)
// CHECK-NEXT: onnx.Yield(%[[T]]) : (tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
// CHECK: else_branch {
// CHECK: onnx.Yield(%{{.*}}) : (tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
// CHECK: } : (tensor<i1>) -> tensor<2x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[F:.*]] = onnx.Transpose(%[[R]])
// CHECK-NEXT: %[[S:.*]] = quant.scast %[[F]]
// CHECK-NEXT: func.return %[[S]]
func.func @stored_branches(%p: tensor<i1>, %q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2xui8> {
  %s = quant.scast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xui8>
  %r = onnx.If(%p) then_branch {
    %t = onnx.Transpose(%s) : (tensor<2xui8>) -> tensor<2xui8>
    onnx.Yield(%t) : (tensor<2xui8>) -> ()
  } else_branch {
    %c = onnx.Constant() {value = #onnx.tensor<[3, 4] : tensor<2xui8>>} : () -> tensor<2xui8>
    onnx.Yield(%c) : (tensor<2xui8>) -> ()
  } : (tensor<i1>) -> tensor<2xui8>
  %f = onnx.Transpose(%r) : (tensor<2xui8>) -> tensor<2xui8>
  func.return %f : tensor<2xui8>
}

// CHECK-LABEL: func.func @unmoved_stored_side(
// CHECK: onnx.Yield(%i) : (tensor<2xui8>) -> ()
func.func @unmoved_stored_side(%p: tensor<i1>, %q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2xui8>) -> tensor<2xui8> {
  // expected-remark@+1 {{on one side of the subgraph's boundary the value is integer without a known scale; quantize the value with the same type on both sides [sink-dequantize: sides-differ]}}
  %r = onnx.If(%p) then_branch {
    %s = quant.scast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xui8>
    onnx.Yield(%s) : (tensor<2xui8>) -> ()
  } else_branch {
    onnx.Yield(%i) : (tensor<2xui8>) -> ()
  } : (tensor<i1>) -> tensor<2xui8>
  func.return %r : tensor<2xui8>
}
