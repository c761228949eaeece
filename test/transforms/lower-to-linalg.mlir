// RUN: OPT %s -p lower-to-linalg | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-linalg

!x = !quant.uniform<i8:f32, 0.5:3>
!y = !quant.uniform<i8:f32, 0.25:-7>
!w = !quant.uniform<i8:f32, 0.125>
!c = !quant.uniform<i8:f32:0, {0.125,0.5}>

// Sums in i32 start from what the zero point adds, 3 * -(1 + 2 + 3) = -18; one product, one rounding, half to even.

// CHECK-LABEL: func.func @product(
// CHECK-SAME: %a: tensor<2x3xi8>
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, {{.*}}outs(%{{.*}} : tensor<2x2xi32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli
// CHECK: linalg.generic
// CHECK: %[[R:.*]] = arith.sitofp %{{.*}} : i32 to f32
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[R]], %{{.*}} : f32
// CHECK: math.roundeven
// CHECK: arith.addi
// CHECK: arith.trunci %{{.*}} : i32 to i8
// CHECK: func.return %{{.*}} : tensor<2x2xi8>
func.func @product(%a: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %q = quant.scast %a : tensor<2x3xi8> to tensor<2x3x!x>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 5, 2, 6, 3, 8] : tensor<3x2xi8>>} : () -> tensor<3x2x!w>
  %m = onnx.MatMul(%q, %w) : (tensor<2x3x!x>, tensor<3x2x!w>) -> tensor<2x2x!y>
  %r = quant.scast %m : tensor<2x2x!y> to tensor<2x2xi8>
  func.return %r : tensor<2x2xi8>
}

// Of one row the sums start from a bias that is computed: a copy of a constant would be the constant, which IREE then
// writes to.

// CHECK-LABEL: func.func @one_row(
// CHECK: %[[B:.*]] = arith.constant dense<[5.000000e-01, -2.500000e-01]> : tensor<2xf32>
// CHECK: linalg.generic {{.*}} ins(%[[B]] : tensor<2xf32>)
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: arith.addf %{{.*}}, %[[ZERO]] : f32
// CHECK: arith.mulf
func.func @one_row(%x: tensor<1x3xf32>) -> tensor<1x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[0.1, 0.2, 0.3, 0.4, 0.5, 0.6] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5, -0.25] : tensor<2xf32>>} : () -> tensor<2xf32>
  %y = onnx.Gemm(%x, %w, %b) : (tensor<1x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}

// Channels go last in front of the first convolution and back behind the last; Relu between them takes them as they are.

// CHECK-LABEL: func.func @layout(
// CHECK: tensor.pad {{.*}} low[0, 1, 0, 0] high[0, 0, 2, 0]
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK: -> tensor<1x3x3x2xi8>
// CHECK: affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK: func.return %{{.*}} : tensor<1x2x3x3xi8>
func.func @layout(%a: tensor<1x3x4x3xi8>) -> tensor<1x2x3x3xi8> {
  %q = quant.scast %a : tensor<1x3x4x3xi8> to tensor<1x3x4x3x!x>
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9] : tensor<2x3x3x3xi8>>} : () -> tensor<2x3x3x3x!c>
  %u = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!w>
  %m = onnx.Conv(%q, %v) {pads = array<i64: 1, 0, 0, 2>} : (tensor<1x3x4x3x!x>, tensor<2x3x3x3x!c>) -> tensor<1x2x3x3x!y>
  %p = onnx.Relu(%m) : (tensor<1x2x3x3x!y>) -> tensor<1x2x3x3x!x>
  %o = onnx.Conv(%p, %u) : (tensor<1x2x3x3x!x>, tensor<2x2x1x1x!w>) -> tensor<1x2x3x3x!y>
  %r = quant.scast %o : tensor<1x2x3x3x!y> to tensor<1x2x3x3xi8>
  func.return %r : tensor<1x2x3x3xi8>
}

// So does a sum of two convolutions; one Transpose in front, one behind.

// CHECK-LABEL: func.func @sum_of_two(
// CHECK: affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// CHECK-NOT: affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK: arith.addf
// CHECK: affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK: func.return %{{.*}} : tensor<1x2x4x3xi8>
func.func @sum_of_two(%a: tensor<1x2x4x3xi8>) -> tensor<1x2x4x3xi8> {
  %q = quant.scast %a : tensor<1x2x4x3xi8> to tensor<1x2x4x3x!x>
  %u = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!w>
  %v = onnx.Constant() {value = #onnx.tensor<[4, -2, 7, 1] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!w>
  %m = onnx.Conv(%q, %u) : (tensor<1x2x4x3x!x>, tensor<2x2x1x1x!w>) -> tensor<1x2x4x3x!y>
  %n = onnx.Conv(%q, %v) : (tensor<1x2x4x3x!x>, tensor<2x2x1x1x!w>) -> tensor<1x2x4x3x!x>
  %o = onnx.Add(%m, %n) : (tensor<1x2x4x3x!y>, tensor<1x2x4x3x!x>) -> tensor<1x2x4x3x!y>
  %r = quant.scast %o : tensor<1x2x4x3x!y> to tensor<1x2x4x3xi8>
  func.return %r : tensor<1x2x4x3xi8>
}

// ONNX's own Transpose to channels last is a change of name.

// CHECK-LABEL: func.func @renamed(
// CHECK-NEXT: func.return %a : tensor<1x4x5x3xf32>
func.func @renamed(%a: tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32> {
  %t = onnx.Transpose(%a) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x3xf32>) -> tensor<1x3x4x5xf32>
  %r = onnx.Transpose(%t) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32>
  func.return %r : tensor<1x4x5x3xf32>
}

// What has no form stays between casts; what stands around it is lowered.

// What is quantized by the range that occurs: the zero point is known when it runs, that of the weight has gone into it.

// CHECK-LABEL: func.func @dynamic(
// CHECK: %[[LOW:.*]] = linalg.generic {{.*}}["reduction", "reduction"]} ins(%a : tensor<2x3xf32>)
// CHECK: arith.minimumf
// CHECK: %[[HIGH:.*]] = linalg.generic {{.*}}["reduction", "reduction"]} ins(%a : tensor<2x3xf32>)
// CHECK: arith.maximumf
// CHECK: %[[SCALE:.*]] = linalg.generic {{.*}}ins(%[[LOW]], %[[HIGH]] : tensor<f32>, tensor<f32>)
// CHECK: %[[ZERO:.*]] = linalg.generic {{.*}}ins(%[[LOW]], %[[SCALE]] : tensor<f32>, tensor<f32>)
// CHECK: %[[Q:.*]] = linalg.generic {{.*}}ins(%a, %[[SCALE]], %[[ZERO]] : tensor<2x3xf32>, tensor<f32>, tensor<i8>)
// CHECK: %[[X:.*]] = linalg.generic {{.*}}ins(%[[Q]], %[[ZERO]] : tensor<2x3xi8>, tensor<i8>)
// CHECK: arith.subi %{{.*}} : i16
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}-4, 0, -3, 1], {{.*}}> : tensor<3x4xi8>
// CHECK: linalg.generic {{.*}}ins(%[[X]], %[[W]] : tensor<2x3xi16>, tensor<3x4xi8>)
// CHECK: func.return %{{.*}} : tensor<2x4xi32>
func.func @dynamic(%a: tensor<2x3xf32>) -> tensor<2x4xi32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 5, 2, 6, 3, 8, -7, 4, 9, 0, 2, -1] : tensor<3x4xi8>>} : () -> tensor<3x4xi8>
  %z = onnx.Constant() {value = #onnx.tensor<[5] : tensor<i8>>} : () -> tensor<i8>
  %q, %s, %p = onnx.DynamicQuantizeLinear(%a) : (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %m = onnx.MatMulInteger(%q, %w, %p, %z) : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
  func.return %m : tensor<2x4xi32>
}

// A weight that is dequantized under an activation in float is a constant.

// CHECK-LABEL: func.func @dequantized(
// CHECK: arith.constant dense<{{.*}}1.250000e-01, -3.750000e-01{{.*}}> : tensor<1x1x2x2xf32>
// CHECK-NOT: arith.sitofp
// CHECK: func.return %{{.*}} : tensor<1x2x5x3xf32>
func.func @dequantized(%a: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %u = onnx.Constant() {value = #onnx.tensor<[1, 2, -3, 4] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!w>
  %d = quant.dcast %u : tensor<2x2x1x1x!w> to tensor<2x2x1x1xf32>
  %o = onnx.Conv(%a, %d) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %o : tensor<1x2x5x3xf32>
}

// A stored i32 needs no extension.

// CHECK-LABEL: func.func @sums_along_an_axis(
// CHECK-NOT: arith.extsi
// CHECK: arith.subi %{{.*}}, %{{.*}} : i32
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: arith.mulf
// CHECK: func.return
func.func @sums_along_an_axis(%a: tensor<2x3xi32>) -> tensor<2x3xf32> {
  %q = quant.scast %a : tensor<2x3xi32> to tensor<2x3x!quant.uniform<i32:f32:0, {0.5:3,0.125:-2}>>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i32:f32:0, {0.5:3,0.125:-2}>> to tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_no_form(
// CHECK: math.exp
// CHECK: onnx.Det
// CHECK: math.exp
func.func @unmoved_no_form(%a: tensor<2x3x3xf32>) -> tensor<2xf32> {
  %e = onnx.Exp(%a) : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  // expected-remark@+1 {{Det has no form in linalg [lower-to-linalg: no-form]}}
  %d = onnx.Det(%e) : (tensor<2x3x3xf32>) -> tensor<2xf32>
  %r = onnx.Exp(%d) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @unmoved_dynamic_shape(
// CHECK: onnx.Exp
func.func @unmoved_dynamic_shape(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // expected-remark@+1 {{a size is not known; state it: --batch N, or --sizes NAME=N for others [lower-to-linalg: open-size]}}
  %e = onnx.Exp(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %e : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @returned_constant(
// CHECK: math.exp
// CHECK: %[[C:.*]] = arith.constant dense<[1.500000e+00, -2.500000e+00]> : tensor<2xf32>
// CHECK-NEXT: func.return %{{.*}}, %[[C]] : tensor<2x3xf32>, tensor<2xf32>
func.func @returned_constant(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %e = onnx.Exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  func.return %e, %c : tensor<2x3xf32>, tensor<2xf32>
}

// An empty tensor has no groups of axes with equal numbers of elements but the whole.

// CHECK-LABEL: func.func @reshape_of_nothing(
// CHECK: %[[N:.*]] = tensor.collapse_shape {{.*}} : tensor<0x3x4xi8> into tensor<0xi8>
// CHECK: tensor.expand_shape %[[N]] {{.*}} into tensor<2x5x0xi8>
func.func @reshape_of_nothing(%a: tensor<0x3x4xi8>) -> tensor<2x5x0xi8> {
  %l = onnx.Constant() {value = #onnx.tensor<[2, 5, 0] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%a, %l) {allowzero = 1 : i64} : (tensor<0x3x4xi8>, tensor<3xi64>) -> tensor<2x5x0xi8>
  func.return %r : tensor<2x5x0xi8>
}

// The channels of a pixel's block are the slow part of the channels, or with mode CRD the fast one.

// CHECK-LABEL: func.func @blocks_of_pixels(
// CHECK: tensor.expand_shape {{.*}} into tensor<1x2x2x3x4x5xi8>
// CHECK: tensor.expand_shape {{.*}} into tensor<1x3x2x2x4x5xi8>
func.func @blocks_of_pixels(%a: tensor<1x12x4x5xi8>) -> (tensor<1x3x8x10xi8>, tensor<1x3x8x10xi8>) {
  %d = onnx.DepthToSpace(%a) {blocksize = 2 : i64} : (tensor<1x12x4x5xi8>) -> tensor<1x3x8x10xi8>
  %c = onnx.DepthToSpace(%a) {blocksize = 2 : i64, mode = "CRD"} : (tensor<1x12x4x5xi8>) -> tensor<1x3x8x10xi8>
  func.return %d, %c : tensor<1x3x8x10xi8>, tensor<1x3x8x10xi8>
}

// A float operation takes tensors of one scale.

// CHECK-LABEL: func.func @unmoved_scales_of_channels(
// CHECK: onnx.Sigmoid(
func.func @unmoved_scales_of_channels(%x: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %q = quant.scast %x : tensor<1x2x3xi8> to tensor<1x2x3x!quant.uniform<i8:f32:1, {0.02:5,0.03:-7}>>
  // expected-remark@+1 {{[lower-to-linalg: activation-per-axis]}}
  %y = onnx.Sigmoid(%q) : (tensor<1x2x3x!quant.uniform<i8:f32:1, {0.02:5,0.03:-7}>>) -> tensor<1x2x3x!quant.uniform<i8:f32, 0.004:-128>>
  %r = quant.scast %y : tensor<1x2x3x!quant.uniform<i8:f32, 0.004:-128>> to tensor<1x2x3xi8>
  func.return %r : tensor<1x2x3xi8>
}
