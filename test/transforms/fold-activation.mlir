// RUN: OPT %s -p fold-activation | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-activation

// The storage range begins at real zero: it is the clamp.

// CHECK-LABEL: func.func @relu(
// CHECK-NEXT: func.return %q
func.func @relu(%q: tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>> {
  %y = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>
  func.return %y : tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>
}

// A size that only the result has said is the operand's.

// CHECK-LABEL: func.func @relu_that_says_a_size(
// CHECK: %[[A:.*]] = onnx.Compress({{.*}} -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>
// CHECK-NEXT: func.return %[[A]]
func.func @relu_that_says_a_size(%q: tensor<2x4x!quant.uniform<i8:f32, 0.02:-128>>, %c: tensor<4xi1>) -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>> {
  %a = onnx.Compress(%q, %c) {axis = 1 : i64} : (tensor<2x4x!quant.uniform<i8:f32, 0.02:-128>>, tensor<4xi1>) -> tensor<2x?x!quant.uniform<i8:f32, 0.02:-128>>
  %y = onnx.Relu(%a) : (tensor<2x?x!quant.uniform<i8:f32, 0.02:-128>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>
  func.return %y : tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>
}

// CHECK-LABEL: func.func @relu_that_says_the_rank(
// CHECK: %[[A:.*]] = onnx.Reshape({{.*}} -> tensor<2x4x!quant.uniform<i8:f32, 0.02:-128>>
// CHECK-NEXT: func.return %[[A]]
func.func @relu_that_says_the_rank(%q: tensor<8x!quant.uniform<i8:f32, 0.02:-128>>, %c: tensor<?xi64>) -> tensor<2x4x!quant.uniform<i8:f32, 0.02:-128>> {
  %a = onnx.Reshape(%q, %c) : (tensor<8x!quant.uniform<i8:f32, 0.02:-128>>, tensor<?xi64>) -> tensor<*x!quant.uniform<i8:f32, 0.02:-128>>
  %y = onnx.Relu(%a) : (tensor<*x!quant.uniform<i8:f32, 0.02:-128>>) -> tensor<2x4x!quant.uniform<i8:f32, 0.02:-128>>
  func.return %y : tensor<2x4x!quant.uniform<i8:f32, 0.02:-128>>
}

// But not where a branch says so, which may not run.

// CHECK-LABEL: func.func @relu_that_says_a_size_in_a_branch(
// CHECK: onnx.Compress({{.*}} -> tensor<2x?x!quant.uniform<i8:f32, 0.02:-128>>
// CHECK-NOT: onnx.Relu
// CHECK: func.return
func.func @relu_that_says_a_size_in_a_branch(%b: tensor<i1>, %q: tensor<2x4x!quant.uniform<i8:f32, 0.02:-128>>, %c: tensor<4xi1>) -> tensor<2x?x!quant.uniform<i8:f32, 0.02:-128>> {
  %a = onnx.Compress(%q, %c) {axis = 1 : i64} : (tensor<2x4x!quant.uniform<i8:f32, 0.02:-128>>, tensor<4xi1>) -> tensor<2x?x!quant.uniform<i8:f32, 0.02:-128>>
  %y = onnx.If(%b) then_branch {
    %t = onnx.Relu(%a) : (tensor<2x?x!quant.uniform<i8:f32, 0.02:-128>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>
    onnx.Yield(%t) : (tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>) -> ()
  } else_branch {
    onnx.Yield(%a) : (tensor<2x?x!quant.uniform<i8:f32, 0.02:-128>>) -> ()
  } : (tensor<i1>) -> tensor<2x?x!quant.uniform<i8:f32, 0.02:-128>>
  func.return %y : tensor<2x?x!quant.uniform<i8:f32, 0.02:-128>>
}

// The range as written counts, not the width.

// CHECK-LABEL: func.func @relu_of_a_narrow_range(
// CHECK-NEXT: func.return %q
func.func @relu_of_a_narrow_range(%q: tensor<2x3x!quant.uniform<u8<7:250>:f32, 0.02:7>>) -> tensor<2x3x!quant.uniform<u8<7:250>:f32, 0.02:7>> {
  %y = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8<7:250>:f32, 0.02:7>>) -> tensor<2x3x!quant.uniform<u8<7:250>:f32, 0.02:7>>
  func.return %y : tensor<2x3x!quant.uniform<u8<7:250>:f32, 0.02:7>>
}

// Both ends of [-0.26, 4.84] lie within the bounds.

// CHECK-LABEL: func.func @clip(
// CHECK-NOT: onnx.Clip
// CHECK: func.return %q
func.func @clip(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %l = onnx.Constant() {value = #onnx.tensor<[-0.5] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %y = onnx.Clip(%q, %l, %h) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// Of two clamps the one stays whose range of stored integers is within the other's.

// CHECK-LABEL: func.func @clip_behind_a_narrower(
// CHECK-DAG: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[1.25]
// CHECK: %[[A:.*]] = onnx.Clip(%q, _, %[[H]])
// CHECK-NEXT: func.return %[[A]]
func.func @clip_behind_a_narrower(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %h = onnx.Constant() {value = #onnx.tensor<[1.25] : tensor<f32>>} : () -> tensor<f32>
  %m = onnx.Constant() {value = #onnx.tensor<[1.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %a = onnx.Clip(%q, _, %h) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  %y = onnx.Clip(%a, _, %m) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @clip_in_front_of_a_narrower(
// CHECK: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[1.25]
// CHECK: %[[Y:.*]] = onnx.Clip(%q, _, %[[H]])
// CHECK-NEXT: func.return %[[Y]]
func.func @clip_in_front_of_a_narrower(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %h = onnx.Constant() {value = #onnx.tensor<[1.25] : tensor<f32>>} : () -> tensor<f32>
  %m = onnx.Constant() {value = #onnx.tensor<[1.5] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Clip(%q, _, %m) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %y = onnx.Clip(%a, _, %h) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @clip_behind_relu(
// CHECK: %[[R:.*]] = onnx.Relu(%q)
// CHECK-NEXT: func.return %[[R]]
func.func @clip_behind_relu(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %l = onnx.Constant() {value = #onnx.tensor<[-0.1] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %a = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  %y = onnx.Clip(%a, %l, _) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// Both bounds are stored as 63.

// CHECK-LABEL: func.func @clips_that_store_the_same(
// CHECK: %[[A:.*]] = onnx.Clip(%q
// CHECK-NEXT: func.return %[[A]], %[[A]]
func.func @clips_that_store_the_same(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) {
  %h = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %m = onnx.Constant() {value = #onnx.tensor<[1.001] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %a = onnx.Clip(%q, _, %h) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  %y = onnx.Clip(%a, _, %m) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %y, %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_overlapping_clamps(
// CHECK: %[[A:.*]] = onnx.Relu(%q)
// CHECK: %[[Y:.*]] = onnx.Clip(%[[A]]
// CHECK-NEXT: func.return %[[Y]]
func.func @unmoved_overlapping_clamps(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %l = onnx.Constant() {value = #onnx.tensor<[-0.1] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[1.25] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %a = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %y = onnx.Clip(%a, %l, %h) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_clamp_with_other_users(
// CHECK: %[[A:.*]] = onnx.Clip(%q
// CHECK: %[[Y:.*]] = onnx.Clip(%[[A]]
// CHECK-NEXT: func.return %[[Y]], %[[A]]
func.func @unmoved_clamp_with_other_users(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) {
  %h = onnx.Constant() {value = #onnx.tensor<[1.25] : tensor<f32>>} : () -> tensor<f32>
  %m = onnx.Constant() {value = #onnx.tensor<[1.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %a = onnx.Clip(%q, _, %m) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %y = onnx.Clip(%a, _, %h) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %y, %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// ReLU6 at 6/37 with 37 steps: (6/37)*37 is not 6 in float32, but both are stored as 44.

// CHECK-LABEL: func.func @relu6_decided_in_integers(
// CHECK-NOT: onnx.Clip
// CHECK: func.return %q
func.func @relu6_decided_in_integers(%q: tensor<2x3x!quant.uniform<u8<7:44>:f32, 0.162162155:7>>) -> tensor<2x3x!quant.uniform<u8<7:44>:f32, 0.162162155:7>> {
  %l = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %y = onnx.Clip(%q, %l, %h) : (tensor<2x3x!quant.uniform<u8<7:44>:f32, 0.162162155:7>>, tensor<f32>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8<7:44>:f32, 0.162162155:7>>
  func.return %y : tensor<2x3x!quant.uniform<u8<7:44>:f32, 0.162162155:7>>
}

// Nothing goes: one stored value, 12, is below real zero.

// CHECK-LABEL: func.func @unmoved_relu(
// CHECK-NEXT: %[[Y:.*]] = onnx.Relu(%q)
// CHECK-NEXT: func.return %[[Y]]
func.func @unmoved_relu(%q: tensor<2x3x!quant.uniform<u8<12:255>:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8<12:255>:f32, 0.02:13>> {
  // expected-remark@+1 {{onnx.Relu 'onnx.Relu': the storage range exceeds the range of the activation, so it stays as a clamp [fold-activation: range-wider]}}
  %y = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8<12:255>:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8<12:255>:f32, 0.02:13>>
  func.return %y : tensor<2x3x!quant.uniform<u8<12:255>:f32, 0.02:13>>
}

// Nothing goes: 4.84 is cut to 4.8.

// CHECK-LABEL: func.func @unmoved_clip(
// CHECK: %[[Y:.*]] = onnx.Clip(%q
// CHECK-NEXT: func.return %[[Y]]
func.func @unmoved_clip(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %h = onnx.Constant() {value = #onnx.tensor<[4.8] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %y = onnx.Clip(%q, _, %h) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_computed_bound(
// CHECK: %[[Y:.*]] = onnx.Clip(%q
// CHECK-NEXT: func.return %[[Y]]
func.func @unmoved_computed_bound(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %h: tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %y = onnx.Clip(%q, _, %h) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// At each of its scales the storage range is the clamp.

// CHECK-LABEL: func.func @relu_per_axis(
// CHECK-NEXT: func.return %q
func.func @relu_per_axis(%q: tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-128}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-128}>> {
  %y = onnx.Relu(%q) : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-128}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-128}>>
  func.return %y : tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-128}>>
}

// CHECK-LABEL: func.func @leaky_per_axis(
// CHECK-NEXT: func.return %q
func.func @leaky_per_axis(%q: tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-128}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-128}>> {
  %y = onnx.LeakyRelu(%q) : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-128}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-128}>>
  func.return %y : tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-128}>>
}

// Nothing goes: one channel stores numbers below zero.

// CHECK-LABEL: func.func @unmoved_relu_per_axis(
// CHECK-NEXT: %[[Y:.*]] = onnx.Relu(%q)
// CHECK-NEXT: func.return %[[Y]]
func.func @unmoved_relu_per_axis(%q: tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-127}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-127}>> {
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %y = onnx.Relu(%q) : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-127}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-127}>>
  func.return %y : tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-127}>>
}

// CHECK-LABEL: func.func @unmoved_leaky_per_axis(
// CHECK-NEXT: onnx.LeakyRelu(%q)
func.func @unmoved_leaky_per_axis(%q: tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-127}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-127}>> {
  %y = onnx.LeakyRelu(%q) : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-127}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-127}>>
  func.return %y : tensor<3x2x!quant.uniform<i8:f32:1, {0.5:-128,0.25:-127}>>
}

// A clamp at zero alone is a Relu: the type expresses at most 63.5 and 3.35.

// CHECK-LABEL: func.func @clip_at_zero(
// CHECK: %[[Y:.*]] = onnx.Relu(%q)
// CHECK-NEXT: func.return %[[Y]]
func.func @clip_at_zero(%q: tensor<3x2x!quant.uniform<u8:f32:1, {0.5:128,0.025:121}>>) -> tensor<3x2x!quant.uniform<u8:f32:1, {0.5:128,0.025:121}>> {
  %l = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[63.75] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %y = onnx.Clip(%q, %l, %h) : (tensor<3x2x!quant.uniform<u8:f32:1, {0.5:128,0.025:121}>>, tensor<f32>, tensor<f32>) -> tensor<3x2x!quant.uniform<u8:f32:1, {0.5:128,0.025:121}>>
  func.return %y : tensor<3x2x!quant.uniform<u8:f32:1, {0.5:128,0.025:121}>>
}

// CHECK-LABEL: func.func @prelu_at_zero(
// CHECK: %[[Y:.*]] = onnx.Relu(%q)
// CHECK-NEXT: func.return %[[Y]]
func.func @prelu_at_zero(%q: tensor<2x3x!quant.uniform<i8:f32, 0.02:-127>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-127>> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %y = onnx.PRelu(%q, %s) : (tensor<2x3x!quant.uniform<i8:f32, 0.02:-127>>, tensor<f32>) -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-127>>
  func.return %y : tensor<2x3x!quant.uniform<i8:f32, 0.02:-127>>
}

// Nothing is a Relu: the second channel stops at 3.3, before its type does.

// CHECK-LABEL: func.func @unmoved_clip_per_axis(
// CHECK: %[[Y:.*]] = onnx.Clip(%q
// CHECK-NEXT: func.return %[[Y]]
func.func @unmoved_clip_per_axis(%q: tensor<3x2x!quant.uniform<u8:f32:1, {0.5:249,0.025:121}>>) -> tensor<3x2x!quant.uniform<u8:f32:1, {0.5:249,0.025:121}>> {
  %l = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[3.3] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %y = onnx.Clip(%q, %l, %h) : (tensor<3x2x!quant.uniform<u8:f32:1, {0.5:249,0.025:121}>>, tensor<f32>, tensor<f32>) -> tensor<3x2x!quant.uniform<u8:f32:1, {0.5:249,0.025:121}>>
  func.return %y : tensor<3x2x!quant.uniform<u8:f32:1, {0.5:249,0.025:121}>>
}

// Nothing goes: Relu and a requantization in one op.

// CHECK-LABEL: func.func @unmoved_requantizing_relu(
// CHECK-NEXT: onnx.Relu(%q)
func.func @unmoved_requantizing_relu(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.03>> {
  %y = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.03>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.03>>
}

// A slope of 0 makes PRelu a Relu.

// CHECK-LABEL: func.func @prelu(
// CHECK-NEXT: func.return %q
func.func @prelu(%q: tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.0, 0.0, 0.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %y = onnx.PRelu(%q, %s) : (tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>, tensor<3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>
  func.return %y : tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>
}

// Nothing goes: one channel has a slope.

// CHECK-LABEL: func.func @unmoved_prelu(
// CHECK: onnx.PRelu(%q
func.func @unmoved_prelu(%q: tensor<2x3x!quant.uniform<i8:f32, 0.02:-127>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-127>> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.0, 0.25, 0.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %y = onnx.PRelu(%q, %s) : (tensor<2x3x!quant.uniform<i8:f32, 0.02:-127>>, tensor<3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 0.02:-127>>
  func.return %y : tensor<2x3x!quant.uniform<i8:f32, 0.02:-127>>
}

// A type of nothing below zero leaves nothing to scale.

// CHECK-LABEL: func.func @leaky(
// CHECK-NEXT: func.return %q
func.func @leaky(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>> {
  %t = onnx.LeakyRelu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

// CHECK-LABEL: func.func @unmoved_leaky(
// CHECK-NEXT: %[[T:.*]] = onnx.LeakyRelu(%q{{.*}})
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_leaky(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %t = onnx.LeakyRelu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @elu(
// CHECK-NEXT: func.return %q
func.func @elu(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>> {
  %t = onnx.Elu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

// CHECK-LABEL: func.func @abs(
// CHECK-NEXT: func.return %q
func.func @abs(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>> {
  %t = onnx.Abs(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

// 0.01 lies below the first step, 0.03 above it.

// CHECK-LABEL: func.func @threshold(
// CHECK-NEXT: func.return %q
func.func @threshold(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>> {
  %t = onnx.ThresholdedRelu(%q) {alpha = 0.01 : f32} : (tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

// Each kind of number would have to be tried: of 2^32 none is.

// CHECK-LABEL: func.func @unmoved_abs_of_many(
// CHECK: onnx.Abs(
func.func @unmoved_abs_of_many(%q: tensor<2x3x!quant.uniform<u32:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u32:f32, 0.02>> {
  %y = onnx.Abs(%q) : (tensor<2x3x!quant.uniform<u32:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u32:f32, 0.02>>
  func.return %y : tensor<2x3x!quant.uniform<u32:f32, 0.02>>
}

// CHECK-LABEL: func.func @unmoved_threshold(
// CHECK-NEXT: %[[T:.*]] = onnx.ThresholdedRelu(%q{{.*}})
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_threshold(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>> {
  %t = onnx.ThresholdedRelu(%q) {alpha = 0.03 : f32} : (tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

// CHECK-LABEL: func.func @shrink(
// CHECK-NEXT: func.return %q
func.func @shrink(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %t = onnx.Shrink(%q) {lambd = 0.01 : f32} : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_shrink(
// CHECK-NEXT: %[[T:.*]] = onnx.Shrink(%q{{.*}})
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_shrink(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %t = onnx.Shrink(%q) {lambd = 0.01 : f32, bias = 0.5 : f32} : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// HardSigmoid is a clamp if it does not scale: 1/255 fills [0, 1].

// CHECK-LABEL: func.func @hard_sigmoid(
// CHECK-NEXT: func.return %q
func.func @hard_sigmoid(%q: tensor<2x3x!quant.uniform<u8:f32, 0.003921569>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.003921569>> {
  %t = onnx.HardSigmoid(%q) {alpha = 1.0 : f32, beta = 0.0 : f32} : (tensor<2x3x!quant.uniform<u8:f32, 0.003921569>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.003921569>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.003921569>>
}

// CHECK-LABEL: func.func @unmoved_hard_sigmoid(
// CHECK-NEXT: %[[T:.*]] = onnx.HardSigmoid(%q{{.*}})
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_hard_sigmoid(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>> {
  %t = onnx.HardSigmoid(%q) {alpha = 1.0 : f32, beta = 0.0 : f32} : (tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

// CHECK-LABEL: func.func @unmoved_slope(
// CHECK-NEXT: %[[T:.*]] = onnx.HardSigmoid(%q{{.*}})
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_slope(%q: tensor<2x3x!quant.uniform<u8:f32, 0.003921569>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.003921569>> {
  %t = onnx.HardSigmoid(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.003921569>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.003921569>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.003921569>>
}

// A bound of Max or Min, on either side, at the end of the range; and one step inside.

// CHECK-LABEL: func.func @max_min(
// CHECK-NEXT: func.return %q
func.func @max_min(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>> {
  %a = onnx.Constant() {value = #onnx.tensor<[0] : tensor<ui8>>} : () -> tensor<!quant.uniform<u8:f32, 0.02>>
  %b = onnx.Constant() {value = #onnx.tensor<[255] : tensor<1xui8>>} : () -> tensor<1x!quant.uniform<u8:f32, 0.02>>
  %s = onnx.Max(%a, %q) : (tensor<!quant.uniform<u8:f32, 0.02>>, tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  %t = onnx.Min(%s, %b) : (tensor<2x3x!quant.uniform<u8:f32, 0.02>>, tensor<1x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

// CHECK-LABEL: func.func @min(
// CHECK: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[5.08] : tensor<f32>>}
// CHECK-NEXT: %[[T:.*]] = onnx.Clip(%q, _, %[[H]])
// CHECK-NEXT: func.return %[[T]]
func.func @min(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>> {
  %b = onnx.Constant() {value = #onnx.tensor<[254] : tensor<1xui8>>} : () -> tensor<1x!quant.uniform<u8:f32, 0.02>>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %t = onnx.Min(%q, %b) : (tensor<2x3x!quant.uniform<u8:f32, 0.02>>, tensor<1x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

// CHECK-LABEL: func.func @max_of_a_bound_in_front(
// CHECK: %[[L:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-NEXT: %[[T:.*]] = onnx.Clip(%q, %[[L]]{{.*}})
// CHECK-NEXT: func.return %[[T]]
func.func @max_of_a_bound_in_front(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>> {
  %b = onnx.Constant() {value = #onnx.tensor<[1] : tensor<ui8>>} : () -> tensor<!quant.uniform<u8:f32, 0.02>>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %t = onnx.Max(%b, %q) : (tensor<!quant.uniform<u8:f32, 0.02>>, tensor<2x3x!quant.uniform<u8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

// CHECK-LABEL: func.func @unmoved_max_of_a_row(
// CHECK: %[[T:.*]] = onnx.Max(%q
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_max_of_a_row(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %b = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<3xui8>>} : () -> tensor<3x!quant.uniform<u8:f32, 0.02:13>>
  %t = onnx.Max(%q, %b) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// What the activation alone knows of the sizes is said of what it was made from, and of all that is cast from that.

// CHECK-LABEL: func.func @sizes_of_casts(
// CHECK: %[[N:.*]] = onnx.Exp(%x) : (tensor<?x1xf32>) -> tensor<24x1xf32>
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[N]] : tensor<24x1xf32> to tensor<24x1x!quant.uniform<u8:f32, 0.02>>
// CHECK-NEXT: quant.dcast %[[Q]] : tensor<24x1x!quant.uniform<u8:f32, 0.02>> to tensor<24x1xf32>
// CHECK-NEXT: quant.dcast %[[Q]] : tensor<24x1x!quant.uniform<u8:f32, 0.02>> to tensor<24x1xf32>
func.func @sizes_of_casts(%x: tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<24x1xf32>) {
  %n = onnx.Exp(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %q = quant.qcast %n : tensor<?x1xf32> to tensor<?x1x!quant.uniform<u8:f32, 0.02>>
  %d = quant.dcast %q : tensor<?x1x!quant.uniform<u8:f32, 0.02>> to tensor<?x1xf32>
  %r = onnx.Relu(%q) : (tensor<?x1x!quant.uniform<u8:f32, 0.02>>) -> tensor<24x1x!quant.uniform<u8:f32, 0.02>>
  %e = quant.dcast %r : tensor<24x1x!quant.uniform<u8:f32, 0.02>> to tensor<24x1xf32>
  func.return %d, %e : tensor<?x1xf32>, tensor<24x1xf32>
}

// A branch may not run: what it says is said no more.

// CHECK-LABEL: func.func @sizes_of_a_branch(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<?x1xf32> to tensor<?x1x!quant.uniform<u8:f32, 0.02>>
// CHECK: quant.dcast %[[Q]] : tensor<?x1x!quant.uniform<u8:f32, 0.02>> to tensor<?x1xf32>
func.func @sizes_of_a_branch(%x: tensor<?x1xf32>, %c: tensor<i1>) -> tensor<?x1xf32> {
  %q = quant.qcast %x : tensor<?x1xf32> to tensor<?x1x!quant.uniform<u8:f32, 0.02>>
  %y = onnx.If(%c) then_branch {
    %r = onnx.Relu(%q) : (tensor<?x1x!quant.uniform<u8:f32, 0.02>>) -> tensor<24x1x!quant.uniform<u8:f32, 0.02>>
    %e = quant.dcast %r : tensor<24x1x!quant.uniform<u8:f32, 0.02>> to tensor<24x1xf32>
    onnx.Yield(%e) : (tensor<24x1xf32>) -> ()
  } else_branch {
    onnx.Yield(%x) : (tensor<?x1xf32>) -> ()
  } : (tensor<i1>) -> tensor<?x1xf32>
  func.return %y : tensor<?x1xf32>
}

// It changes no number, but makes integers of the other signedness: a requantize that only shifts them.

// CHECK-LABEL: func.func @other_signedness(
// CHECK-NEXT: %[[D:.*]] = quant.dcast %q
// CHECK-NEXT: %[[R:.*]] = quant.qcast %[[D]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8<7:255>:f32, 0.02:7>>
// CHECK-NEXT: func.return %[[R]]
func.func @other_signedness(%q: tensor<2x3x!quant.uniform<i8<-121:127>:f32, 0.02:-121>>) -> tensor<2x3x!quant.uniform<u8<7:255>:f32, 0.02:7>> {
  %y = onnx.LeakyRelu(%q) {alpha = 0.17 : f32} : (tensor<2x3x!quant.uniform<i8<-121:127>:f32, 0.02:-121>>) -> tensor<2x3x!quant.uniform<u8<7:255>:f32, 0.02:7>>
  func.return %y : tensor<2x3x!quant.uniform<u8<7:255>:f32, 0.02:7>>
}

// A size that only the result says changes nothing.

// CHECK-LABEL: func.func @other_signedness_of_unknown_size(
// CHECK-NEXT: %[[D:.*]] = quant.dcast %q
// CHECK-NEXT: %[[R:.*]] = quant.qcast %[[D]] : tensor<2x?xf32> to tensor<2x?x!quant.uniform<u8:f32, 0.02>>
// CHECK-NEXT: quant.dcast %[[R]]
func.func @other_signedness_of_unknown_size(%q: tensor<2x?x!quant.uniform<i8:f32, 0.02:-128>>) -> tensor<2x?xf32> {
  %y = onnx.LeakyRelu(%q) {alpha = 0.17 : f32} : (tensor<2x?x!quant.uniform<i8:f32, 0.02:-128>>) -> tensor<2x1x!quant.uniform<u8:f32, 0.02>>
  %z = quant.dcast %y : tensor<2x1x!quant.uniform<u8:f32, 0.02>> to tensor<2x1xf32>
  %r = onnx.Identity(%z) : (tensor<2x1xf32>) -> tensor<2x?xf32>
  func.return %r : tensor<2x?xf32>
}

// CHECK-LABEL: func.func @unmoved_other_scale(
// CHECK-NEXT: %[[R:.*]] = onnx.LeakyRelu(%q)
// CHECK-NEXT: func.return %[[R]]
func.func @unmoved_other_scale(%q: tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.03>> {
  %y = onnx.LeakyRelu(%q) {alpha = 0.17 : f32} : (tensor<2x3x!quant.uniform<i8:f32, 0.02:-128>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.03>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.03>>
}

// A function gives nothing outside its range, whatever the type could store.

// CHECK-LABEL: func.func @known_range(
// CHECK-NEXT: %[[S:.*]] = onnx.Sigmoid(%q)
// CHECK-NEXT: func.return %[[S]]
func.func @known_range(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:7>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.005:128>> {
  %y = onnx.Sigmoid(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:7>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>
  %r = onnx.Relu(%y) : (tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>
  func.return %r : tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>
}

// CHECK-LABEL: func.func @unmoved_known_range_below(
// CHECK-NEXT: %[[T:.*]] = onnx.Tanh(%q)
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[T]])
// CHECK-NEXT: func.return %[[R]]
func.func @unmoved_known_range_below(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:7>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.005:128>> {
  %y = onnx.Tanh(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:7>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %r = onnx.Relu(%y) : (tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>
  func.return %r : tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>
}

// What is NaN may be stored as any integer.

// CHECK-LABEL: func.func @unmoved_known_range_of_reals(
// CHECK-NEXT: %[[S:.*]] = onnx.Sigmoid(%x)
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[S]])
// CHECK-NEXT: func.return %[[R]]
func.func @unmoved_known_range_of_reals(%x: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.005:128>> {
  %y = onnx.Sigmoid(%x) : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>
  // expected-remark@+1 {{[fold-activation: range-wider]}}
  %r = onnx.Relu(%y) : (tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>
  func.return %r : tensor<2x3x!quant.uniform<u8:f32, 0.005:128>>
}
