// RUN: OPT %s -p integer-io | FILECHECK %s
// RUN: DIAGNOSTICS -p integer-io

!x = !quant.uniform<u8:f32, 0.02:13>
!y = !quant.uniform<i8:f32, 0.04:9>

// Both ends of the graph become integers; an input that every user quantizes alike is quantized once.

// CHECK-LABEL: func.func @both(
// CHECK-SAME: %x: tensor<2x3xui8> {onnx.name = "x"}) -> (tensor<2x3xi8> {onnx.name = "y"}, tensor<2x3xui8>) {
// CHECK-NEXT: %[[Q:.*]] = quant.scast %x : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[Y:.*]] = onnx.Sigmoid(%[[Q]])
// CHECK-DAG: %[[R:.*]] = quant.scast %[[Y]] : tensor<2x3x!quant.uniform<i8:f32, 0.04:9>> to tensor<2x3xi8>
// CHECK-DAG: %[[S:.*]] = quant.scast %[[Q]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xui8>
// CHECK: func.return %[[R]], %[[S]]
func.func @both(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x3xf32> {onnx.name = "y"}, tensor<2x3xf32>) {
  %p = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  %y = onnx.Sigmoid(%p) : (tensor<2x3x!x>) -> tensor<2x3x!y>
  %r = quant.dcast %y : tensor<2x3x!y> to tensor<2x3xf32>
  %s = quant.dcast %q : tensor<2x3x!x> to tensor<2x3xf32>
  func.return %r, %s : tensor<2x3xf32>, tensor<2x3xf32>
}

// Nothing changes: two users quantize the input in two ways.

// CHECK-LABEL: func.func @unchanged_input(
// CHECK-SAME: %x: tensor<2x3xf32>
// CHECK-COUNT-2: quant.qcast %x
// expected-remark@+1 {{func.func 'func.func': an input is not quantized by every user alike, so it stays float [integer-io: float-input]}}
func.func @unchanged_input(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %p = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!y>
  %y = onnx.Add(%p, %q) : (tensor<2x3x!x>, tensor<2x3x!y>) -> tensor<2x3x!y>
  %r = quant.dcast %y : tensor<2x3x!y> to tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// Nothing changes: the output is made in float. An input that nobody reads is no matter.

// CHECK-LABEL: func.func @unchanged_output(
// CHECK-SAME: %u: tensor<4xf32>) -> tensor<2x3xf32>
// CHECK: %[[Y:.*]] = onnx.Sigmoid(
// CHECK-NEXT: func.return %[[Y]]
// expected-remark@+1 {{an output is not made by a dequantize, so it stays float [integer-io: float-output]}}
func.func @unchanged_output(%x: tensor<2x3xf32>, %u: tensor<4xf32>) -> tensor<2x3xf32> {
  %p = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  %y = onnx.Sigmoid(%p) : (tensor<2x3x!x>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
