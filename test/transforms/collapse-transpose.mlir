// RUN: OPT %s -p collapse-transpose --print-constants | FILECHECK %s
// RUN: OPT %s -p 'collapse-transpose{stored=false}' --print-constants | FILECHECK %s --check-prefix=PAIRS
// RUN: DIAGNOSTICS -p collapse-transpose

// Attention's keys: the heads and their size stay side by side, behind what they attend to.

// CHECK-LABEL: func.func @keys(
// CHECK-NEXT: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[50, 96] : tensor<2xi64>>}
// CHECK-NEXT: %[[X:.*]] = onnx.Reshape(%x, %[[S]]) : {{.*}} -> tensor<50x96xui8>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[X]]) {perm = array<i64: 1, 0>} : (tensor<50x96xui8>) -> tensor<96x50xui8>
// CHECK-NEXT: %[[R:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 1, 3, 32, 50] : tensor<5xi64>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Reshape(%[[T]], %[[R]]) : {{.*}} -> tensor<1x1x3x32x50xui8>
// CHECK-NEXT: func.return %[[Y]]
func.func @keys(%x: tensor<1x50x1x3x32xui8>) -> tensor<1x1x3x32x50xui8> {
  %y = onnx.Transpose(%x) {perm = array<i64: 2, 0, 3, 4, 1>} : (tensor<1x50x1x3x32xui8>) -> tensor<1x1x3x32x50xui8>
  func.return %y : tensor<1x1x3x32x50xui8>
}

// A batch of any size stays in front.

// CHECK-LABEL: func.func @batch(
// CHECK: onnx.Constant() {value = #onnx.tensor<[-1, 40, 96] : tensor<3xi64>>}
// CHECK: %[[T:.*]] = onnx.Transpose({{.*}}) {perm = array<i64: 0, 2, 1>} : (tensor<?x40x96xf32>) -> tensor<?x96x40xf32>
// CHECK: onnx.Constant() {value = #onnx.tensor<[-1, 3, 32, 1, 40] : tensor<5xi64>>}
// CHECK: onnx.Reshape(%[[T]], {{.*}} -> tensor<?x3x32x1x40xf32>
func.func @batch(%x: tensor<?x1x40x3x32xf32>) -> tensor<?x3x32x1x40xf32> {
  %y = onnx.Transpose(%x) {perm = array<i64: 0, 3, 4, 1, 2>} : (tensor<?x1x40x3x32xf32>) -> tensor<?x3x32x1x40xf32>
  func.return %y : tensor<?x3x32x1x40xf32>
}

// The last axis stays, but a row of two elements is not worth a copy.

// CHECK-LABEL: func.func @short_rows(
// CHECK: onnx.Transpose({{.*}}) {perm = array<i64: 1, 0, 2>} : (tensor<40x96x2xf32>) -> tensor<96x40x2xf32>
func.func @short_rows(%x: tensor<1x40x1x96x2xf32>) -> tensor<1x96x1x40x2xf32> {
  %y = onnx.Transpose(%x) {perm = array<i64: 0, 3, 2, 1, 4>} : (tensor<1x40x1x96x2xf32>) -> tensor<1x96x1x40x2xf32>
  func.return %y : tensor<1x96x1x40x2xf32>
}

// CHECK-LABEL: func.func @unmoved_orders(
// CHECK-NOT: onnx.Reshape
// CHECK: func.return
func.func @unmoved_orders(%a: tensor<20x30x40xf32>, %b: tensor<?x1x?x3x32xf32>, %c: tensor<1x5x1x3x7xf32>, %d: tensor<1x50x1x3x64xf32>, %e: tensor<2x50x96xf32>, %f: tensor<*xf32>, %g: tensor<1x0x1x9xf32>, %h: tensor<70x1x90x1xf32>) -> (tensor<40x30x20xf32>, tensor<?x3x32x1x?xf32>, tensor<1x1x3x7x5xf32>, tensor<1x3x1x50x64xf32>, tensor<2x96x50xf32>, tensor<*xf32>, tensor<9x1x0x1xf32>, tensor<1x70x1x90xf32>) {
  // expected-remark@+1 {{the Transpose permutes more than two blocks of axes [collapse-transpose: axes-change-places]}}
  %0 = onnx.Transpose(%a) {perm = array<i64: 2, 1, 0>} : (tensor<20x30x40xf32>) -> tensor<40x30x20xf32>
  // expected-remark@+1 {{more than one size is unknown, and Reshape infers only one [collapse-transpose: open-size]}}
  %1 = onnx.Transpose(%b) {perm = array<i64: 0, 3, 4, 1, 2>} : (tensor<?x1x?x3x32xf32>) -> tensor<?x3x32x1x?xf32>
  // expected-remark@+1 {{with so few elements, or such long rows, the unchanged Transpose is as fast [collapse-transpose: does-not-pay]}}
  %2 = onnx.Transpose(%c) {perm = array<i64: 2, 0, 3, 4, 1>} : (tensor<1x5x1x3x7xf32>) -> tensor<1x1x3x7x5xf32>
  // expected-remark@+1 {{[collapse-transpose: does-not-pay]}}
  %3 = onnx.Transpose(%d) {perm = array<i64: 0, 3, 2, 1, 4>} : (tensor<1x50x1x3x64xf32>) -> tensor<1x3x1x50x64xf32>
  %4 = onnx.Transpose(%e) {perm = array<i64: 0, 2, 1>} : (tensor<2x50x96xf32>) -> tensor<2x96x50xf32>
  %5 = onnx.Transpose(%f) : (tensor<*xf32>) -> tensor<*xf32>
  %6 = onnx.Transpose(%g) : (tensor<1x0x1x9xf32>) -> tensor<9x1x0x1xf32>
  %7 = onnx.Transpose(%h) {perm = array<i64: 3, 0, 1, 2>} : (tensor<70x1x90x1xf32>) -> tensor<1x70x1x90xf32>
  %8 = onnx.Transpose(%7) {perm = array<i64: 2, 1, 0, 3>} : (tensor<1x70x1x90xf32>) -> tensor<1x70x1x90xf32>
  func.return %0, %1, %2, %3, %4, %5, %6, %8 : tensor<40x30x20xf32>, tensor<?x3x32x1x?xf32>, tensor<1x1x3x7x5xf32>, tensor<1x3x1x50x64xf32>, tensor<2x96x50xf32>, tensor<*xf32>, tensor<9x1x0x1xf32>, tensor<1x70x1x90xf32>
}

// Keys, queries and values side by side are cut apart before they are turned: of each, two blocks change places.

// CHECK-LABEL: func.func @cut_first(
// CHECK: %[[P:.*]], %[[Q:.*]] = onnx.Split(%x, %n) {axis = 2 : i64} : (tensor<?x40x2x3x32xf32>, tensor<2xi64>) -> (tensor<?x40x1x3x32xf32>, tensor<?x40x1x3x32xf32>)
// CHECK: onnx.Reshape(%[[P]], {{.*}} -> tensor<?x40x96xf32>
// CHECK: onnx.Transpose({{.*}}) {perm = array<i64: 0, 2, 1>} : (tensor<?x40x96xf32>) -> tensor<?x96x40xf32>
// CHECK: %[[A:.*]] = onnx.Reshape({{.*}} -> tensor<1x?x3x32x40xf32>
// CHECK: onnx.Reshape(%[[Q]], {{.*}} -> tensor<?x40x96xf32>
// CHECK: onnx.Transpose({{.*}}) {perm = array<i64: 0, 2, 1>} : (tensor<?x40x96xf32>) -> tensor<?x96x40xf32>
// CHECK: %[[B:.*]] = onnx.Reshape({{.*}} -> tensor<1x?x3x32x40xf32>
// CHECK: func.return %[[A]], %[[B]]
func.func @cut_first(%x: tensor<?x40x2x3x32xf32>, %n: tensor<2xi64>) -> (tensor<1x?x3x32x40xf32>, tensor<1x?x3x32x40xf32>) {
  %t = onnx.Transpose(%x) {perm = array<i64: 2, 0, 3, 4, 1>} : (tensor<?x40x2x3x32xf32>) -> tensor<2x?x3x32x40xf32>
  %0, %1 = onnx.Split(%t, %n) : (tensor<2x?x3x32x40xf32>, tensor<2xi64>) -> (tensor<1x?x3x32x40xf32>, tensor<1x?x3x32x40xf32>)
  func.return %0, %1 : tensor<1x?x3x32x40xf32>, tensor<1x?x3x32x40xf32>
}

// CHECK-LABEL: func.func @cut_first_in_integers(
// CHECK: onnx.Split(%x, %n) {axis = 2 : i64} : (tensor<2x40x2x3x32x!quant.uniform<u8:f32, 0.5:3>>, {{.*}} -> (tensor<2x40x1x3x32x!quant.uniform<u8:f32, 0.5:3>>, tensor<2x40x1x3x32x!quant.uniform<u8:f32, 0.5:3>>)
func.func @cut_first_in_integers(%x: tensor<2x40x2x3x32x!quant.uniform<u8:f32, 0.5:3>>, %n: tensor<2xi64>) -> (tensor<2x3x1x32x40x!quant.uniform<u8:f32, 0.5:3>>, tensor<2x3x1x32x40x!quant.uniform<u8:f32, 0.5:3>>) {
  %t = onnx.Transpose(%x) {perm = array<i64: 0, 3, 2, 4, 1>} : (tensor<2x40x2x3x32x!quant.uniform<u8:f32, 0.5:3>>) -> tensor<2x3x2x32x40x!quant.uniform<u8:f32, 0.5:3>>
  %0, %1 = onnx.Split(%t, %n) {axis = -3 : i64} : (tensor<2x3x2x32x40x!quant.uniform<u8:f32, 0.5:3>>, tensor<2xi64>) -> (tensor<2x3x1x32x40x!quant.uniform<u8:f32, 0.5:3>>, tensor<2x3x1x32x40x!quant.uniform<u8:f32, 0.5:3>>)
  func.return %0, %1 : tensor<2x3x1x32x40x!quant.uniform<u8:f32, 0.5:3>>, tensor<2x3x1x32x40x!quant.uniform<u8:f32, 0.5:3>>
}

// Rows of 32 move as they are; parts of two slices; a second user of the whole; slices of single elements; few
// elements; scales of each part.

// CHECK-LABEL: func.func @unmoved_in_front_of_parts(
// CHECK: onnx.Split({{.*}} : (tensor<3x2x3x40x32xf32>
// CHECK: onnx.Split({{.*}} : (tensor<4x2x3x32x40xf32>
// CHECK: onnx.Split({{.*}} : (tensor<2x2x3x32x40xf32>
// CHECK: onnx.Split({{.*}} : (tensor<2x60x50xf32>
// CHECK: onnx.Split({{.*}} : (tensor<2x6x4x5xf32>
// CHECK: onnx.Split({{.*}} : (tensor<2x2x3x32x40x!quant
func.func @unmoved_in_front_of_parts(%a: tensor<2x40x3x3x32xf32>, %b: tensor<2x40x4x3x32xf32>, %c: tensor<2x40x2x3x32xf32>, %d: tensor<50x60x2xf32>, %e: tensor<5x6x2x4xf32>, %f: tensor<2x40x2x3x32x!quant.uniform<u8:f32:2, {0.5,0.25}>>) -> (tensor<1x2x3x40x32xf32>, tensor<2x2x3x32x40xf32>, tensor<2x2x3x32x40xf32>, tensor<1x2x3x32x40xf32>, tensor<1x60x50xf32>, tensor<1x6x4x5xf32>, tensor<1x2x3x32x40x!quant.uniform<u8:f32:0, {0.5}>>) {
  // expected-remark@+1 {{[collapse-transpose: axes-change-places]}}
  %t = onnx.Transpose(%a) {perm = array<i64: 2, 0, 3, 1, 4>} : (tensor<2x40x3x3x32xf32>) -> tensor<3x2x3x40x32xf32>
  %0, %1, %2 = onnx.Split(%t, _) {num_outputs = 3 : i64} : (tensor<3x2x3x40x32xf32>) -> (tensor<1x2x3x40x32xf32>, tensor<1x2x3x40x32xf32>, tensor<1x2x3x40x32xf32>)
  // expected-remark@+1 {{[collapse-transpose: axes-change-places]}}
  %u = onnx.Transpose(%b) {perm = array<i64: 2, 0, 3, 4, 1>} : (tensor<2x40x4x3x32xf32>) -> tensor<4x2x3x32x40xf32>
  %3, %4 = onnx.Split(%u, _) {num_outputs = 2 : i64} : (tensor<4x2x3x32x40xf32>) -> (tensor<2x2x3x32x40xf32>, tensor<2x2x3x32x40xf32>)
  // expected-remark@+1 {{[collapse-transpose: axes-change-places]}}
  %v = onnx.Transpose(%c) {perm = array<i64: 2, 0, 3, 4, 1>} : (tensor<2x40x2x3x32xf32>) -> tensor<2x2x3x32x40xf32>
  %5, %6 = onnx.Split(%v, _) {num_outputs = 2 : i64} : (tensor<2x2x3x32x40xf32>) -> (tensor<1x2x3x32x40xf32>, tensor<1x2x3x32x40xf32>)
  // expected-remark@+1 {{[collapse-transpose: axes-change-places]}}
  %w = onnx.Transpose(%d) {perm = array<i64: 2, 1, 0>} : (tensor<50x60x2xf32>) -> tensor<2x60x50xf32>
  %7, %8 = onnx.Split(%w, _) {num_outputs = 2 : i64} : (tensor<2x60x50xf32>) -> (tensor<1x60x50xf32>, tensor<1x60x50xf32>)
  // expected-remark@+1 {{[collapse-transpose: axes-change-places]}}
  %r = onnx.Transpose(%e) {perm = array<i64: 2, 1, 3, 0>} : (tensor<5x6x2x4xf32>) -> tensor<2x6x4x5xf32>
  %9, %10 = onnx.Split(%r, _) {num_outputs = 2 : i64} : (tensor<2x6x4x5xf32>) -> (tensor<1x6x4x5xf32>, tensor<1x6x4x5xf32>)
  // expected-remark@+1 {{[collapse-transpose: axes-change-places]}}
  %q = onnx.Transpose(%f) {perm = array<i64: 2, 0, 3, 4, 1>} : (tensor<2x40x2x3x32x!quant.uniform<u8:f32:2, {0.5,0.25}>>) -> tensor<2x2x3x32x40x!quant.uniform<u8:f32:0, {0.5,0.25}>>
  %11, %12 = onnx.Split(%q, _) {num_outputs = 2 : i64} : (tensor<2x2x3x32x40x!quant.uniform<u8:f32:0, {0.5,0.25}>>) -> (tensor<1x2x3x32x40x!quant.uniform<u8:f32:0, {0.5}>>, tensor<1x2x3x32x40x!quant.uniform<u8:f32:0, {0.25}>>)
  func.return %0, %3, %v, %5, %7, %9, %11 : tensor<1x2x3x40x32xf32>, tensor<2x2x3x32x40xf32>, tensor<2x2x3x32x40xf32>, tensor<1x2x3x32x40xf32>, tensor<1x60x50xf32>, tensor<1x6x4x5xf32>, tensor<1x2x3x32x40x!quant.uniform<u8:f32:0, {0.5}>>
}

// A Softmax over channels: the rows and columns behind them are one axis.

// CHECK-LABEL: func.func @channels(
// CHECK: onnx.Constant() {value = #onnx.tensor<[-1, 21, 1024] : tensor<3xi64>>}
// CHECK: %[[S:.*]] = onnx.Softmax({{.*}}) {axis = 1 : i64} : (tensor<?x21x1024xf32>) -> tensor<?x21x1024xf32>
// CHECK: onnx.Constant() {value = #onnx.tensor<[-1, 21, 32, 32] : tensor<4xi64>>}
// CHECK: onnx.Reshape(%[[S]], {{.*}} -> tensor<?x21x32x32xf32>
func.func @channels(%x: tensor<?x21x32x32xf32>) -> tensor<?x21x32x32xf32> {
  %y = onnx.Softmax(%x) {axis = -3 : i64} : (tensor<?x21x32x32xf32>) -> tensor<?x21x32x32xf32>
  func.return %y : tensor<?x21x32x32xf32>
}

// CHECK-LABEL: func.func @channels_in_integers(
// CHECK: onnx_ms.QLinearSoftmax({{.*}}, %s, %z, %s, %z) {axis = 1 : i64, opset = 13 : i64} : (tensor<6x16x2880xui8>, {{.*}} -> tensor<6x16x2880xui8>
func.func @channels_in_integers(%x: tensor<2x3x16x4x720xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<2x3x16x4x720xui8> {
  %y = onnx_ms.QLinearSoftmax(%x, %s, %z, %s, %z) {axis = 2 : i64, opset = 13 : i64} : (tensor<2x3x16x4x720xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3x16x4x720xui8>
  func.return %y : tensor<2x3x16x4x720xui8>
}

// One axis behind is a block already; before opset 13 all axes are one row; two sizes are open; few elements.

// CHECK-LABEL: func.func @unmoved_softmax(
// CHECK-NOT: onnx.Reshape
// CHECK: func.return
func.func @unmoved_softmax(%a: tensor<2x64x1x49xf32>, %b: tensor<2x16x32x32xui8>, %s: tensor<f32>, %z: tensor<ui8>, %c: tensor<?x8x?x64xf32>, %d: tensor<1x4x2x2xf32>) -> (tensor<2x64x1x49xf32>, tensor<2x16x32x32xui8>, tensor<?x8x?x64xf32>, tensor<1x4x2x2xf32>) {
  %p = onnx.LogSoftmax(%a) {axis = 1 : i64} : (tensor<2x64x1x49xf32>) -> tensor<2x64x1x49xf32>
  %q = onnx_ms.QLinearSoftmax(%b, %s, %z, %s, %z) {axis = 1 : i64, opset = 11 : i64} : (tensor<2x16x32x32xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x16x32x32xui8>
  // expected-remark@+1 {{more than one size is unknown, and Reshape infers only one [collapse-transpose: open-size]}}
  %r = onnx.LogSoftmax(%c) {axis = 1 : i64} : (tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  // expected-remark@+1 {{with so few elements, the unchanged Softmax is as fast [collapse-transpose: does-not-pay]}}
  %t = onnx.Softmax(%d) {axis = 1 : i64} : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  func.return %p, %q, %r, %t : tensor<2x64x1x49xf32>, tensor<2x16x32x32xui8>, tensor<?x8x?x64xf32>, tensor<1x4x2x2xf32>
}

// A session moves the first Transpose down to the second, and both go.

// CHECK-LABEL: func.func @unmoved_between_transposes(
// CHECK: onnx.Transpose(
// CHECK-NEXT: onnx.Softmax(
// CHECK-NEXT: onnx.Transpose(
func.func @unmoved_between_transposes(%x: tensor<1x32x32x21xf32>) -> tensor<1x32x32x21xf32> {
  %a = onnx.Transpose(%x) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x32x32x21xf32>) -> tensor<1x21x32x32xf32>
  // expected-remark@+1 {{the Transposes on both sides cancel: its axis is the last [collapse-transpose: does-not-pay]}}
  %b = onnx.Softmax(%a) {axis = 1 : i64} : (tensor<1x21x32x32xf32>) -> tensor<1x21x32x32xf32>
  %y = onnx.Transpose(%b) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x21x32x32xf32>) -> tensor<1x32x32x21xf32>
  func.return %y : tensor<1x32x32x21xf32>
}

// Between casts, the session writes the kernel.

// CHECK-LABEL: func.func @unmoved_quantized_softmax(
// CHECK-NEXT: onnx.Softmax(
// CHECK-NEXT: func.return
func.func @unmoved_quantized_softmax(%x: tensor<1x16x64x64x!quant.uniform<u8:f32, 0.05:128>>) -> tensor<1x16x64x64x!quant.uniform<u8:f32, 0.00390625>> {
  %y = onnx.Softmax(%x) {axis = 1 : i64} : (tensor<1x16x64x64x!quant.uniform<u8:f32, 0.05:128>>) -> tensor<1x16x64x64x!quant.uniform<u8:f32, 0.00390625>>
  func.return %y : tensor<1x16x64x64x!quant.uniform<u8:f32, 0.00390625>>
}

// Casts stay at the Softmax: Reshapes of integers stand outside of them.

// CHECK-LABEL: func.func @channels_between_casts(
// CHECK: %[[A:.*]] = onnx.Reshape({{.*}} -> tensor<2x21x390xui8>
// CHECK-NEXT: %[[B:.*]] = quant.scast %[[A]] : tensor<2x21x390xui8> to tensor<2x21x390x!quant.uniform<u8:f32, 0.05:128>>
// CHECK-NEXT: %[[C:.*]] = quant.dcast %[[B]]
// CHECK-NEXT: %[[D:.*]] = onnx.Softmax(%[[C]]) {axis = 1 : i64}
// CHECK-NEXT: %[[E:.*]] = quant.qcast %[[D]] : tensor<2x21x390xf32> to tensor<2x21x390x!quant.uniform<i8:f32, 0.004:-128>>
// CHECK-NEXT: %[[F:.*]] = quant.scast %[[E]] : {{.*}} to tensor<2x21x390xi8>
// CHECK: %[[G:.*]] = onnx.Reshape(%[[F]], {{.*}} -> tensor<2x21x13x30xi8>
// CHECK-NEXT: quant.scast %[[G]] : tensor<2x21x13x30xi8> to tensor<2x21x13x30x!quant.uniform<i8:f32, 0.004:-128>>

// Where no kernel reads them, types are reshaped: where the casts stand is decided last.

// PAIRS-LABEL: func.func @channels_between_casts(
// PAIRS: onnx.Reshape(%x, {{.*}} -> tensor<2x21x390x!quant.uniform<u8:f32, 0.05:128>>
// PAIRS: %[[E:.*]] = quant.qcast %{{.*}} : tensor<2x21x390xf32> to tensor<2x21x390x!quant.uniform<i8:f32, 0.004:-128>>
// PAIRS: onnx.Reshape(%[[E]], {{.*}} -> tensor<2x21x13x30x!quant.uniform<i8:f32, 0.004:-128>>
// PAIRS-NOT: quant.scast
func.func @channels_between_casts(%x: tensor<2x21x13x30x!quant.uniform<u8:f32, 0.05:128>>) -> tensor<2x21x13x30x!quant.uniform<i8:f32, 0.004:-128>> {
  %a = quant.dcast %x : tensor<2x21x13x30x!quant.uniform<u8:f32, 0.05:128>> to tensor<2x21x13x30xf32>
  %b = onnx.Softmax(%a) {axis = 1 : i64} : (tensor<2x21x13x30xf32>) -> tensor<2x21x13x30xf32>
  %y = quant.qcast %b : tensor<2x21x13x30xf32> to tensor<2x21x13x30x!quant.uniform<i8:f32, 0.004:-128>>
  func.return %y : tensor<2x21x13x30x!quant.uniform<i8:f32, 0.004:-128>>
}

// Two users, or a scale for each channel: what reads the Reshape is as it was.

// CHECK-LABEL: func.func @unmoved_casts(
// CHECK: quant.dcast %x
// CHECK: onnx.Reshape(
// CHECK: %[[S:.*]] = onnx.Softmax(
// CHECK: %[[Y:.*]] = onnx.Reshape(%[[S]]
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_casts(%x: tensor<2x3x130x30x!quant.uniform<u8:f32:1, {0.05:128,0.02:3,0.01:7}>>) -> (tensor<2x3x130x30x!quant.uniform<i8:f32, 0.004:-128>>, tensor<2x3x130x30xf32>) {
  %a = quant.dcast %x : tensor<2x3x130x30x!quant.uniform<u8:f32:1, {0.05:128,0.02:3,0.01:7}>> to tensor<2x3x130x30xf32>
  %b = onnx.Softmax(%a) {axis = 1 : i64} : (tensor<2x3x130x30xf32>) -> tensor<2x3x130x30xf32>
  %y = quant.qcast %b : tensor<2x3x130x30xf32> to tensor<2x3x130x30x!quant.uniform<i8:f32, 0.004:-128>>
  func.return %y, %b : tensor<2x3x130x30x!quant.uniform<i8:f32, 0.004:-128>>, tensor<2x3x130x30xf32>
}
