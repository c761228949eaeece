// RUN: OPT %s -p raise-opset | FILECHECK %s
// RUN: OPT %s -p 'raise-opset{quantized=true}' | FILECHECK %s --check-prefix=QUANTIZED
// RUN: DIAGNOSTICS -p raise-opset

// CHECK: builtin.module attributes {onnx.opset_import = {ai.onnx = 13 : i64}}
builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
// What was an attribute is an operand.

// CHECK-LABEL: func.func @attributes(
// CHECK: %[[P:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 1, 2, 0] : tensor<4xi64>>}
// CHECK: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>}
// CHECK-NEXT: %[[A:.*]] = onnx.Pad(%x, %[[P]], %[[V]], _) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<4x4xf32>
// CHECK: %[[M:.*]] = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>}
// CHECK-NEXT: onnx.Clip(%[[A]], _, %[[M]]) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  func.func @attributes(%x: tensor<2x3xf32>) -> tensor<4x4xf32> {
    %a = onnx.Pad(%x) {pads = array<i64: 0, 1, 2, 0>, value = 0.5 : f32} : (tensor<2x3xf32>) -> tensor<4x4xf32>
    %b = onnx.Clip(%a) {max = 0.25 : f32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    func.return %b : tensor<4x4xf32>
  }

// A softmax over the last two axes together; one over the last alone is the same op.

// CHECK-LABEL: func.func @softmax(
// CHECK: %[[F:.*]] = onnx.Flatten(%x) {axis = 1 : i64} : (tensor<2x3x5xf32>) -> tensor<2x15xf32>
// CHECK-NEXT: %[[S:.*]] = onnx.Softmax(%[[F]]) {axis = 1 : i64} : (tensor<2x15xf32>) -> tensor<2x15xf32>
// CHECK: %[[R:.*]] = onnx.Reshape(%[[S]], %{{.*}}) : (tensor<2x15xf32>, tensor<3xi64>) -> tensor<2x3x5xf32>
// CHECK: onnx.Softmax(%[[R]]) {axis = -1 : i64} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  func.func @softmax(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
    %a = onnx.Softmax(%x) : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %b = onnx.Softmax(%a) {axis = 2 : i64} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    func.return %b : tensor<2x3x5xf32>
  }

// CHECK-LABEL: func.func @upsample(
// CHECK: %[[R:.*]] = onnx.Constant() {value = #onnx.tensor<[] : tensor<0xf32>>}
// CHECK-NEXT: onnx.Resize(%x, %[[R]], %s, _) {mode = "linear", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"}
  func.func @upsample(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x6x4xf32> {
    %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 1.0] : tensor<4xf32>>} : () -> tensor<4xf32>
    %a = onnx.Upsample(%x, %s) {mode = "linear"} : (tensor<1x2x3x4xf32>, tensor<4xf32>) -> tensor<1x2x6x4xf32>
    func.return %a : tensor<1x2x6x4xf32>
  }

// An op of the first opsets, which onnxruntime runs and ONNX has no more: 2 at the left, 1 at the top, 0, 3 at the end.

// CHECK-LABEL: func.func @crop(
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>}
// CHECK: %[[E:.*]] = onnx.Constant() {value = #onnx.tensor<[-3, 9223372036854775807] : tensor<2xi64>>}
// CHECK: %[[A:.*]] = onnx.Constant() {value = #onnx.tensor<[2, 3] : tensor<2xi64>>}
// CHECK: onnx.Slice(%x, %[[B]], %[[E]], %[[A]], _) : {{.*}} -> tensor<1x2x5x5xf32>
  func.func @crop(%x: tensor<1x2x9x7xf32>) -> tensor<1x2x5x5xf32> {
    %a = onnx.Custom(%x) {domain = "", op_type = "Crop", attrs = {border = array<i64: 2, 1, 0, 3>}} : (tensor<1x2x9x7xf32>) -> tensor<1x2x5x5xf32>
    func.return %a : tensor<1x2x5x5xf32>
  }
}

// -----

// One op that cannot follow keeps the whole module where it is.

// CHECK: builtin.module attributes {onnx.opset_import = {ai.onnx = 8 : i64}}
builtin.module attributes {onnx.opset_import = {ai.onnx = 8 : i64}} {
// CHECK-LABEL: func.func @unmoved_old_form(
// CHECK: onnx.Clip(%x, _, _) {max = 1.000000e+00 : f32}
// CHECK: onnx.BatchNormalization(
  func.func @unmoved_old_form(%x: tensor<2x3xf32>, %s: tensor<3xf32>) -> tensor<2x3xf32> {
    %a = onnx.Clip(%x) {max = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // expected-remark@+1 {{BatchNormalization has parameters for each pixel, which newer opsets do not have [raise-opset: opset]}}
    %b = onnx.BatchNormalization(%a, %s, %s, %s, %s) {spatial = 0 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    func.return %b : tensor<2x3xf32>
  }
}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
// CHECK-LABEL: func.func @unmoved_unknown_op(
// CHECK: op_type = "Mystery"
  func.func @unmoved_unknown_op(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    // expected-remark@+1 {{Mystery has no known form in newer opsets [raise-opset: opset]}}
    %a = onnx.Custom(%x) {domain = "", op_type = "Mystery"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    func.return %a : tensor<2x3xf32>
  }
}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 12 : i64}} {
// CHECK-LABEL: func.func @unmoved_unknown_type(
// CHECK: onnx.Softmax(
  func.func @unmoved_unknown_type(%x: tensor<*x!onnx.any>) -> tensor<*x!onnx.any> {
    // expected-remark@+1 {{the type of the operand is not known; run ONNX shape inference on the model [raise-opset: unknown-shape]}}
    %a = onnx.Softmax(%x) : (tensor<*x!onnx.any>) -> tensor<*x!onnx.any>
    func.return %a : tensor<*x!onnx.any>
  }
}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 12 : i64}} {
// CHECK-LABEL: func.func @unmoved_model_functions(
// CHECK: onnx.Softmax(%{{.*}}) : (tensor<2x3xf32>)
  func.func @unmoved_model_functions(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %a = onnx.Softmax(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    func.return %a : tensor<2x3xf32>
  }
  // expected-remark@+1 {{the model has functions of its own, which keep their opset [raise-opset: model-functions]}}
  "onnx.Function"() <{domain = "my", sym_name = "Same", overload = "", inputs = ["x"], outputs = ["y"], onnx.opset_import = {ai.onnx = 12 : i64}}> ({
  ^bb0(%y: tensor<*x!onnx.any>):
    onnx.Yield(%y) : (tensor<*x!onnx.any>) -> ()
  }) : () -> ()
}

// -----

// The first opset that has all casts: those of 16 bits came in 21, a bias of 64 bits never.

// CHECK: builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64}}
// CHECK-LABEL: func.func @casts_that_the_opset_lacks(
// CHECK: onnx.QuantizeLinear(%x, %{{.*}}) : (tensor<2x3xf32>, tensor<f32>, tensor<i16>) -> tensor<2x3xi16>
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[700, -90000, 31] : tensor<3xi32>>}
// CHECK: onnx.DequantizeLinear(%[[B]], %{{.*}}, _) {{.*}}: (tensor<3xi32>, tensor<3xf32>) -> tensor<3xf32>
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @casts_that_the_opset_lacks(%x: tensor<2x3xf32>) -> (tensor<2x3xi16>, tensor<3xf32>) {
    %s = onnx.Constant() {value = #onnx.tensor<[0.005] : tensor<f32>>} : () -> tensor<f32>
    %z = onnx.Constant() {value = #onnx.tensor<[-31] : tensor<i16>>} : () -> tensor<i16>
    %q = onnx.Custom(%x, %s, %z) {domain = "", op_type = "QuantizeLinear"} : (tensor<2x3xf32>, tensor<f32>, tensor<i16>) -> tensor<2x3xi16>
    %b = onnx.Constant() {value = #onnx.tensor<[700, -90000, 31] : tensor<3xi64>>} : () -> tensor<3xi64>
    %t = onnx.Constant() {value = #onnx.tensor<[0.005, 0.015, 0.01] : tensor<3xf32>>} : () -> tensor<3xf32>
    %d = onnx.Custom(%b, %t) {domain = "", op_type = "DequantizeLinear", attrs = {axis = 0 : i64}} : (tensor<3xi64>, tensor<3xf32>) -> tensor<3xf32>
    func.return %q, %d : tensor<2x3xi16>, tensor<3xf32>
  }
}

// -----

// Casts of com.microsoft have no types in a file; what they give is known from what they take.

// CHECK: builtin.module attributes {onnx.opset_import = {ai.onnx = 13 : i64, com.microsoft = 1 : i64}}
// CHECK-LABEL: func.func @behind_a_cast_of_another_domain(
// CHECK: %[[D:.*]] = onnx_ms.DequantizeLinear({{.*}} -> tensor<2x3xf32>
// CHECK: onnx.Clip(%[[D]], _, %{{.*}})
builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64, com.microsoft = 1 : i64}} {
  func.func @behind_a_cast_of_another_domain(%x: tensor<2x3xui8>) -> tensor<*x!onnx.any> {
    %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
    %z = onnx.Constant() {value = #onnx.tensor<[7] : tensor<ui8>>} : () -> tensor<ui8>
    %d = onnx_ms.DequantizeLinear(%x, %s, %z) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<*x!onnx.any>
    %c = onnx.Clip(%d) {max = 0.75 : f32} : (tensor<*x!onnx.any>) -> tensor<*x!onnx.any>
    func.return %c : tensor<*x!onnx.any>
  }
}

// -----

// Casts of com.microsoft say no sizes; once they are known, so is how many rounds there are.

// CHECK-LABEL: func.func @rounds(
// CHECK: onnx.Scan(
// CHECK: } : (tensor<3x2xf32>) -> tensor<3x2xf32>
builtin.module attributes {onnx.opset_import = {ai.onnx = 11 : i64, com.microsoft = 1 : i64}} {
  func.func @rounds(%x: tensor<3x2xf32>) -> tensor<?x2xf32> {
    %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
    %z = onnx.Constant() {value = #onnx.tensor<[7] : tensor<ui8>>} : () -> tensor<ui8>
    %q = onnx_ms.QuantizeLinear(%x, %s, %z) : (tensor<3x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
    %d = onnx_ms.DequantizeLinear(%q, %s, %z) : (tensor<*xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
    %y = onnx.Scan(%d) {num_scan_inputs = 1 : i64} body {
    ^bb0(%i: tensor<2xf32>):
      %o = onnx.Relu(%i) : (tensor<2xf32>) -> tensor<2xf32>
      onnx.Yield(%o) attributes {onnx.inputs = [{onnx.name = "i"}], onnx.outputs = [{onnx.name = "o"}]} : (tensor<2xf32>) -> ()
    } : (tensor<*xf32>) -> tensor<?x2xf32>
    func.return %y : tensor<?x2xf32>
  }
}

// -----

// A module without operators of ONNX's own imports none.

// CHECK: builtin.module attributes {onnx.opset_import = {com.microsoft = 1 : i64}}
// CHECK-LABEL: func.func @unmoved_another_domain(
builtin.module attributes {onnx.opset_import = {com.microsoft = 1 : i64}} {
  func.func @unmoved_another_domain(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %y = onnx_ms.Gelu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    func.return %y : tensor<2x3xf32>
  }
}

// -----

// Sums of what is quantized in each run are quantized too: the kernel that they become would be, when read again.

// CHECK: builtin.module attributes {onnx.opset_import = {ai.onnx = 13 : i64}}
// QUANTIZED: builtin.module attributes {onnx.opset_import = {ai.onnx = 13 : i64}}
// CHECK-LABEL: func.func @scales_of_the_run(
// QUANTIZED-LABEL: func.func @scales_of_the_run(
builtin.module attributes {onnx.opset_import = {ai.onnx = 11 : i64}} {
  func.func @scales_of_the_run(%x: tensor<2x3xf32>, %w: tensor<3x5xi8>) -> tensor<2x5xi32> {
    %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
    %y = onnx.MatMulInteger(%q, %w, %z) : (tensor<2x3xui8>, tensor<3x5xi8>, tensor<ui8>) -> tensor<2x5xi32>
    func.return %y : tensor<2x5xi32>
  }
}

// -----

// Integers that are only summed, or that a fused node makes: what is written for them would raise the opset when read again.

// QUANTIZED: builtin.module attributes {onnx.opset_import = {ai.onnx = 13 : i64}}
// CHECK-LABEL: func.func @sums(
// QUANTIZED-LABEL: func.func @sums(
builtin.module attributes {onnx.opset_import = {ai.onnx = 11 : i64}} {
  func.func @sums(%x: tensor<2x3xui8>, %w: tensor<3x5xi8>) -> tensor<2x5xi32> {
    %y = onnx.MatMulInteger(%x, %w) : (tensor<2x3xui8>, tensor<3x5xi8>) -> tensor<2x5xi32>
    func.return %y : tensor<2x5xi32>
  }
}

// -----

// QUANTIZED: builtin.module attributes {onnx.opset_import = {ai.onnx = 11 : i64, com.microsoft = 1 : i64}}
// CHECK-LABEL: func.func @packed_weights(
// QUANTIZED-LABEL: func.func @packed_weights(
builtin.module attributes {onnx.opset_import = {ai.onnx = 11 : i64, com.microsoft = 1 : i64}} {
  func.func @packed_weights(%x: tensor<2x32xf32>, %w: tensor<8x1x16xui8>, %s: tensor<8xf32>) -> tensor<2x8xf32> {
    %y = onnx_ms.MatMulNBits(%x, %w, %s) {K = 32 : i64, N = 8 : i64, bits = 4 : i64, block_size = 32 : i64} : (tensor<2x32xf32>, tensor<8x1x16xui8>, tensor<8xf32>) -> tensor<2x8xf32>
    func.return %y : tensor<2x8xf32>
  }
}

// -----

// An image of bytes, which become numbers by a factor as in a dequantize: raise-arithmetic makes a cast of it.
// QUANTIZED: builtin.module attributes {onnx.opset_import = {ai.onnx = 13 : i64}}
// CHECK-LABEL: func.func @bytes_read_as_floats(
// QUANTIZED-LABEL: func.func @bytes_read_as_floats(
builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
  func.func @bytes_read_as_floats(%x: tensor<2x3xui8>, %s: tensor<f32>) -> tensor<2x3xf32> {
    %f = onnx.Cast(%x) {to = 1 : i64} : (tensor<2x3xui8>) -> tensor<2x3xf32>
    %y = onnx.Mul(%f, %s) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    func.return %y : tensor<2x3xf32>
  }
}

// -----

// QUANTIZED: builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}}
// CHECK-LABEL: func.func @indices_read_as_floats(
// QUANTIZED-LABEL: func.func @indices_read_as_floats(
builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
  func.func @indices_read_as_floats(%x: tensor<2x3xi64>) -> tensor<2x3xf32> {
    %y = onnx.Cast(%x) {to = 1 : i64} : (tensor<2x3xi64>) -> tensor<2x3xf32>
    func.return %y : tensor<2x3xf32>
  }
}

// -----

// QUANTIZED: builtin.module attributes {onnx.opset_import = {ai.onnx = 11 : i64}}
// CHECK-LABEL: func.func @unmoved_floats(
// QUANTIZED-LABEL: func.func @unmoved_floats(
builtin.module attributes {onnx.opset_import = {ai.onnx = 11 : i64}} {
  func.func @unmoved_floats(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %y = onnx.Softmax(%x) {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    func.return %y : tensor<2x3xf32>
  }
}
