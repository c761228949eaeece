// RUN: OPT %s -p integer-io | FILECHECK %s
// RUN: DIAGNOSTICS -p integer-io

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>
!y = !quant.uniform<i8:f32, 0.04:-9>

// CHECK-LABEL: func.func @both(%x: tensor<2x3xui8>) -> tensor<3x2xi8>
// CHECK-NEXT: %[[X:.*]] = quant.scast %x : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[X]])
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[T]]
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[R]]
// CHECK-NEXT: %[[Y:.*]] = quant.scast %[[Q]] : tensor<3x2x!quant.uniform<i8:f32, 0.04:-9>> to tensor<3x2xi8>
// CHECK-NEXT: func.return %[[Y]] : tensor<3x2xi8>
func.func @both(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %a = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  %t = onnx.Transpose(%a) {perm = array<i64: 1, 0>} : (tensor<2x3x!x>) -> tensor<3x2x!x>
  %r = quant.dcast %t : tensor<3x2x!x> to tensor<3x2xf32>
  %q = quant.qcast %r : tensor<3x2xf32> to tensor<3x2x!y>
  %y = quant.dcast %q : tensor<3x2x!y> to tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Two quantizes alike are one input; a dequantize that somebody else needs stays.

// CHECK-LABEL: func.func @shared(%x: tensor<2x3xi8>) -> (tensor<2x3xi8>, tensor<2x3xi8>)
// CHECK-NEXT: %[[X:.*]] = quant.scast %x : tensor<2x3xi8> to tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[X]]
// CHECK-NEXT: %[[N:.*]] = onnx.Neg(%[[R]])
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[N]]
// CHECK-NEXT: %[[A:.*]] = quant.scast %[[X]] : tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>> to tensor<2x3xi8>
// CHECK-NEXT: %[[B:.*]] = quant.scast %[[Q]] : tensor<2x3x!quant.uniform<i8:f32, 0.04:-9>> to tensor<2x3xi8>
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @shared(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!w>
  %b = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!w>
  %r = quant.dcast %a : tensor<2x3x!w> to tensor<2x3xf32>
  %s = quant.dcast %b : tensor<2x3x!w> to tensor<2x3xf32>
  %n = onnx.Neg(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!y>
  %y = quant.dcast %q : tensor<2x3x!y> to tensor<2x3xf32>
  func.return %r, %y : tensor<2x3xf32>, tensor<2x3xf32>
}

// Of two inputs one is quantized, the other is no float at all.

// CHECK-LABEL: func.func @indices(%x: tensor<2x3xui8>, %i: tensor<4xi64>) -> tensor<2x4xui8>
// CHECK: %[[Y:.*]] = quant.scast %{{.*}} to tensor<2x4xui8>
// CHECK-NEXT: func.return %[[Y]]
func.func @indices(%x: tensor<2x3xf32>, %i: tensor<4xi64>) -> tensor<2x4xf32> {
  %a = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  %g = onnx.Gather(%a, %i) {axis = 1 : i64} : (tensor<2x3x!x>, tensor<4xi64>) -> tensor<2x4x!x>
  %y = quant.dcast %g : tensor<2x4x!x> to tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @unmoved_float_input(%x: tensor<2x3xf32>) -> tensor<2x3xui8>
// CHECK-NEXT: %[[X:.*]] = quant.qcast %x
// CHECK: onnx.Relu(%x)
// expected-remark@+1 {{not every consumer quantizes the input with the same parameters in 8 bits or more, so it stays float [integer-io: float-interface]}}
func.func @unmoved_float_input(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  %s = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = onnx.Add(%r, %s) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %t : tensor<2x3xf32> to tensor<2x3x!x>
  %y = quant.dcast %q : tensor<2x3x!x> to tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Two quantizers that differ: which integers would it be?

// CHECK-LABEL: func.func @unmoved_two_quantizers(%x: tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<2x3xi8>)
// CHECK-DAG: quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-DAG: quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.04:-9>>
// expected-remark@+1 {{[integer-io: float-interface]}}
func.func @unmoved_two_quantizers(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  %b = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!y>
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  %s = quant.dcast %b : tensor<2x3x!y> to tensor<2x3xf32>
  func.return %r, %s : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_float_output(%x: tensor<2x3xui8>) -> (tensor<2x3xf32>, tensor<2x3xui8>)
// CHECK: %[[R:.*]] = quant.dcast %[[X:.*]] : tensor<2x3x!quant
// CHECK-NEXT: %[[N:.*]] = onnx.Neg(%[[R]])
// CHECK-NEXT: %[[Y:.*]] = quant.scast %[[X]]
// CHECK-NEXT: func.return %[[N]], %[[Y]]
func.func @unmoved_float_output(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  %n = onnx.Neg(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{the output is not the result of a dequantize of 8 bits or more, so it stays float [integer-io: float-interface]}}
  func.return %n, %r : tensor<2x3xf32>, tensor<2x3xf32>
}

// Nothing moves: no runtime copies 4-bit integers, which one that only goes through needs.

// CHECK-LABEL: func.func @unmoved_four_bits(%x: tensor<2x3xf32>) -> tensor<2x3xf32>
// expected-remark@+1 {{[integer-io: float-interface]}}
func.func @unmoved_four_bits(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u4:f32, 0.5:3>>
  %r = quant.dcast %a : tensor<2x3x!quant.uniform<u4:f32, 0.5:3>> to tensor<2x3xf32>
  // expected-remark@+1 {{[integer-io: float-interface]}}
  func.return %r : tensor<2x3xf32>
}
