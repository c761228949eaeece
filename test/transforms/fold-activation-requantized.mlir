// RUN: OPT %s -p fold-activation | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-activation

// What a clamp changes the next type cannot tell apart either: all of it becomes 0, and 6 or more becomes 255.

// CHECK-LABEL: func.func @relu_in_front_of_a_type_that_saturates(
// CHECK-NEXT: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: quant.qcast %[[R]]
func.func @relu_in_front_of_a_type_that_saturates(%q: tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.04:0>> {
  %c = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>
  %r = quant.dcast %c : tensor<2x3x!quant.uniform<u8:f32, 0.05:20>> to tensor<2x3xf32>
  %y = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.04:0>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.04:0>>
}

// CHECK-LABEL: func.func @clip_in_front_of_a_type_that_saturates(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: quant.qcast %[[R]]
func.func @clip_in_front_of_a_type_that_saturates(%q: tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.0235:0>> {
  %lo = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Clip(%q, %lo, %hi) : (tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>, tensor<f32>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>
  %r = quant.dcast %c : tensor<2x3x!quant.uniform<u8:f32, 0.05:20>> to tensor<2x3xf32>
  %y = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.0235:0>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.0235:0>>
}

// The bound of 0 alone, a number below zero that the next type has, and another reader need the clamp.

// CHECK-LABEL: func.func @unmoved_upper_bound(
// CHECK: onnx.Clip(%q, %{{.*}}, %{{.*}})
func.func @unmoved_upper_bound(%q: tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.04:0>> {
  %lo = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %c = onnx.Clip(%q, %lo, %hi) : (tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>, tensor<f32>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>
  %r = quant.dcast %c : tensor<2x3x!quant.uniform<u8:f32, 0.05:20>> to tensor<2x3xf32>
  %y = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.04:0>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.04:0>>
}

// CHECK-LABEL: func.func @unmoved_below_zero(
// CHECK: onnx.Relu(%q)
func.func @unmoved_below_zero(%q: tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.04:9>> {
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %c = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>
  %r = quant.dcast %c : tensor<2x3x!quant.uniform<u8:f32, 0.05:20>> to tensor<2x3xf32>
  %y = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.04:9>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.04:9>>
}

// CHECK-LABEL: func.func @unmoved_two_types(
// CHECK: onnx.Relu(%q)
func.func @unmoved_two_types(%q: tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> (tensor<2x3x!quant.uniform<u8:f32, 0.04:0>>, tensor<2x3x!quant.uniform<u8:f32, 0.04:9>>) {
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %c = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>
  %r = quant.dcast %c : tensor<2x3x!quant.uniform<u8:f32, 0.05:20>> to tensor<2x3xf32>
  %y = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.04:0>>
  %z = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.04:9>>
  func.return %y, %z : tensor<2x3x!quant.uniform<u8:f32, 0.04:0>>, tensor<2x3x!quant.uniform<u8:f32, 0.04:9>>
}

// CHECK-LABEL: func.func @unmoved_read_in_float(
// CHECK: onnx.Relu(%q)
func.func @unmoved_read_in_float(%q: tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> (tensor<2x3x!quant.uniform<u8:f32, 0.04:0>>, tensor<2x3xf32>) {
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %c = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>
  %r = quant.dcast %c : tensor<2x3x!quant.uniform<u8:f32, 0.05:20>> to tensor<2x3xf32>
  %y = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.04:0>>
  func.return %y, %r : tensor<2x3x!quant.uniform<u8:f32, 0.04:0>>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_several_scales(
// CHECK: onnx.Relu(%q)
func.func @unmoved_several_scales(%q: tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> tensor<2x3x!quant.uniform<u8:f32:1, {0.04:0,0.03:0,0.02:0}>> {
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %c = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.05:20>>
  %r = quant.dcast %c : tensor<2x3x!quant.uniform<u8:f32, 0.05:20>> to tensor<2x3xf32>
  %y = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32:1, {0.04:0,0.03:0,0.02:0}>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32:1, {0.04:0,0.03:0,0.02:0}>>
}
