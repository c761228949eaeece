// RUN: OPT %s -p keep-half,fold-identity,raise-qdq | FILECHECK %s
// RUN: DIAGNOSTICS -p keep-half,fold-identity,raise-qdq

// Between ops that it computes in float32, onnxruntime drops what would round to half precision; other neighbours let it
// drop others. Bit for bit, they stay as they are.

// CHECK-LABEL: func.func @unmoved_half_precision(
// CHECK: %[[T:.*]] = onnx.Identity(%s) attributes {qdialect.keep_float = "inexact-arithmetic"}
// CHECK: onnx.QuantizeLinear(%x, %[[T]], %z)
// CHECK: onnx.DequantizeLinear(%q, %[[T]], %z)
// CHECK: onnx.Identity(%r)
func.func @unmoved_half_precision(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f16>>} : () -> tensor<f16>
  %z = onnx.Constant() {value = #onnx.tensor<[3] : tensor<ui8>>} : () -> tensor<ui8>
  // expected-remark@+1 {{[fold-identity: inexact-arithmetic]}}
  %t = onnx.Identity(%s) : (tensor<f16>) -> tensor<f16>
  // expected-remark@+1 {{whether onnxruntime rounds to half precision between two ops depends on these, so the op is not rewritten; allow --exactness close [raise-qdq: inexact-arithmetic]}}
  %q = onnx.QuantizeLinear(%x, %t, %z) : (tensor<2x3xf16>, tensor<f16>, tensor<ui8>) -> tensor<2x3xui8>
  // expected-remark@+1 {{[raise-qdq: inexact-arithmetic]}}
  %r = onnx.DequantizeLinear(%q, %t, %z) : (tensor<2x3xui8>, tensor<f16>, tensor<ui8>) -> tensor<2x3xf16>
  // expected-remark@+1 {{[fold-identity: inexact-arithmetic]}}
  %y = onnx.Identity(%r) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  func.return %y : tensor<2x3xf16>
}

// The weight is rounded to half precision if only constants stand in front of its cast, in float32 behind a copy.

// CHECK-LABEL: func.func @copied_zero_point(
// CHECK: %[[Z:.*]] = onnx.Identity(%z) attributes {qdialect.keep_float = "inexact-arithmetic"}
// CHECK: onnx.DequantizeLinear(%w, %s, %[[Z]])
// CHECK-NOT: onnx.Identity
func.func @copied_zero_point(%x: tensor<2x3xf16>) -> tensor<2x2xf16> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f16>>} : () -> tensor<f16>
  %z = onnx.Constant() {value = #onnx.tensor<[3] : tensor<ui8>>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xui8>>} : () -> tensor<3x2xui8>
  // expected-remark@+1 {{[fold-identity: inexact-arithmetic]}}
  %t = onnx.Identity(%z) : (tensor<ui8>) -> tensor<ui8>
  // expected-remark@+1 {{[raise-qdq: inexact-arithmetic]}}
  %v = onnx.DequantizeLinear(%w, %s, %t) : (tensor<3x2xui8>, tensor<f16>, tensor<ui8>) -> tensor<3x2xf16>
  %m = onnx.MatMul(%x, %v) : (tensor<2x3xf16>, tensor<3x2xf16>) -> tensor<2x2xf16>
  %u = onnx.Identity(%z) : (tensor<ui8>) -> tensor<ui8>
  // expected-remark@+1 {{[raise-qdq: inexact-arithmetic]}}
  %q = onnx.QuantizeLinear(%m, %s, %u) : (tensor<2x2xf16>, tensor<f16>, tensor<ui8>) -> tensor<2x2xui8>
  // expected-remark@+1 {{[raise-qdq: inexact-arithmetic]}}
  %y = onnx.DequantizeLinear(%q, %s, %u) : (tensor<2x2xui8>, tensor<f16>, tensor<ui8>) -> tensor<2x2xf16>
  func.return %y : tensor<2x2xf16>
}

// Ops in float32 are nobody's neighbours: they move.

// CHECK-LABEL: func.func @single(
// CHECK-NOT: onnx.Identity
// CHECK: func.return
func.func @single(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = onnx.Identity(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
