// RUN: OPT %s -p legalize-operands | FILECHECK %s
// RUN: OPT %s -p legalize-operands{target="onnxruntime-avx2"} | FILECHECK %s --check-prefix=SATURATES
// RUN: DIAGNOSTICS -p legalize-operands

!x = !quant.uniform<u8:f32, 0.5:13>
!y = !quant.uniform<u8:f32, 0.25:130>

// What moves the integers has the new type too; the first operand keeps its own.

// SATURATES-LABEL: func.func @moved(
// SATURATES-NOT: <i8
// SATURATES: func.return
// CHECK-LABEL: func.func @moved(
// CHECK-NEXT: %[[A:.*]] = quant.qcast %a : tensor<?x48x32xf32> to tensor<?x48x32x!quant.uniform<u8:f32, 0.5:13>>
// CHECK-NEXT: %[[B:.*]] = quant.qcast %b : tensor<?x48x32xf32> to tensor<?x48x32x!quant.uniform<i8:f32, 0.25:2>>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[B]]) {{.*}} -> tensor<?x32x48x!quant.uniform<i8:f32, 0.25:2>>
// CHECK-NEXT: onnx.MatMul(%[[A]], %[[T]])
func.func @moved(%a: tensor<?x48x32xf32>, %b: tensor<?x48x32xf32>) -> tensor<?x48x20xf32> {
  %0 = quant.qcast %a : tensor<?x48x32xf32> to tensor<?x48x32x!x>
  %1 = quant.qcast %b : tensor<?x48x32xf32> to tensor<?x48x32x!y>
  %2 = onnx.Transpose(%1) {perm = array<i64: 0, 2, 1>} : (tensor<?x48x32x!y>) -> tensor<?x32x48x!y>
  %3 = onnx.MatMul(%0, %2) : (tensor<?x48x32x!x>, tensor<?x32x48x!y>) -> tensor<?x48x20xf32>
  func.return %3 : tensor<?x48x20xf32>
}

// A size that is not known may be any; the head's is.

// CHECK-LABEL: func.func @unknown_length(
// CHECK: quant.qcast %b : tensor<?x?x32xf32> to tensor<?x?x32x!quant.uniform<i8:f32, 0.25:2>>
func.func @unknown_length(%q: tensor<?x?x?x!x>, %b: tensor<?x?x32xf32>) -> tensor<?x?x32x!y> {
  %1 = quant.qcast %b : tensor<?x?x32xf32> to tensor<?x?x32x!y>
  %2 = onnx.MatMul(%q, %1) : (tensor<?x?x?x!x>, tensor<?x?x32x!y>) -> tensor<?x?x32x!y>
  func.return %2 : tensor<?x?x32x!y>
}

// An Add of floats has no kernel: it will stand in front of a quantize.

// CHECK-LABEL: func.func @behind_float(
// CHECK: %[[B:.*]] = onnx.Add(%q, %b) : (tensor<2x32x32x!quant.uniform<u8:f32, 0.5:13>>, tensor<32xf32>) -> tensor<2x32x32x!quant.uniform<i8:f32, 0.25:2>>
// CHECK-NEXT: onnx.MatMul(%q, %[[B]])
func.func @behind_float(%q: tensor<2x32x32x!x>, %b: tensor<32xf32>) -> tensor<2x32x32xf32> {
  %1 = onnx.Add(%q, %b) : (tensor<2x32x32x!x>, tensor<32xf32>) -> tensor<2x32x32x!y>
  %2 = onnx.MatMul(%q, %1) : (tensor<2x32x32x!x>, tensor<2x32x32x!y>) -> tensor<2x32x32xf32>
  func.return %2 : tensor<2x32x32xf32>
}

// CHECK-LABEL: func.func @unmoved_no_tiles(
// CHECK-NOT: <i8
// CHECK: func.return
func.func @unmoved_no_tiles(%q: tensor<2x49x49x!x>, %b: tensor<2x49x24xf32>) -> tensor<2x49x24xf32> {
  %1 = quant.qcast %b : tensor<2x49x24xf32> to tensor<2x49x24x!y>
  // expected-remark@+1 {{the smaller axis of the operand is not a multiple of 16 [legalize-operands: does-not-pay]}}
  %2 = onnx.MatMul(%q, %1) : (tensor<2x49x49x!x>, tensor<2x49x24x!y>) -> tensor<2x49x24xf32>
  func.return %2 : tensor<2x49x24xf32>
}

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK-NOT: <i8
// CHECK: func.return
func.func @unmoved_second_consumer(%q: tensor<2x32x32x!x>, %b: tensor<2x32x32xf32>) -> (tensor<2x32x32xf32>, tensor<2x32x32x!y>) {
  %1 = quant.qcast %b : tensor<2x32x32xf32> to tensor<2x32x32x!y>
  // expected-remark@+1 {{the value in between has a second consumer [legalize-operands: second-consumer]}}
  %2 = onnx.MatMul(%q, %1) : (tensor<2x32x32x!x>, tensor<2x32x32x!y>) -> tensor<2x32x32xf32>
  func.return %2, %1 : tensor<2x32x32xf32>, tensor<2x32x32x!y>
}

// CHECK-LABEL: func.func @unmoved_other_region(
// CHECK-NOT: <i8
// CHECK: func.return
func.func @unmoved_other_region(%c: tensor<i1>, %q: tensor<2x32x32x!x>, %b: tensor<2x32x32xf32>) -> tensor<2x32x32xf32> {
  %1 = quant.qcast %b : tensor<2x32x32xf32> to tensor<2x32x32x!y>
  %r = onnx.If(%c) then_branch {
    %t = onnx.Transpose(%1) {perm = array<i64: 0, 2, 1>} : (tensor<2x32x32x!y>) -> tensor<2x32x32x!y>
    // expected-remark@+1 {{[legalize-operands: sides-differ]}}
    %2 = onnx.MatMul(%q, %t) : (tensor<2x32x32x!x>, tensor<2x32x32x!y>) -> tensor<2x32x32xf32>
    onnx.Yield(%2) : (tensor<2x32x32xf32>) -> ()
  } else_branch {
    onnx.Yield(%b) : (tensor<2x32x32xf32>) -> ()
  } : (tensor<i1>) -> tensor<2x32x32xf32>
  func.return %r : tensor<2x32x32xf32>
}

// Integers that a kernel makes, that are in i8 already, of a constant, or that a float op reads, stay.

// CHECK-LABEL: func.func @unmoved_others(
// CHECK-NOT: <i8:f32, 0.25:2
// CHECK: func.return
func.func @unmoved_others(%q: tensor<2x32x32x!x>, %w: tensor<2x32x32x!y>, %b: tensor<2x32x32xf32>) -> (tensor<2x32x32xf32>, tensor<2x32x32xf32>, tensor<2x32x32xf32>, tensor<2x32x32xf32>) {
  %0 = onnx.MatMul(%q, %w) : (tensor<2x32x32x!x>, tensor<2x32x32x!y>) -> tensor<2x32x32xf32>
  %m = onnx.MatMul(%q, %w) : (tensor<2x32x32x!x>, tensor<2x32x32x!y>) -> tensor<2x32x32x!y>
  %1 = onnx.MatMul(%q, %m) : (tensor<2x32x32x!x>, tensor<2x32x32x!y>) -> tensor<2x32x32xf32>
  %i = quant.qcast %b : tensor<2x32x32xf32> to tensor<2x32x32x!quant.uniform<i8:f32, 0.5:3>>
  %2 = onnx.MatMul(%q, %i) : (tensor<2x32x32x!x>, tensor<2x32x32x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x32x32xf32>
  %k = quant.qcast %b : tensor<2x32x32xf32> to tensor<2x32x32x!y>
  %s = onnx.Add(%k, %m) : (tensor<2x32x32x!y>, tensor<2x32x32x!y>) -> tensor<2x32x32x!y>
  %3 = onnx.MatMul(%q, %s) : (tensor<2x32x32x!x>, tensor<2x32x32x!y>) -> tensor<2x32x32xf32>
  func.return %0, %1, %2, %3 : tensor<2x32x32xf32>, tensor<2x32x32xf32>, tensor<2x32x32xf32>, tensor<2x32x32xf32>
}
