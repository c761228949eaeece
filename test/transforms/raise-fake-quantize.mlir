// RUN: OPT %s -p raise-fake-quantize | FILECHECK %s
// RUN: DIAGNOSTICS -p raise-fake-quantize

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64, qonnx.custom_op.general = 1 : i64}} {
// CHECK-LABEL: func.func @six_bits_for_each_channel(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<1x2x3xf32> to tensor<1x2x3x!quant.uniform<i8<-31:31>:f32:1, {0.5,0.25}>>
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: func.return %[[D]]
  func.func @six_bits_for_each_channel(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
    %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
    %z = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
    %n = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
    %q = onnx.Custom(%x, %s, %z, %n) {domain = "qonnx.custom_op.general", op_type = "Quant", attrs = {signed = 1 : i64, narrow = 1 : i64, rounding_mode = "ROUND"}} : (tensor<1x2x3xf32>, tensor<2x1xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x3xf32>
    func.return %q : tensor<1x2x3xf32>
  }

// CHECK-LABEL: func.func @without_a_sign(
// CHECK: quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8<0:14>:f32, 0.5:3>>
// CHECK: quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u16<0:4095>:f32, 0.5:3>>
  func.func @without_a_sign(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
    %z = onnx.Constant() {value = #onnx.tensor<[3.0] : tensor<f32>>} : () -> tensor<f32>
    %n = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<f32>>} : () -> tensor<f32>
    %m = onnx.Constant() {value = #onnx.tensor<[12.0] : tensor<f32>>} : () -> tensor<f32>
    %q = onnx.Custom(%x, %s, %z, %n) {domain = "onnx.brevitas", op_type = "Quant", attrs = {signed = 0 : i64, narrow = 1 : i64}} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    %r = onnx.Custom(%x, %s, %z, %m) {domain = "qonnx.custom_op.general", op_type = "IntQuant", attrs = {signed = 0 : i64, narrow = 0 : i64}} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    func.return %q, %r : tensor<2x3xf32>, tensor<2x3xf32>
  }

// A weight of one bit is two numbers; zero counts as positive.

// CHECK-LABEL: func.func @signs(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[-1, 1, 1] : tensor<3xi8>>} : () -> tensor<3x!quant.uniform<i8<-1:1>:f32, 0.75>>
// CHECK-NEXT: quant.dcast %[[W]]
// CHECK: onnx.Constant() {value = #onnx.tensor<[-1, 1, 1] : tensor<3xi8>>} : () -> tensor<3x!quant.uniform<i8<-1:1>:f32, 0.75>>
  func.func @signs() -> (tensor<3xf32>, tensor<3xf32>) {
    %w = onnx.Constant() {value = #onnx.tensor<[-0.3, 0.0, 5.0] : tensor<3xf32>>} : () -> tensor<3xf32>
    %s = onnx.Constant() {value = #onnx.tensor<[0.75] : tensor<f32>>} : () -> tensor<f32>
    %z = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
    %n = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
    %q = onnx.Custom(%w, %s) {domain = "qonnx.custom_op.general", op_type = "BipolarQuant"} : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    %r = onnx.Custom(%w, %s, %z, %n) {domain = "qonnx.custom_op.general", op_type = "Quant", attrs = {signed = 1 : i64}} : (tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<3xf32>
    func.return %q, %r : tensor<3xf32>, tensor<3xf32>
  }

// A bias has 32 bits: a constant.

// CHECK-LABEL: func.func @bias(
// CHECK: quant.qcast %{{.*}} : tensor<2xf32> to tensor<2x!quant.uniform<i32:f32, 0.125>>
  func.func @bias() -> tensor<2xf32> {
    %b = onnx.Constant() {value = #onnx.tensor<[-1000.3, 7.0] : tensor<2xf32>>} : () -> tensor<2xf32>
    %s = onnx.Constant() {value = #onnx.tensor<[0.125] : tensor<f32>>} : () -> tensor<f32>
    %z = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
    %n = onnx.Constant() {value = #onnx.tensor<[32.0] : tensor<f32>>} : () -> tensor<f32>
    %q = onnx.Custom(%b, %s, %z, %n) {domain = "qonnx.custom_op.general", op_type = "Quant"} : (tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
    func.return %q : tensor<2xf32>
  }

// OpenVINO states a range: of both signs around 0, or one in which 0 is a step.

// CHECK-LABEL: func.func @ranges(
// CHECK: quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8<-127:127>:f32, 0.5>>
// CHECK: quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.5:55>>
  func.func @ranges(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %l = onnx.Constant() {value = #onnx.tensor<[-63.5] : tensor<1xf32>>} : () -> tensor<1xf32>
    %h = onnx.Constant() {value = #onnx.tensor<[63.5] : tensor<1xf32>>} : () -> tensor<1xf32>
    %k = onnx.Constant() {value = #onnx.tensor<[-27.5] : tensor<1xf32>>} : () -> tensor<1xf32>
    %i = onnx.Constant() {value = #onnx.tensor<[100.0] : tensor<1xf32>>} : () -> tensor<1xf32>
    %q = onnx.Custom(%x, %l, %h, %l, %h) {domain = "org.openvinotoolkit", op_type = "FakeQuantize", attrs = {levels = 255 : i64}} : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>
    %r = onnx.Custom(%x, %k, %i, %k, %i) {domain = "org.openvinotoolkit", op_type = "FakeQuantize", attrs = {levels = 256 : i64}} : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>
    func.return %q, %r : tensor<2x3xf32>, tensor<2x3xf32>
  }

// More levels than a byte has are of 16 bits.

// CHECK-LABEL: func.func @of_16_bits(
// CHECK: quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u16<0:400>:f32, 0.25>>
  func.func @of_16_bits(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %l = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<1xf32>>} : () -> tensor<1xf32>
    %h = onnx.Constant() {value = #onnx.tensor<[100.0] : tensor<1xf32>>} : () -> tensor<1xf32>
    %q = onnx.Custom(%x, %l, %h, %l, %h) {domain = "org.openvinotoolkit", op_type = "FakeQuantize", attrs = {levels = 401 : i64}} : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>
    func.return %q : tensor<2x3xf32>
  }

// CHECK-LABEL: func.func @unmoved_ranges(
// CHECK-NOT: quant.
  func.func @unmoved_ranges(%x: tensor<2x3xf32>, %y: tensor<1xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
    %l = onnx.Constant() {value = #onnx.tensor<[-1.0] : tensor<1xf32>>} : () -> tensor<1xf32>
    %h = onnx.Constant() {value = #onnx.tensor<[9.0] : tensor<1xf32>>} : () -> tensor<1xf32>
    %i = onnx.Constant() {value = #onnx.tensor<[8.0] : tensor<1xf32>>} : () -> tensor<1xf32>
    // expected-remark@+1 {{its input and output ranges differ, a cast has one range [raise-fake-quantize: unlike-a-cast]}}
    %q = onnx.Custom(%x, %l, %h, %l, %i) {domain = "org.openvinotoolkit", op_type = "FakeQuantize", attrs = {levels = 11 : i64}} : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>
    // expected-remark@+1 {{0 lies between two steps of the range, or at different ones by channel [raise-fake-quantize: unlike-a-cast]}}
    %r = onnx.Custom(%x, %l, %h, %l, %h) {domain = "org.openvinotoolkit", op_type = "FakeQuantize", attrs = {levels = 16 : i64}} : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>
    // expected-remark@+1 {{run time; use static quantization [raise-fake-quantize: run-time-scale]}}
    %t = onnx.Custom(%x, %l, %y, %l, %y) {domain = "org.openvinotoolkit", op_type = "FakeQuantize", attrs = {levels = 11 : i64}} : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>
    func.return %q, %r, %t : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }

// CHECK-LABEL: func.func @down(
// CHECK: %[[M:.*]] = onnx.Add(%x, %{{.*}})
// CHECK: quant.qcast %[[M]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.5>>
  func.func @down(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
    %z = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
    %n = onnx.Constant() {value = #onnx.tensor<[8.0] : tensor<f32>>} : () -> tensor<f32>
    %q = onnx.Custom(%x, %s, %z, %n) {domain = "qonnx.custom_op.general", op_type = "Quant", attrs = {rounding_mode = "floor"}} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    func.return %q : tensor<2x3xf32>
  }

// CHECK-LABEL: func.func @unmoved_parameters(
// CHECK-NOT: quant.
  func.func @unmoved_parameters(%x: tensor<2x3xf32>, %y: tensor<f32>, %h: tensor<2x3xf16>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf16>, tensor<2x3xf32>) {
    %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
    %z = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
    %f = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
    %n = onnx.Constant() {value = #onnx.tensor<[8.0] : tensor<f32>>} : () -> tensor<f32>
    %m = onnx.Constant() {value = #onnx.tensor<[33.0] : tensor<f32>>} : () -> tensor<f32>
    %l = onnx.Constant() {value = #onnx.tensor<[32.0] : tensor<f32>>} : () -> tensor<f32>
    // expected-remark@+1 {{run time; use static quantization [raise-fake-quantize: run-time-scale]}}
    %a = onnx.Custom(%x, %y, %z, %n) {domain = "qonnx.custom_op.general", op_type = "Quant"} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    // expected-remark@+1 {{it rounds by DOWN, a cast to nearest, half to even; quantize with rounding_mode ROUND [raise-fake-quantize: unlike-a-cast]}}
    %b = onnx.Custom(%x, %s, %z, %n) {domain = "qonnx.custom_op.general", op_type = "Quant", attrs = {rounding_mode = "down"}} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    // expected-remark@+1 {{no stored integer has 33 bits with a sign [raise-fake-quantize: storage-type]}}
    %c = onnx.Custom(%x, %s, %z, %m) {domain = "qonnx.custom_op.general", op_type = "Quant"} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    // expected-remark@+1 {{the zero point 0.5 is outside the storage range [raise-fake-quantize: invalid-parameters]}}
    %d = onnx.Custom(%x, %s, %f, %n) {domain = "qonnx.custom_op.general", op_type = "Quant"} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    // expected-remark@+1 {{only constants are quantized to 32 bits; use 16 bits or fewer [raise-fake-quantize: no-kernel]}}
    %e = onnx.Custom(%x, %s, %z, %l) {domain = "qonnx.custom_op.general", op_type = "Quant"} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    // expected-remark@+1 {{is not a float32 tensor [raise-fake-quantize: expressed-type]}}
    %g = onnx.Custom(%h, %s, %z, %n) {domain = "qonnx.custom_op.general", op_type = "Quant"} : (tensor<2x3xf16>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf16>
    // expected-remark@+1 {{run time; use static quantization [raise-fake-quantize: run-time-scale]}}
    %i = onnx.Custom(%x, %y) {domain = "qonnx.custom_op.general", op_type = "BipolarQuant"} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    func.return %a, %b, %c, %d, %e, %g, %i : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf16>, tensor<2x3xf32>
  }

// CHECK-LABEL: func.func @unmoved_signs_and_scales(
// CHECK-NOT: quant.
  func.func @unmoved_signs_and_scales(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
    %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
    %t = onnx.Constant() {value = #onnx.tensor<[0.5, 1.0, 1.5, 2.0, 2.5, 3.0] : tensor<2x3xf32>>} : () -> tensor<2x3xf32>
    %o = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
    %n = onnx.Constant() {value = #onnx.tensor<[8.0] : tensor<f32>>} : () -> tensor<f32>
    // expected-remark@+1 {{the values are -scale or scale, computed at run time, and no quantize gives only these two; use two bits [raise-fake-quantize: unlike-a-cast]}}
    %a = onnx.Custom(%x, %s) {domain = "qonnx.custom_op.general", op_type = "BipolarQuant"} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    // expected-remark@+1 {{the scales run along more than one axis [raise-fake-quantize: weight-axis]}}
    %b = onnx.Custom(%x, %t, %o, %n) {domain = "qonnx.custom_op.general", op_type = "Quant"} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    // expected-remark@+1 {{a scale is zero, negative or not finite; quantize the model again [raise-fake-quantize: scale-value]}}
    %c = onnx.Custom(%x, %o, %o, %n) {domain = "qonnx.custom_op.general", op_type = "Quant"} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    func.return %a, %b, %c : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }

// CHECK-LABEL: func.func @unmoved_rank(
// CHECK-NOT: quant.
  func.func @unmoved_rank(%x: tensor<*xf32>) -> tensor<*xf32> {
    %s = onnx.Constant() {value = #onnx.tensor<[0.5, 1.0, 1.5] : tensor<3xf32>>} : () -> tensor<3xf32>
    %z = onnx.Constant() {value = #onnx.tensor<[3.0] : tensor<f32>>} : () -> tensor<f32>
    %n = onnx.Constant() {value = #onnx.tensor<[8.0] : tensor<f32>>} : () -> tensor<f32>
    // expected-remark@+1 {{the operand's rank is not known; run ONNX shape inference on the model [raise-fake-quantize: unknown-shape]}}
    %y = onnx.Custom(%x, %s, %z, %n) {domain = "qonnx.custom_op.general", op_type = "Quant"} : (tensor<*xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
    func.return %y : tensor<*xf32>
  }
}
