// RUN: ROUNDTRIP

// Few elements are numbers that read back to the same bits; where no number does, all of them are hex. Elements of 2 and
// 4 bits are packed, the first in the lowest bits; strings have their length before them.

// CHECK-LABEL: func.func @i2(
// CHECK: onnx.Constant() {value = #onnx.tensor<[-2, 1, 0] : tensor<3xi2>>} : () -> tensor<3xi2>
func.func @i2() -> tensor<3xi2> {
  %c = onnx.Constant() {value = #onnx.tensor<[-2, 1, 0] : tensor<3xi2>>} : () -> tensor<3xi2>
  func.return %c : tensor<3xi2>
}

// CHECK-LABEL: func.func @ui2(
// CHECK: onnx.Constant() {value = #onnx.tensor<[3, 0, 2] : tensor<3xui2>>} : () -> tensor<3xui2>
func.func @ui2() -> tensor<3xui2> {
  %c = onnx.Constant() {value = #onnx.tensor<[3, 0, 2] : tensor<3xui2>>} : () -> tensor<3xui2>
  func.return %c : tensor<3xui2>
}

// CHECK-LABEL: func.func @i4(
// CHECK: onnx.Constant() {value = #onnx.tensor<[-8, 7, -1] : tensor<3xi4>>} : () -> tensor<3xi4>
func.func @i4() -> tensor<3xi4> {
  %c = onnx.Constant() {value = #onnx.tensor<[-8, 7, -1] : tensor<3xi4>>} : () -> tensor<3xi4>
  func.return %c : tensor<3xi4>
}

// CHECK-LABEL: func.func @ui4(
// CHECK: onnx.Constant() {value = #onnx.tensor<[15, 0, 9] : tensor<3xui4>>} : () -> tensor<3xui4>
func.func @ui4() -> tensor<3xui4> {
  %c = onnx.Constant() {value = #onnx.tensor<[15, 0, 9] : tensor<3xui4>>} : () -> tensor<3xui4>
  func.return %c : tensor<3xui4>
}

// CHECK-LABEL: func.func @i8(
// CHECK: onnx.Constant() {value = #onnx.tensor<[-128, 127, 0, 1, 2, 3] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
func.func @i8() -> tensor<2x3xi8> {
  %c = onnx.Constant() {value = #onnx.tensor<[-128, 127, 0, 1, 2, 3] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  func.return %c : tensor<2x3xi8>
}

// CHECK-LABEL: func.func @ui8(
// CHECK: onnx.Constant() {value = #onnx.tensor<[255, 0] : tensor<2xui8>>} : () -> tensor<2xui8>
func.func @ui8() -> tensor<2xui8> {
  %c = onnx.Constant() {value = #onnx.tensor<[255, 0] : tensor<2xui8>>} : () -> tensor<2xui8>
  func.return %c : tensor<2xui8>
}

// CHECK-LABEL: func.func @i16(
// CHECK: onnx.Constant() {value = #onnx.tensor<[-32768, 32767] : tensor<2xi16>>} : () -> tensor<2xi16>
func.func @i16() -> tensor<2xi16> {
  %c = onnx.Constant() {value = #onnx.tensor<[-32768, 32767] : tensor<2xi16>>} : () -> tensor<2xi16>
  func.return %c : tensor<2xi16>
}

// CHECK-LABEL: func.func @ui16(
// CHECK: onnx.Constant() {value = #onnx.tensor<[65535] : tensor<1xui16>>} : () -> tensor<1xui16>
func.func @ui16() -> tensor<1xui16> {
  %c = onnx.Constant() {value = #onnx.tensor<[65535] : tensor<1xui16>>} : () -> tensor<1xui16>
  func.return %c : tensor<1xui16>
}

// CHECK-LABEL: func.func @i32(
// CHECK: onnx.Constant() {value = #onnx.tensor<[-2147483648, 2147483647] : tensor<2xi32>>} : () -> tensor<2xi32>
func.func @i32() -> tensor<2xi32> {
  %c = onnx.Constant() {value = #onnx.tensor<[-2147483648, 2147483647] : tensor<2xi32>>} : () -> tensor<2xi32>
  func.return %c : tensor<2xi32>
}

// CHECK-LABEL: func.func @ui32(
// CHECK: onnx.Constant() {value = #onnx.tensor<[4294967295] : tensor<1xui32>>} : () -> tensor<1xui32>
func.func @ui32() -> tensor<1xui32> {
  %c = onnx.Constant() {value = #onnx.tensor<[4294967295] : tensor<1xui32>>} : () -> tensor<1xui32>
  func.return %c : tensor<1xui32>
}

// CHECK-LABEL: func.func @i64(
// CHECK: onnx.Constant() {value = #onnx.tensor<[-9223372036854775808, 9223372036854775807] : tensor<2xi64>>} : () -> tensor<2xi64>
func.func @i64() -> tensor<2xi64> {
  %c = onnx.Constant() {value = #onnx.tensor<[-9223372036854775808, 9223372036854775807] : tensor<2xi64>>} : () -> tensor<2xi64>
  func.return %c : tensor<2xi64>
}

// CHECK-LABEL: func.func @ui64(
// CHECK: onnx.Constant() {value = #onnx.tensor<[18446744073709551615] : tensor<1xui64>>} : () -> tensor<1xui64>
func.func @ui64() -> tensor<1xui64> {
  %c = onnx.Constant() {value = #onnx.tensor<[18446744073709551615] : tensor<1xui64>>} : () -> tensor<1xui64>
  func.return %c : tensor<1xui64>
}

// CHECK-LABEL: func.func @bool(
// CHECK: onnx.Constant() {value = #onnx.tensor<[1, 0] : tensor<2xi1>>} : () -> tensor<2xi1>
func.func @bool() -> tensor<2xi1> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 0] : tensor<2xi1>>} : () -> tensor<2xi1>
  func.return %c : tensor<2xi1>
}

// CHECK-LABEL: func.func @f16(
// CHECK: onnx.Constant() {value = #onnx.tensor<[0.1, -6.55e+04, 6.0e-08] : tensor<3xf16>>} : () -> tensor<3xf16>
func.func @f16() -> tensor<3xf16> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.1, -65500.0, 6.0e-08] : tensor<3xf16>>} : () -> tensor<3xf16>
  func.return %c : tensor<3xf16>
}

// CHECK-LABEL: func.func @bf16(
// CHECK: onnx.Constant() {value = #onnx.tensor<[0.100097656, 3.2964854e+38] : tensor<2xbf16>>} : () -> tensor<2xbf16>
func.func @bf16() -> tensor<2xbf16> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.100097656, 3.2964854e+38] : tensor<2xbf16>>} : () -> tensor<2xbf16>
  func.return %c : tensor<2xbf16>
}

// CHECK-LABEL: func.func @f32(
// CHECK: onnx.Constant() {value = #onnx.tensor<[0.1, -3.4028235e+38, 1.0e-45, -0.0] : tensor<4xf32>>} : () -> tensor<4xf32>
func.func @f32() -> tensor<4xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.1, -3.4028235e+38, 1.0e-45, -0.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// CHECK-LABEL: func.func @f64(
// CHECK: onnx.Constant() {value = #onnx.tensor<[0.1, 1.7976931348623157e+308, 5.0e-324] : tensor<3xf64>>} : () -> tensor<3xf64>
func.func @f64() -> tensor<3xf64> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.1, 1.7976931348623157e+308, 5.0e-324] : tensor<3xf64>>} : () -> tensor<3xf64>
  func.return %c : tensor<3xf64>
}

// CHECK-LABEL: func.func @scalar(
// CHECK: onnx.Constant() {value = #onnx.tensor<[2.5] : tensor<f32>>} : () -> tensor<f32>
func.func @scalar() -> tensor<f32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2.5] : tensor<f32>>} : () -> tensor<f32>
  func.return %c : tensor<f32>
}

// CHECK-LABEL: func.func @empty(
// CHECK: onnx.Constant() {value = #onnx.tensor<[] : tensor<0x3xf32>>} : () -> tensor<0x3xf32>
func.func @empty() -> tensor<0x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[] : tensor<0x3xf32>>} : () -> tensor<0x3xf32>
  func.return %c : tensor<0x3xf32>
}

// CHECK-LABEL: func.func @f32_not_finite(
// CHECK: onnx.Constant() {value = #onnx.tensor<"0x0000807F000080FF0100C07F" : tensor<3xf32>>} : () -> tensor<3xf32>
func.func @f32_not_finite() -> tensor<3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<"0x0000807F000080FF0100C07F" : tensor<3xf32>>} : () -> tensor<3xf32>
  func.return %c : tensor<3xf32>
}

// CHECK-LABEL: func.func @f16_not_finite(
// CHECK: onnx.Constant() {value = #onnx.tensor<"0x007C00FC017E" : tensor<3xf16>>} : () -> tensor<3xf16>
func.func @f16_not_finite() -> tensor<3xf16> {
  %c = onnx.Constant() {value = #onnx.tensor<"0x007C00FC017E" : tensor<3xf16>>} : () -> tensor<3xf16>
  func.return %c : tensor<3xf16>
}

// CHECK-LABEL: func.func @f64_nan(
// CHECK: onnx.Constant() {value = #onnx.tensor<"0x010000000000F87F" : tensor<1xf64>>} : () -> tensor<1xf64>
func.func @f64_nan() -> tensor<1xf64> {
  %c = onnx.Constant() {value = #onnx.tensor<"0x010000000000F87F" : tensor<1xf64>>} : () -> tensor<1xf64>
  func.return %c : tensor<1xf64>
}

// CHECK-LABEL: func.func @f8E4M3FN(
// CHECK: onnx.Constant() {value = #onnx.tensor<[0.5, -448.0] : tensor<2xf8E4M3FN>>} : () -> tensor<2xf8E4M3FN>
func.func @f8E4M3FN() -> tensor<2xf8E4M3FN> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.5, -448.0] : tensor<2xf8E4M3FN>>} : () -> tensor<2xf8E4M3FN>
  func.return %c : tensor<2xf8E4M3FN>
}

// CHECK-LABEL: func.func @f8E5M2(
// CHECK: onnx.Constant() {value = #onnx.tensor<[0.25, -57344.0] : tensor<2xf8E5M2>>} : () -> tensor<2xf8E5M2>
func.func @f8E5M2() -> tensor<2xf8E5M2> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.25, -57344.0] : tensor<2xf8E5M2>>} : () -> tensor<2xf8E5M2>
  func.return %c : tensor<2xf8E5M2>
}

// CHECK-LABEL: func.func @f8E4M3FNUZ(
// CHECK: onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1xf8E4M3FNUZ>>} : () -> tensor<1xf8E4M3FNUZ>
func.func @f8E4M3FNUZ() -> tensor<1xf8E4M3FNUZ> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1xf8E4M3FNUZ>>} : () -> tensor<1xf8E4M3FNUZ>
  func.return %c : tensor<1xf8E4M3FNUZ>
}

// CHECK-LABEL: func.func @f8E5M2FNUZ(
// CHECK: onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1xf8E5M2FNUZ>>} : () -> tensor<1xf8E5M2FNUZ>
func.func @f8E5M2FNUZ() -> tensor<1xf8E5M2FNUZ> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1xf8E5M2FNUZ>>} : () -> tensor<1xf8E5M2FNUZ>
  func.return %c : tensor<1xf8E5M2FNUZ>
}

// CHECK-LABEL: func.func @f8E8M0FNU(
// CHECK: onnx.Constant() {value = #onnx.tensor<[0.5, 4.0] : tensor<2xf8E8M0FNU>>} : () -> tensor<2xf8E8M0FNU>
func.func @f8E8M0FNU() -> tensor<2xf8E8M0FNU> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.5, 4.0] : tensor<2xf8E8M0FNU>>} : () -> tensor<2xf8E8M0FNU>
  func.return %c : tensor<2xf8E8M0FNU>
}

// CHECK-LABEL: func.func @f4E2M1FN(
// CHECK: onnx.Constant() {value = #onnx.tensor<[0.5, -6.0, 1.5] : tensor<3xf4E2M1FN>>} : () -> tensor<3xf4E2M1FN>
func.func @f4E2M1FN() -> tensor<3xf4E2M1FN> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.5, -6.0, 1.5] : tensor<3xf4E2M1FN>>} : () -> tensor<3xf4E2M1FN>
  func.return %c : tensor<3xf4E2M1FN>
}

// CHECK-LABEL: func.func @f8_nan(
// CHECK: onnx.Constant() {value = #onnx.tensor<"0x7FFF" : tensor<2xf8E4M3FN>>} : () -> tensor<2xf8E4M3FN>
func.func @f8_nan() -> tensor<2xf8E4M3FN> {
  %c = onnx.Constant() {value = #onnx.tensor<"0x7FFF" : tensor<2xf8E4M3FN>>} : () -> tensor<2xf8E4M3FN>
  func.return %c : tensor<2xf8E4M3FN>
}

// CHECK-LABEL: func.func @complex(
// CHECK: onnx.Constant() {value = #onnx.tensor<"0x0000803F000000400000404000008040" : tensor<2xcomplex<f32>>>} : () -> tensor<2xcomplex<f32>>
func.func @complex() -> tensor<2xcomplex<f32>> {
  %c = onnx.Constant() {value = #onnx.tensor<"0x0000803F000000400000404000008040" : tensor<2xcomplex<f32>>>} : () -> tensor<2xcomplex<f32>>
  func.return %c : tensor<2xcomplex<f32>>
}

// CHECK-LABEL: func.func @strings(
// CHECK: onnx.Constant() {value = #onnx.tensor<"0x0200000068690000000003000000E282AC" : tensor<3x!onnx.string>>} : () -> tensor<3x!onnx.string>
func.func @strings() -> tensor<3x!onnx.string> {
  %c = onnx.Constant() {value = #onnx.tensor<"0x0200000068690000000003000000E282AC" : tensor<3x!onnx.string>>} : () -> tensor<3x!onnx.string>
  func.return %c : tensor<3x!onnx.string>
}

// Packed hex is read where numbers are printed: 0x21 is 1 and 2.

// CHECK-LABEL: func.func @packed(
// CHECK: #onnx.tensor<[1, 2, -8] : tensor<3xi4>>
func.func @packed() -> tensor<3xi4> {
  %c = onnx.Constant() {value = #onnx.tensor<"0x2108" : tensor<3xi4>>} : () -> tensor<3xi4>
  func.return %c : tensor<3xi4>
}

// A constant of quantized type holds what is stored.

// CHECK-LABEL: func.func @quantized(
// CHECK: onnx.Constant() {value = #onnx.tensor<[1, -2] : tensor<2xi8>>} : () -> tensor<2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
func.func @quantized() -> tensor<2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, -2] : tensor<2xi8>>} : () -> tensor<2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
  func.return %c : tensor<2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
}

// A sparse constant: values, indices, the dense type.

// CHECK-LABEL: func.func @sparse(
// CHECK: sparse_value = #onnx.sparse_tensor<#onnx.tensor<[1.5, -2.0] : tensor<2xf32>>, #onnx.tensor<[1, 3] : tensor<2xi64>>, tensor<5xf32>>
func.func @sparse() -> tensor<5xf32> {
  %c = onnx.Constant() {sparse_value = #onnx.sparse_tensor<#onnx.tensor<[1.5, -2.0] : tensor<2xf32>>, #onnx.tensor<[1, 3] : tensor<2xi64>>, tensor<5xf32>>} : () -> tensor<5xf32>
  func.return %c : tensor<5xf32>
}
