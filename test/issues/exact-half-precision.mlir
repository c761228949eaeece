// RUN: OPT %s -p 'raise-qdq{half=false}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'raise-qdq{half=false}'

// Between ops that it computes in float32, onnxruntime drops what would round to half precision; moved casts let it
// drop others. Bit for bit, they stay where they are.

// CHECK-LABEL: func.func @unmoved_half_precision(
// CHECK: onnx.QuantizeLinear(%x
// CHECK: onnx.DequantizeLinear(
func.func @unmoved_half_precision(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f16>>} : () -> tensor<f16>
  %z = onnx.Constant() {value = #onnx.tensor<[3] : tensor<ui8>>} : () -> tensor<ui8>
  // expected-remark@+1 {{[raise-qdq: half-precision]}}
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<2x3xf16>, tensor<f16>, tensor<ui8>) -> tensor<2x3xui8>
  // expected-remark@+1 {{[raise-qdq: half-precision]}}
  %r = onnx.DequantizeLinear(%q, %s, %z) : (tensor<2x3xui8>, tensor<f16>, tensor<ui8>) -> tensor<2x3xf16>
  func.return %r : tensor<2x3xf16>
}
