// RUN: OPT %s -p 'raise-qdq{half=true},fold-casts,dce' | FILECHECK %s
// RUN: OPT %s -p 'raise-qdq{half=true},fold-casts,dce,lower-to-qdq' | FILECHECK %s --check-prefix=BACK

// Casts of f32 and the Casts around them are casts of half precision, whose scale is an f32.

builtin.module attributes {onnx.opset_import = {ai.onnx = 19 : i64}} {
// CHECK-LABEL: func.func @pair(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf16> to tensor<2x3x!quant.uniform<u8:f16, 0.031:13>>
// CHECK-NEXT: quant.dcast %[[Q]] : {{.*}} to tensor<2x3xf16>
// BACK-LABEL: func.func @pair(
// BACK-NOT: f16>) -> tensor<2x3xui8>
// BACK: %[[X:.*]] = onnx.Cast(%x) {to = 1 : i64}
// BACK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[X]],
// BACK-NEXT: %[[R:.*]] = onnx.DequantizeLinear(%[[Q]], {{.*}} -> tensor<2x3xf32>
// BACK-NEXT: onnx.Cast(%[[R]]) {to = 10 : i64}
func.func @pair(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.031] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>} : () -> tensor<ui8>
  %f = onnx.Cast(%x) {to = 1 : i64} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %q = onnx.QuantizeLinear(%f, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  %d = onnx.DequantizeLinear(%q, %s, %z) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %r = onnx.Cast(%d) {to = 10 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  func.return %r : tensor<2x3xf16>
}

// A weight, in bfloat16, and integers that come from outside; a scale that is a number of bfloat16 needs no Cast again.

// CHECK-LABEL: func.func @read(
// CHECK: %[[Q:.*]] = quant.scast %q : tensor<2xi8> to tensor<2x!quant.uniform<i8:bf16, 0.25>>
// CHECK: %[[W:.*]] = onnx.Constant() {{.*}} -> tensor<2x!quant.uniform<i8:bf16, 0.25>>
// BACK-LABEL: func.func @read(
// BACK-NOT: onnx.Cast
// BACK: func.return
func.func @read(%q: tensor<2xi8>) -> (tensor<2xbf16>, tensor<2xbf16>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %d = onnx.DequantizeLinear(%q, %s) : (tensor<2xi8>, tensor<f32>) -> tensor<2xf32>
  %r = onnx.Cast(%d) {to = 16 : i64} : (tensor<2xf32>) -> tensor<2xbf16>
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2] : tensor<2xi8>>} : () -> tensor<2xi8>
  %e = onnx.DequantizeLinear(%w, %s) : (tensor<2xi8>, tensor<f32>) -> tensor<2xf32>
  %u = onnx.Cast(%e) {to = 16 : i64} : (tensor<2xf32>) -> tensor<2xbf16>
  func.return %r, %u : tensor<2xbf16>, tensor<2xbf16>
}

// Two readings of one value are one cast; whoever reads it in f32 still does.

// CHECK-LABEL: func.func @read_twice(
// BACK-LABEL: func.func @read_twice(
// BACK: %[[D:.*]] = onnx.DequantizeLinear(%q
// BACK-NEXT: %[[H:.*]] = onnx.Cast(%[[D]])
// BACK: onnx.Sin(%[[H]])
// BACK: onnx.Cos(%[[H]])
// BACK: func.return {{.*}}, %[[D]] :
func.func @read_twice(%q: tensor<2xi8>) -> (tensor<2xf16>, tensor<2xf16>, tensor<2xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.031] : tensor<f32>>} : () -> tensor<f32>
  %d = onnx.DequantizeLinear(%q, %s) : (tensor<2xi8>, tensor<f32>) -> tensor<2xf32>
  %r = onnx.Cast(%d) {to = 10 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  %u = onnx.Cast(%d) {to = 10 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  %y = onnx.Sin(%r) : (tensor<2xf16>) -> tensor<2xf16>
  %v = onnx.Cos(%u) : (tensor<2xf16>) -> tensor<2xf16>
  func.return %y, %v, %d : tensor<2xf16>, tensor<2xf16>, tensor<2xf32>
}

// The scale is too small for half precision, and other Casts round or are of integers.

// CHECK-LABEL: func.func @unmoved_small_scale(
// CHECK: onnx.Cast
// CHECK: quant.qcast {{.*}} : tensor<2xf32>
// CHECK: quant.dcast {{.*}} to tensor<2xf32>
// CHECK: onnx.Cast
func.func @unmoved_small_scale(%x: tensor<2xf16>) -> tensor<2xf16> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0e-09] : tensor<f32>>} : () -> tensor<f32>
  %f = onnx.Cast(%x) {to = 1 : i64} : (tensor<2xf16>) -> tensor<2xf32>
  %q = onnx.QuantizeLinear(%f, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xui8>
  %d = onnx.DequantizeLinear(%q, %s) : (tensor<2xui8>, tensor<f32>) -> tensor<2xf32>
  %r = onnx.Cast(%d) {to = 10 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  func.return %r : tensor<2xf16>
}

// CHECK-LABEL: func.func @unmoved_other_casts(
// CHECK: onnx.Cast(%x)
// CHECK: onnx.Cast({{.*}}) {to = 6 : i64}
func.func @unmoved_other_casts(%x: tensor<2xi32>) -> tensor<2xi32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %f = onnx.Cast(%x) {to = 1 : i64} : (tensor<2xi32>) -> tensor<2xf32>
  %q = onnx.QuantizeLinear(%f, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xui8>
  %d = onnx.DequantizeLinear(%q, %s) : (tensor<2xui8>, tensor<f32>) -> tensor<2xf32>
  %r = onnx.Cast(%d) {to = 6 : i64} : (tensor<2xf32>) -> tensor<2xi32>
  func.return %r : tensor<2xi32>
}
}
