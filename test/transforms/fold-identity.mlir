// RUN: OPT %s -p fold-identity | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-identity

// CHECK-LABEL: func.func @chain(
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[N:.*]] = onnx.Neg(%[[R]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]], %[[N]]
func.func @chain(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = onnx.Identity(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = onnx.Relu(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = onnx.Identity(%b) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = onnx.Identity(%c) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = onnx.Neg(%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %c, %e : tensor<2x3xf32>, tensor<2x3xf32>
}

// A quantized copy, and one of indices.

// CHECK-LABEL: func.func @quantized(
// CHECK-NEXT: %[[G:.*]] = onnx.Gather(%x, %i) {axis = 1 : i64} : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<4xi64>)
// CHECK-NEXT: func.return %[[G]]
func.func @quantized(%x: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<4xi64>) -> tensor<2x4x!quant.uniform<u8:f32, 0.02:13>> {
  %a = onnx.Identity(%x) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  %b = onnx.Identity(%i) : (tensor<4xi64>) -> tensor<4xi64>
  %c = onnx.Gather(%a, %b) {axis = 1 : i64} : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<4xi64>) -> tensor<2x4x!quant.uniform<u8:f32, 0.02:13>>
  func.return %c : tensor<2x4x!quant.uniform<u8:f32, 0.02:13>>
}

// What is said of the copy is said of the original, unless that has words of its own.

// CHECK-LABEL: func.func @annotated(
// CHECK-NEXT: %[[A:.*]] = onnx.Relu(%x) attributes {onnx.quantization.0 = {SCALE_TENSOR = "s"}}
// CHECK-NEXT: %[[B:.*]] = onnx.Neg(%x) attributes {onnx.quantization.0 = {SCALE_TENSOR = "own"}}
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @annotated(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = onnx.Neg(%x) attributes {onnx.quantization.0 = {SCALE_TENSOR = "own"}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = onnx.Identity(%a) attributes {onnx.quantization.0 = {SCALE_TENSOR = "s"}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = onnx.Identity(%b) attributes {onnx.quantization.0 = {SCALE_TENSOR = "t"}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %c, %d : tensor<2x3xf32>, tensor<2x3xf32>
}

// A size that only the copy knows is the operand's.

// CHECK-LABEL: func.func @copy_that_says_a_size(
// CHECK-NEXT: %[[A:.*]] = onnx.Neg(%x) : (tensor<?x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[A]]
func.func @copy_that_says_a_size(%x: tensor<?x3xf32>) -> tensor<2x3xf32> {
  %a = onnx.Neg(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %b = onnx.Identity(%a) : (tensor<?x3xf32>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}

// But not what a branch knows, which may not run.

// CHECK-LABEL: func.func @copy_in_a_branch(
// CHECK: %[[A:.*]] = onnx.Neg(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
// CHECK: onnx.Yield(%[[A]])
// CHECK-NOT: onnx.Identity
// CHECK: func.return
func.func @copy_in_a_branch(%c: tensor<i1>, %x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %a = onnx.Neg(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = onnx.If(%c) then_branch {
    %b = onnx.Identity(%a) : (tensor<?x3xf32>) -> tensor<2x3xf32>
    onnx.Yield(%b) : (tensor<2x3xf32>) -> ()
  } else_branch {
    onnx.Yield(%x) : (tensor<?x3xf32>) -> ()
  } : (tensor<i1>) -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}

// What iterations yield has the sizes of the stack, which the op around them states.

// CHECK-LABEL: func.func @copy_that_is_stacked(
// CHECK: ^{{.*}}(%{{.*}}: tensor<i64>, %[[K:.*]]: tensor<i1>, %[[V:.*]]: tensor<?x3xf32>):
// CHECK-NEXT: onnx.Yield(%[[K]], %[[V]], %[[V]])
func.func @copy_that_is_stacked(%n: tensor<i64>, %x: tensor<?x3xf32>) -> tensor<?x2x3xf32> {
  %s, %y = onnx.Loop(%n, _, %x) body {
  ^bb0(%i: tensor<i64>, %k: tensor<i1>, %v: tensor<?x3xf32>):
    %a = onnx.Identity(%v) : (tensor<?x3xf32>) -> tensor<2x3xf32>
    onnx.Yield(%k, %v, %a) : (tensor<i1>, tensor<?x3xf32>, tensor<2x3xf32>) -> ()
  } : (tensor<i64>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x2x3xf32>)
  func.return %y : tensor<?x2x3xf32>
}

// Not along another axis than the first, and not of a state.

// CHECK-LABEL: func.func @unmoved_stacked_along_another_axis(
// CHECK: %[[A:.*]] = onnx.Identity(%{{.*}}) : (tensor<?xf32>) -> tensor<2xf32>
// CHECK-NEXT: onnx.Yield(%[[A]])
func.func @unmoved_stacked_along_another_axis(%x: tensor<4x?xf32>) -> tensor<2x4xf32> {
  %y = onnx.Scan(%x) {num_scan_inputs = 1 : i64, scan_output_axes = array<i64: 1>} body {
  ^bb0(%v: tensor<?xf32>):
    // expected-remark@+1 {{the copy is declared with another type or shape [fold-identity: invalid-op]}}
    %a = onnx.Identity(%v) : (tensor<?xf32>) -> tensor<2xf32>
    onnx.Yield(%a) : (tensor<2xf32>) -> ()
  } : (tensor<4x?xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @unmoved_state(
// CHECK: %[[A:.*]] = onnx.Identity(%{{.*}}) : (tensor<?x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: onnx.Yield(%{{.*}}, %[[A]])
func.func @unmoved_state(%n: tensor<i64>, %x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = onnx.Loop(%n, _, %x) body {
  ^bb0(%i: tensor<i64>, %k: tensor<i1>, %v: tensor<?x3xf32>):
    // expected-remark@+1 {{the copy is declared with another type or shape [fold-identity: invalid-op]}}
    %a = onnx.Identity(%v) : (tensor<?x3xf32>) -> tensor<2x3xf32>
    onnx.Yield(%k, %a) : (tensor<i1>, tensor<2x3xf32>) -> ()
  } : (tensor<i64>, tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}

// The copy says more of the shape of what comes in.

// CHECK-LABEL: func.func @unmoved_type_differs(
// CHECK-NEXT: %[[A:.*]] = onnx.Identity(%x) : (tensor<?x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[A]]
func.func @unmoved_type_differs(%x: tensor<?x3xf32>) -> tensor<2x3xf32> {
  // expected-remark@+1 {{the copy is declared with another type or shape [fold-identity: invalid-op]}}
  %a = onnx.Identity(%x) : (tensor<?x3xf32>) -> tensor<2x3xf32>
  func.return %a : tensor<2x3xf32>
}

// A branch may yield what is made outside: the copy that ONNX wants there is made when it is written.

// CHECK-LABEL: func.func @other_region(
// CHECK-NEXT: %[[Y:.*]] = onnx.Neg(%x)
// CHECK-NEXT: onnx.If(%p)
// CHECK-NEXT: onnx.Yield(%[[Y]])
// CHECK: %[[D:.*]] = onnx.Relu(%[[Y]])
// CHECK-NEXT: onnx.Yield(%[[D]])
func.func @other_region(%x: tensor<2x3xf32>, %p: tensor<i1>) -> tensor<2x3xf32> {
  %y = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = onnx.If(%p) then_branch {
    %a = onnx.Identity(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    onnx.Yield(%a) : (tensor<2x3xf32>) -> ()
  } else_branch {
    %b = onnx.Relu(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %c = onnx.Identity(%b) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    onnx.Yield(%c) : (tensor<2x3xf32>) -> ()
  } : (tensor<i1>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}

// Dropout is a copy at inference.

// CHECK-LABEL: func.func @dropout(
// CHECK: %[[Y:.*]] = onnx.Relu(%x)
// CHECK-NEXT: func.return %[[Y]]
func.func @dropout(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %t = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i1>>} : () -> tensor<i1>
  %a, %m = onnx.Dropout(%x, %r, %t) : (tensor<2x3xf32>, tensor<f32>, tensor<i1>) -> (tensor<2x3xf32>, tensor<2x3xi1>)
  %y = onnx.Relu(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_training_mode(
// CHECK: onnx.Dropout(
func.func @unmoved_training_mode(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %t = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i1>>} : () -> tensor<i1>
  // expected-remark@+1 {{Dropout is in training mode, or may be; export the model for inference [fold-identity: training-mode]}}
  %a = onnx.Dropout(%x, _, %t) : (tensor<2x3xf32>, tensor<i1>) -> tensor<2x3xf32>
  func.return %a : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_mask_used(
// CHECK-NEXT: %[[A:.*]], %[[M:.*]] = onnx.Dropout(%x, _, _)
// CHECK-NEXT: func.return %[[A]], %[[M]]
func.func @unmoved_mask_used(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>) {
  // expected-remark@+1 {{another result of the op is used; use only the first result [fold-identity: training-mode]}}
  %a, %m = onnx.Dropout(%x) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>)
  func.return %a, %m : tensor<2x3xf32>, tensor<2x3xi1>
}

// Ops that, as they are given, leave every element where it is.

// CHECK-LABEL: func.func @no_ops(
// CHECK-NEXT: %[[Y:.*]] = onnx.Relu(%x)
// CHECK-NEXT: func.return %[[Y]]
func.func @no_ops(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %sizes = onnx.Constant() {value = #onnx.tensor<[-1, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
  %starts = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %ends = onnx.Constant() {value = #onnx.tensor<[9223372036854775807] : tensor<1xi64>>} : () -> tensor<1xi64>
  %pads = onnx.Constant() {value = #onnx.tensor<[0, 0, 0, 0] : tensor<4xi64>>} : () -> tensor<4xi64>
  %ones = onnx.Constant() {value = #onnx.tensor<[1, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %one = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  %zero = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Reshape(%x, %sizes) : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %b = onnx.Flatten(%a) {axis = 1 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %c = onnx.Transpose(%b) {perm = array<i64: 0, 1>} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = onnx.Cast(%c) {to = 1 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %e = onnx.Slice(%d, %starts, %ends) : (tensor<?x3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x3xf32>
  %f = onnx.Pad(%e, %pads) : (tensor<?x3xf32>, tensor<4xi64>) -> tensor<?x3xf32>
  %g = onnx.Tile(%f, %ones) : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %h = onnx.Expand(%g, %ones) : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %i = onnx.Concat(%h) {axis = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %j = onnx.Split(%i) {axis = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %k = onnx.Mul(%one, %j) : (tensor<1xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %l = onnx.Div(%k, %one) : (tensor<?x3xf32>, tensor<1xf32>) -> tensor<?x3xf32>
  %m = onnx.Add(%l, %zero) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  %n = onnx.Sub(%m, %zero) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  %y = onnx.Relu(%n) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}

// A size of 0 says that of the operand, whatever that is; to expand to the sizes that there are changes nothing.

// CHECK-LABEL: func.func @sizes_kept(
// CHECK-NEXT: %[[Y:.*]] = onnx.Relu(%x)
// CHECK-NEXT: %[[Z:.*]] = onnx.Relu(%w)
// CHECK-NEXT: func.return %[[Y]], %[[Z]]
func.func @sizes_kept(%x: tensor<?x?xf32>, %w: tensor<2x3xf32>) -> (tensor<?x?xf32>, tensor<2x3xf32>) {
  %kept = onnx.Constant() {value = #onnx.tensor<[0, 0] : tensor<2xi64>>} : () -> tensor<2xi64>
  %sizes = onnx.Constant() {value = #onnx.tensor<[2, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Reshape(%x, %kept) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %b = onnx.Expand(%w, %sizes) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %y = onnx.Relu(%a) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = onnx.Relu(%b) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y, %z : tensor<?x?xf32>, tensor<2x3xf32>
}

// With `allowzero` a size of 0 is no elements.

// CHECK-LABEL: func.func @unmoved_zero_sizes(
// CHECK: onnx.Reshape(
func.func @unmoved_zero_sizes(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %none = onnx.Constant() {value = #onnx.tensor<[0, 0] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Reshape(%x, %none) {allowzero = 1 : i64} : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// Nearly so: sizes that are equal only in part, a slice backwards, a zero that stands for -0.25, a bias.

// CHECK-LABEL: func.func @unmoved_nearly(
// CHECK: onnx.Reshape(
// CHECK: onnx.Slice(
// CHECK: onnx.Add(
// CHECK: onnx.Mul(
func.func @unmoved_nearly(%x: tensor<?x?xf32>, %y: tensor<2x3xf32>, %q: tensor<2x3x!quant.uniform<u8:f32, 0.25:1>>) -> (tensor<?x?xf32>, tensor<2x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.25:1>>, tensor<2x3xf32>) {
  %sizes = onnx.Constant() {value = #onnx.tensor<[-1, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Reshape(%x, %sizes) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %starts = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %ends = onnx.Constant() {value = #onnx.tensor<[-9223372036854775807] : tensor<1xi64>>} : () -> tensor<1xi64>
  %axes = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %b = onnx.Slice(%y, %starts, %ends, %axes, %starts) : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  %zero = onnx.Constant() {value = #onnx.tensor<[0] : tensor<ui8>>} : () -> tensor<!quant.uniform<u8:f32, 0.25:1>>
  %c = onnx.Add(%q, %zero) : (tensor<2x3x!quant.uniform<u8:f32, 0.25:1>>, tensor<!quant.uniform<u8:f32, 0.25:1>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.25:1>>
  %ones = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 1.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %d = onnx.Mul(%y, %ones) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %a, %b, %c, %d : tensor<?x?xf32>, tensor<2x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.25:1>>, tensor<2x3xf32>
}

// Integers that were copied and are not any more are what they were read from.

// CHECK-LABEL: func.func @readings(
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %x
// CHECK-NEXT: func.return %[[Y]]
func.func @readings(%x: tensor<2x3x!quant.uniform<i16:f32, 0.5:7>>) -> tensor<2x3xf32> {
  %i = quant.scast %x : tensor<2x3x!quant.uniform<i16:f32, 0.5:7>> to tensor<2x3xi16>
  %a = onnx.Identity(%i) : (tensor<2x3xi16>) -> tensor<2x3xi16>
  %q = quant.scast %a : tensor<2x3xi16> to tensor<2x3x!quant.uniform<i16:f32, 0.5:7>>
  %y = quant.dcast %q : tensor<2x3x!quant.uniform<i16:f32, 0.5:7>> to tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @cropped_to_its_size(
// CHECK-NEXT: %[[K:.*]] = onnx.Constant()
// CHECK-NEXT: %[[Y:.*]] = onnx.CenterCropPad(%x, %[[K]]) {axes = array<i64: 1>} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x5xf32>
// CHECK-NEXT: func.return %x, %[[Y]]
func.func @cropped_to_its_size(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x5xf32>) {
  %k = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %y = onnx.CenterCropPad(%x, %k) {axes = array<i64: 1>} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[5] : tensor<1xi64>>} : () -> tensor<1xi64>
  %z = onnx.CenterCropPad(%x, %n) {axes = array<i64: 1>} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x5xf32>
  func.return %y, %z : tensor<2x3xf32>, tensor<2x5xf32>
}

// A condition that is the same everywhere selects one operand.

// CHECK-LABEL: func.func @where(
// CHECK-NEXT: func.return %x, %b
func.func @where(%x: tensor<?x3xf32>, %a: tensor<3xf32>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.25:1>>) -> (tensor<?x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.25:1>>) {
  %one = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi1>>} : () -> tensor<1xi1>
  %y = onnx.Where(%one, %x, %a) : (tensor<1xi1>, tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %none = onnx.Constant() {value = #onnx.tensor<[0, 0, 0] : tensor<3xi1>>} : () -> tensor<3xi1>
  %z = onnx.Where(%none, %b, %b) : (tensor<3xi1>, tensor<2x3x!quant.uniform<u8:f32, 0.25:1>>, tensor<2x3x!quant.uniform<u8:f32, 0.25:1>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.25:1>>
  func.return %y, %z : tensor<?x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.25:1>>
}

// Operands of open sizes have one shape if one is computed from the other.

// CHECK-LABEL: func.func @where_of_open_sizes(
// CHECK: %[[R:.*]] = onnx.Round(
// CHECK-NEXT: func.return %[[R]]
func.func @where_of_open_sizes(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %one = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi1>>} : () -> tensor<1xi1>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Div(%x, %s) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  %t = onnx.Constant() {value = #onnx.tensor<[3.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  %m = onnx.Mul(%t, %a) : (tensor<1xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = onnx.Round(%m) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = onnx.Where(%one, %r, %x) : (tensor<1xi1>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}

// Not where the other operand or the condition repeats it, or may do so; nor where the condition differs.

// CHECK-LABEL: func.func @unmoved_where(
// CHECK-COUNT-6: onnx.Where(
func.func @unmoved_where(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>, %a: tensor<3xf32>, %s: tensor<1xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<?x3xf32>) {
  %sum = onnx.Add(%x, %y) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %one = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi1>>} : () -> tensor<1xi1>
  %b = onnx.Where(%one, %x, %y) : (tensor<1xi1>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %c = onnx.Where(%one, %a, %x) : (tensor<1xi1>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = onnx.Where(%one, %s, %a) : (tensor<1xi1>, tensor<1xf32>, tensor<3xf32>) -> tensor<3xf32>
  %both = onnx.Constant() {value = #onnx.tensor<[1, 1] : tensor<2x1xi1>>} : () -> tensor<2x1xi1>
  %e = onnx.Where(%both, %a, %a) : (tensor<2x1xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %mixed = onnx.Constant() {value = #onnx.tensor<[1, 0, 1] : tensor<3xi1>>} : () -> tensor<3xi1>
  %f = onnx.Where(%mixed, %a, %s) : (tensor<3xi1>, tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  %g = onnx.Where(%one, %sum, %x) : (tensor<1xi1>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %b, %c, %d, %e, %f, %g : tensor<?x3xf32>, tensor<?x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<?x3xf32>
}
