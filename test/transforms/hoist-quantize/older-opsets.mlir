// RUN: OPT %s -p hoist-quantize | FILECHECK %s
// RUN: DIAGNOSTICS -p hoist-quantize

// Opset 9: what became inputs later were attributes.

builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
// CHECK-LABEL: func.func @squeeze_11(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<1x2x1x3xf32> to tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Squeeze(%[[Q]]{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @squeeze_11(%x: tensor<1x2x1x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Squeeze(%x) {axes = array<i64: 0, 2>} : (tensor<1x2x1x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @unsqueeze_11(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Unsqueeze(%[[Q]]{{.*}}) {{.*}}-> tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @unsqueeze_11(%x: tensor<2x3xf32>) -> tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Unsqueeze(%x) {axes = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<1x2x1x3xf32>
  %q = quant.qcast %y : tensor<1x2x1x3xf32> to tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @clip_6(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Clip(%[[Q]]{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @clip_6(%p: tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %p : tensor<2x3x!quant.uniform<u8:f32, 0.03:7>> to tensor<2x3xf32>
  %y = onnx.Clip(%x) {min = 0.0 : f32, max = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @pad_2(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Pad(%[[Q]]{{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @pad_2(%x: tensor<2x3xf32>) -> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Pad(%x) {pads = array<i64: 1, 0, 2, 0>} : (tensor<2x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %y : tensor<5x3xf32> to tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

}

// A clamp of floats quantizes nowhere sooner for it: it stays in front.

// CHECK-LABEL: func.func @unmoved_made_in_float(
// CHECK-NEXT: %[[Y:.*]] = onnx.MaxPool(%x)
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_made_in_float(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x4x2x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.MaxPool(%x) {kernel_shape = array<i64: 2, 3>} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x2xf32>
  // expected-remark@+1 {{the operands that the op selects from are float, so the op stays in float [hoist-quantize: does-not-pay]}}
  %q = quant.qcast %y : tensor<1x2x4x2xf32> to tensor<1x2x4x2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<1x2x4x2x!quant.uniform<u8:f32, 0.02:13>>
}

// Who reads only a shape reads it of the integers.

// CHECK-LABEL: func.func @shape_beside(
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %x
// CHECK-NEXT: %[[M:.*]] = onnx.Transpose(%[[Q]])
// CHECK-NEXT: %[[S:.*]] = onnx.Shape(%[[M]])
// CHECK-NEXT: func.return %[[M]], %[[S]]
func.func @shape_beside(%x: tensor<2x3xf32>) -> (tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xi64>) {
  %y = onnx.Transpose(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %s = onnx.Shape(%y) : (tensor<3x2xf32>) -> tensor<2xi64>
  %q = quant.qcast %y : tensor<3x2xf32> to tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q, %s : tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xi64>
}

// Nothing moves: elements that rounding makes equal would have another's index.

// CHECK-LABEL: func.func @unmoved_indices_used(
// CHECK: %[[M:.*]], %[[I:.*]] = onnx.TopK(%{{.*}}, %c) : (tensor<5xf32>
func.func @unmoved_indices_used(%p: tensor<5x!quant.uniform<i16:f32, 0.001>>) -> (tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xi64>) {
  %c = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %x = quant.dcast %p : tensor<5x!quant.uniform<i16:f32, 0.001>> to tensor<5xf32>
  %y, %i = onnx.TopK(%x, %c) : (tensor<5xf32>, tensor<1xi64>) -> (tensor<2xf32>, tensor<2xi64>)
  // expected-remark@+1 {{the op also returns indices, and rounded elements may be equal [hoist-quantize: equal-elements]}}
  %q = quant.qcast %y : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q, %i : tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xi64>
}

// CHECK-LABEL: func.func @unmoved_rounding_merges(
// CHECK: onnx.Unique(%x) : (tensor<5xf32>
func.func @unmoved_rounding_merges(%p: tensor<5x!quant.uniform<i16:f32, 0.001>>) -> tensor<?x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %p : tensor<5x!quant.uniform<i16:f32, 0.001>> to tensor<5xf32>
  %y = onnx.Unique(%x) : (tensor<5xf32>) -> tensor<?xf32>
  // expected-remark@+1 {{quantization may make elements equal, which the op drops [hoist-quantize: equal-elements]}}
  %q = quant.qcast %y : tensor<?xf32> to tensor<?x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<?x!quant.uniform<u8:f32, 0.02:13>>
}

// Integers that come in, moved, are read as quantized before they are moved.

// CHECK-LABEL: func.func @integers(
// CHECK-NEXT: %[[X:.*]] = quant.scast %x : tensor<2x3xi8> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Transpose(%[[X]])
// CHECK-NEXT: quant.dcast %[[M]] : tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x2xf32>
func.func @integers(%x: tensor<2x3xi8>) -> tensor<3x2xf32> {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
  %q = quant.scast %y : tensor<3x2xi8> to tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
  %r = quant.dcast %q : tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}

// Integers that somebody else needs as they are, or that are read in two ways.

// CHECK-LABEL: func.func @unmoved_integers(
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%x)
// CHECK-NEXT: quant.scast %[[Y]]
// CHECK: %[[Z:.*]] = onnx.Transpose(%z)
// CHECK-NEXT: quant.scast %[[Z]]
// CHECK-NEXT: quant.scast %[[Z]]
func.func @unmoved_integers(%x: tensor<2x3xi8>, %z: tensor<2x3xi8>) -> (tensor<3x2xf32>, tensor<3x2xi8>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
  // expected-remark@+1 {{the integers have a second consumer [hoist-quantize: second-consumer]}}
  %q = quant.scast %y : tensor<3x2xi8> to tensor<3x2x!quant.uniform<i8:f32, 0.02>>
  %r = quant.dcast %q : tensor<3x2x!quant.uniform<i8:f32, 0.02>> to tensor<3x2xf32>
  %t = onnx.Transpose(%z) {perm = array<i64: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
  // expected-remark@+1 {{the integers are read as two types [hoist-quantize: other-parameters]}}
  %a = quant.scast %t : tensor<3x2xi8> to tensor<3x2x!quant.uniform<i8:f32, 0.02>>
  // expected-remark@+1 {{the integers are read as two types [hoist-quantize: other-parameters]}}
  %b = quant.scast %t : tensor<3x2xi8> to tensor<3x2x!quant.uniform<i8:f32, 0.04>>
  %c = quant.dcast %a : tensor<3x2x!quant.uniform<i8:f32, 0.02>> to tensor<3x2xf32>
  %d = quant.dcast %b : tensor<3x2x!quant.uniform<i8:f32, 0.04>> to tensor<3x2xf32>
  func.return %r, %y, %c, %d : tensor<3x2xf32>, tensor<3x2xi8>, tensor<3x2xf32>, tensor<3x2xf32>
}

// Nothing moves: parts of one scale each join to one of that scale, not to equal scales along an axis.

// CHECK-LABEL: func.func @unmoved_equal_scales(
// CHECK: %[[J:.*]] = onnx.Concat(%[[X:.*]], %[[Y:.*]]) {axis = 1 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: quant.qcast %[[J]]
func.func @unmoved_equal_scales(%a: tensor<3x1xf32>, %b: tensor<3x1xf32>) -> tensor<3x2x!quant.uniform<u8:f32:1, {0.5:3,0.5:3}>> {
  %x = onnx.Exp(%a) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = onnx.Exp(%b) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %j = onnx.Concat(%x, %y) {axis = 1 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{the op returns another type for these operand types [hoist-quantize: other-type]}}
  %q = quant.qcast %j : tensor<3x2xf32> to tensor<3x2x!quant.uniform<u8:f32:1, {0.5:3,0.5:3}>>
  func.return %q : tensor<3x2x!quant.uniform<u8:f32:1, {0.5:3,0.5:3}>>
}
