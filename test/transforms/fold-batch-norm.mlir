// RUN: OPT %s -p fold-batch-norm | FILECHECK %s
// RUN: OPT %s -p 'fold-batch-norm{lossy=true symmetric=true}' | FILECHECK %s --check-prefix=LOSSY
// RUN: OPT %s -p 'fold-batch-norm{symmetric=true}' | FILECHECK %s --check-prefix=SYMMETRIC
// RUN: DIAGNOSTICS -p fold-batch-norm

// A weight per tensor becomes per channel; the integers, the same handle, stay; what gamma, beta, mean and variance say
// goes into scales and bias: factors 2 and 0.5, shifts 0.25 - 1 * 2 and -1 - 2 * 0.5.
// CHECK-LABEL: func.func @per_tensor(
// CHECK: %[[X:.*]] = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<1x2x5x3xf32>
// CHECK-NEXT: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -128] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32:0, {0.5:3,0.125:3}>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<2x2x1x1x!quant.uniform<i8:f32:0, {0.5:3,0.125:3}>> to tensor<2x2x1x1xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.Constant() {value = #onnx.tensor<[-1.75, -2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%[[X]], %[[V1]], %[[V2]]) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<1x2x5x3xf32>
func.func @per_tensor(%q: tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -128] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25:3>>
  %gamma = onnx.Constant() {value = #onnx.tensor<[4.0, 2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %beta = onnx.Constant() {value = #onnx.tensor<[0.25, -1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %mean = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %var = onnx.Constant() {value = #onnx.tensor<[3.0, 15.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %x = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<1x2x5x3xf32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25:3>> to tensor<2x2x1x1xf32>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %y = onnx.BatchNormalization(%c, %gamma, %beta, %mean, %var) {epsilon = 1.0 : f32} : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// Channel 0 is negated around its zero point 3; channel 1 holds -128, which 2 * 0 - q takes out of storage, so it becomes
// -1 - q at zero point -1; channel 2 has factor 0. The old bias 8, 4, 2 is multiplied too.
// CHECK-LABEL: func.func @negative_and_zero(
// CHECK: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[5, 8, -4, 127, 2, 2] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-1,0.75:2}>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-1,0.75:2}>> to tensor<3x2x1x1xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.Constant() {value = #onnx.tensor<[-13.75, -2.0, 5.0] : tensor<3xf32>>} : () -> tensor<3xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%x, %[[V1]], %[[V2]]) : (tensor<1x2x5x4xf32>, tensor<3x2x1x1xf32>, tensor<3xf32>) -> tensor<1x3x5x4xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<1x3x5x4xf32>
func.func @negative_and_zero(%x: tensor<1x2x5x4xf32>) -> tensor<1x3x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -128, 9, 7] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.25:3,0.5,0.75:2}>>
  %b = onnx.Constant() {value = #onnx.tensor<[8.0, 4.0, 2.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %gamma = onnx.Constant() {value = #onnx.tensor<[-4.0, -2.0, 0.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %beta = onnx.Constant() {value = #onnx.tensor<[0.25, -1.0, 5.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %mean = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %var = onnx.Constant() {value = #onnx.tensor<[3.0, 15.0, 3.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %r = quant.dcast %w : tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.25:3,0.5,0.75:2}>> to tensor<3x2x1x1xf32>
  %c = onnx.Conv(%x, %r, %b) : (tensor<1x2x5x4xf32>, tensor<3x2x1x1xf32>, tensor<3xf32>) -> tensor<1x3x5x4xf32>
  %y = onnx.BatchNormalization(%c, %gamma, %beta, %mean, %var) {epsilon = 1.0 : f32} : (tensor<1x3x5x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x5x4xf32>
  func.return %y : tensor<1x3x5x4xf32>
}

// The chain that exporters leave of a batch normalization, on a float weight: ((c - 1) / 4) * [2, 8] + 3.
// CHECK-LABEL: func.func @expanded(
// CHECK: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, -1.0, 6.0, 10.0] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.Constant() {value = #onnx.tensor<[2.5, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%x, %[[V0]], %[[V1]]) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<1x2x5x3xf32>
func.func @expanded(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %one = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %four = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  %factors = onnx.Constant() {value = #onnx.tensor<[2.0, 8.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %three = onnx.Constant() {value = #onnx.tensor<[3.0] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Conv(%x, %w) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %s = onnx.Sub(%c, %one) : (tensor<1x2x5x3xf32>, tensor<f32>) -> tensor<1x2x5x3xf32>
  %d = onnx.Div(%s, %four) : (tensor<1x2x5x3xf32>, tensor<1xf32>) -> tensor<1x2x5x3xf32>
  %m = onnx.Mul(%d, %factors) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %y = onnx.Add(%three, %m) : (tensor<f32>, tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// Axis 1 of a ConvTranspose's weight; both groups have the factors 2 and 3, the bias has one for each channel.
// CHECK-LABEL: func.func @transposed_groups(
// CHECK: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32:1, {0.5,1.5}>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<2x2x1x1x!quant.uniform<i8:f32:1, {0.5,1.5}>> to tensor<2x2x1x1xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.Constant() {value = #onnx.tensor<[2.0, 30.0, 200.0, 3000.0] : tensor<4xf32>>} : () -> tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.ConvTranspose(%x, %[[V1]], %[[V2]]) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>, tensor<4xf32>) -> tensor<1x4x5x3xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<1x4x5x3xf32>
func.func @transposed_groups(%x: tensor<1x2x5x3xf32>) -> tensor<1x4x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32:1, {0.25,0.5}>>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0, 2.0, 3.0] : tensor<4x1x1xf32>>} : () -> tensor<4x1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 10.0, 100.0, 1000.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f32:1, {0.25,0.5}>> to tensor<2x2x1x1xf32>
  %c = onnx.ConvTranspose(%x, %r, %b) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>, tensor<4xf32>) -> tensor<1x4x5x3xf32>
  %y = onnx.Mul(%c, %f) : (tensor<1x4x5x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x3xf32>
  func.return %y : tensor<1x4x5x3xf32>
}

// Gemm: the output channels are axis 0 of a transposed weight; alpha goes into the scales, beta into the bias.
// CHECK-LABEL: func.func @gemm(
// CHECK: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5, 6, 7] : tensor<2x3xi8>>} : () -> tensor<2x3x!quant.uniform<i8:f32:0, {0.25:3,0.375:3}>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<2x3x!quant.uniform<i8:f32:0, {0.25:3,0.375:3}>> to tensor<2x3xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.Constant() {value = #onnx.tensor<[8.0, 120.0] : tensor<2xf32>>} : () -> tensor<2xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Gemm(%x, %[[V1]], %[[V2]]) {transB = 1 : i64} : (tensor<5x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<5x2xf32>
func.func @gemm(%x: tensor<5x3xf32>) -> tensor<5x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5, 6, 7] : tensor<2x3xi8>>} : () -> tensor<2x3x!quant.uniform<i8:f32, 0.25:3>>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<1x2xf32>>} : () -> tensor<1x2xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 10.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %w : tensor<2x3x!quant.uniform<i8:f32, 0.25:3>> to tensor<2x3xf32>
  %c = onnx.Gemm(%x, %r, %b) {alpha = 0.5 : f32, beta = 4.0 : f32, transB = 1 : i64} : (tensor<5x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  %y = onnx.Mul(%c, %f) : (tensor<5x2xf32>, tensor<1x2xf32>) -> tensor<5x2xf32>
  func.return %y : tensor<5x2xf32>
}

// MatMul takes no bias: the shift stays behind it.
// CHECK-LABEL: func.func @matmul(
// CHECK: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5, 6, 7] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:3,0.75:3}>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<3x2x!quant.uniform<i8:f32:1, {0.5:3,0.75:3}>> to tensor<3x2xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.Constant() {value = #onnx.tensor<[2.0, 30.0] : tensor<2xf32>>} : () -> tensor<2xf32>
// CHECK-NEXT: %[[V3:.*]] = onnx.MatMul(%x, %[[V1]]) : (tensor<4x5x3xf32>, tensor<3x2xf32>) -> tensor<4x5x2xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Add(%[[V3]], %[[V2]]) : (tensor<4x5x2xf32>, tensor<2xf32>) -> tensor<4x5x2xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<4x5x2xf32>
func.func @matmul(%x: tensor<4x5x3xf32>) -> tensor<4x5x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5, 6, 7] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.25:3>>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 10.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %w : tensor<3x2x!quant.uniform<i8:f32, 0.25:3>> to tensor<3x2xf32>
  %c = onnx.MatMul(%x, %r) : (tensor<4x5x3xf32>, tensor<3x2xf32>) -> tensor<4x5x2xf32>
  %a = onnx.Add(%c, %b) : (tensor<4x5x2xf32>, tensor<2xf32>) -> tensor<4x5x2xf32>
  %y = onnx.Mul(%a, %f) : (tensor<4x5x2xf32>, tensor<2xf32>) -> tensor<4x5x2xf32>
  func.return %y : tensor<4x5x2xf32>
}

// In front of a convolution without padding: factors for each input channel, the shift's sums into the bias.
// CHECK-LABEL: func.func @in_front(
// CHECK: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[2.0, -8.0, 6.0, 20.0, 12.0, 28.0] : tensor<3x2x1x1xf32>>} : () -> tensor<3x2x1x1xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.Constant() {value = #onnx.tensor<[-190.0, 530.0, 760.0] : tensor<3xf32>>} : () -> tensor<3xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%x, %[[V0]], %[[V1]]) : (tensor<1x2x5x3xf32>, tensor<3x2x1x1xf32>, tensor<3xf32>) -> tensor<1x3x5x3xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<1x3x5x3xf32>
func.func @in_front(%x: tensor<1x2x5x3xf32>) -> tensor<1x3x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0, 6.0, 7.0] : tensor<3x2x1x1xf32>>} : () -> tensor<3x2x1x1xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 4.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[10.0, 100.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %m = onnx.Mul(%x, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %a = onnx.Add(%m, %s) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %y = onnx.Conv(%a, %w) : (tensor<1x2x5x3xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x5x3xf32>
  func.return %y : tensor<1x3x5x3xf32>
}

// Each group of a convolution has factors of its own channels: 2 and 4 for three filters, 3 and 5 for the others.
// CHECK-LABEL: func.func @in_front_of_groups(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[2.0, -8.0, 6.0, 20.0, 12.0, 28.0, 3.0, 10.0, -9.0, 20.0, 15.0, -30.0] : tensor<6x2x1x1xf32>>}
// CHECK-NEXT: onnx.Conv(%x, %[[W]]{{.*}} {group = 2 : i64}
func.func @in_front_of_groups(%x: tensor<1x4x5x3xf32>) -> tensor<1x6x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0, 6.0, 7.0, 1.0, 2.0, -3.0, 4.0, 5.0, -6.0] : tensor<6x2x1x1xf32>>} : () -> tensor<6x2x1x1xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 4.0, 3.0, 5.0] : tensor<4x1x1xf32>>} : () -> tensor<4x1x1xf32>
  %m = onnx.Mul(%x, %f) : (tensor<1x4x5x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x3xf32>
  %y = onnx.Conv(%m, %w) {group = 2 : i64} : (tensor<1x4x5x3xf32>, tensor<6x2x1x1xf32>) -> tensor<1x6x5x3xf32>
  func.return %y : tensor<1x6x5x3xf32>
}

// With padding the zeros around it are not shifted: shift / factor is added in front.
// CHECK-LABEL: func.func @in_front_padded(
// CHECK: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[2.0, -8.0, 6.0, 20.0, 12.0, 28.0] : tensor<3x2x1x1xf32>>} : () -> tensor<3x2x1x1xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.Constant() {value = #onnx.tensor<[5.0, 25.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.Add(%x, %[[V1]]) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%[[V2]], %[[V0]], _) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x5x3xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x7x5xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<1x3x7x5xf32>
func.func @in_front_padded(%x: tensor<1x2x5x3xf32>) -> tensor<1x3x7x5xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0, 6.0, 7.0] : tensor<3x2x1x1xf32>>} : () -> tensor<3x2x1x1xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 4.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[10.0, 100.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %m = onnx.Mul(%x, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %a = onnx.Add(%m, %s) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %y = onnx.Conv(%a, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x5x3xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x7x5xf32>
  func.return %y : tensor<1x3x7x5xf32>
}

// Alone between integers: a convolution of each channel by itself, whose weight +-127 leaves all of gamma to the scale.
// CHECK-LABEL: func.func @alone(
// CHECK: %[[X:.*]] = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<1x2x5x3xf32>
// CHECK-NEXT: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[127, -127] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!quant.uniform<i8:f32:0, {0.5,1.0}>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<2x1x1x1x!quant.uniform<i8:f32:0, {0.5,1.0}>> to tensor<2x1x1x1xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.Constant() {value = #onnx.tensor<[10.0, 100.0] : tensor<2xf32>>} : () -> tensor<2xf32>
// CHECK-NEXT: %[[A:.*]] = onnx.Conv(%[[X]], %[[V1]], %[[V2]]) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
// CHECK-NEXT: %[[C:.*]] = onnx.Relu(%[[A]]) : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
// CHECK-NEXT: %[[Y:.*]] = quant.qcast %[[C]] : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32, 0.05:7>>
// CHECK-NEXT: func.return %[[Y]] : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.05:7>>
func.func @alone(%q: tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>>) -> tensor<1x2x5x3x!quant.uniform<u8:f32, 0.05:7>> {
  %f = onnx.Constant() {value = #onnx.tensor<[63.5, -127.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[10.0, 100.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %x = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<1x2x5x3xf32>
  %m = onnx.Mul(%x, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %a = onnx.Add(%m, %s) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %c = onnx.Relu(%a) : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
  %y = quant.qcast %c : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32, 0.05:7>>
  func.return %y : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.05:7>>
}

// A factor for all keeps the weight per tensor.
// CHECK-LABEL: func.func @per_tensor_factor(
// CHECK: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -128] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5:3>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5:3>> to tensor<2x2x1x1xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%x, %[[V1]], _) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<1x2x5x3xf32>
func.func @per_tensor_factor(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -128] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25:3>>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25:3>> to tensor<2x2x1x1xf32>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %y = onnx.Mul(%f, %c) : (tensor<f32>, tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// Only a shift for each channel: the weight keeps its one scale.
// CHECK-LABEL: func.func @shift(
// CHECK: %[[R:.*]] = quant.dcast %{{.*}} : tensor<2x3x!quant.uniform<i8:f32, 0.25:3>> to tensor<2x3xf32>
// CHECK: onnx.Gemm(%x, %[[R]], %{{.*}}) {transB = 1 : i64}
func.func @shift(%x: tensor<5x3xf32>) -> tensor<5x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5, 6, 7] : tensor<2x3xi8>>} : () -> tensor<2x3x!quant.uniform<i8:f32, 0.25:3>>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 10.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %w : tensor<2x3x!quant.uniform<i8:f32, 0.25:3>> to tensor<2x3xf32>
  %c = onnx.Gemm(%x, %r, _) {transB = 1 : i64} : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<5x2xf32>
  %y = onnx.Add(%c, %b) : (tensor<5x2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  func.return %y : tensor<5x2xf32>
}

// The factor is taken from one of two users of the weight: the other keeps it.
// CHECK-LABEL: func.func @shared_weight(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25:3>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[W]] : tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25:3>> to tensor<2x2x1x1xf32>
// CHECK-NEXT: %[[D:.*]] = onnx.Conv(%x, %[[R]], _) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
// CHECK-NEXT: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32:0, {0.5:3,0.75:3}>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<2x2x1x1x!quant.uniform<i8:f32:0, {0.5:3,0.75:3}>> to tensor<2x2x1x1xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%x, %[[V1]], _) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
// CHECK-NEXT: func.return %[[Y]], %[[D]] : tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>
func.func @shared_weight(%x: tensor<1x2x5x3xf32>) -> (tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25:3>>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25:3>> to tensor<2x2x1x1xf32>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %d = onnx.Conv(%x, %r) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %y = onnx.Mul(%c, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y, %d : tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>
}

// A linear op that was asked to stay keeps its weight.
// CHECK-LABEL: func.func @unmoved_kept_float(
// CHECK: %[[C:.*]] = onnx.Conv(
// CHECK-NEXT: onnx.Mul(%[[C]],
// LOSSY-LABEL: func.func @unmoved_kept_float(
// LOSSY: onnx.Mul(
func.func @unmoved_kept_float(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  // expected-remark@+1 {{--keep-float excludes it [fold-batch-norm: kept-float]}}
  %c = onnx.Conv(%x, %w) attributes {qdialect.keep_float} : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{--keep-float excludes it [fold-batch-norm: kept-float]}}
  %y = onnx.Mul(%c, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// A quantize between rounds: folding it away changes what comes out, and is only done if `lossy`.
// CHECK-LABEL: func.func @unmoved_quantizer_between(
// CHECK: onnx.Mul(
// LOSSY-LABEL: func.func @unmoved_quantizer_between(
// LOSSY: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32:0, {1.0,1.5}>>
// LOSSY-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<2x2x1x1x!quant.uniform<i8:f32:0, {1.0,1.5}>> to tensor<2x2x1x1xf32>
// LOSSY-NEXT: %[[Y:.*]] = onnx.Conv(%x, %[[V1]], _) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
// LOSSY-NEXT: func.return %[[Y]] : tensor<1x2x5x3xf32>
func.func @unmoved_quantizer_between(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5>>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5>> to tensor<2x2x1x1xf32>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %q = quant.qcast %c : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: quantizer-between]}}
  %y = onnx.Mul(%d, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// In front of a quantize: only if `lossy`, x / (0.5 / 2) is not (x * 2) / 0.5 in every bit, and 1.25 / 0.5 is rounded apart.
// CHECK-LABEL: func.func @unmoved_into_quantize(
// CHECK: onnx.Add(
// LOSSY-LABEL: func.func @unmoved_into_quantize(
// LOSSY: %[[V0:.*]] = quant.qcast %x : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.25:5,0.125:-13}>>
// LOSSY-NEXT: %[[V1:.*]] = quant.scast %[[V0]] : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.25:5,0.125:-13}>> to tensor<1x2x5x3xi8>
// LOSSY-NEXT: %[[Y:.*]] = quant.scast %[[V1]] : tensor<1x2x5x3xi8> to tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>>
// LOSSY-NEXT: func.return %[[Y]] : tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>>
func.func @unmoved_into_quantize(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>> {
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 4.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[1.25, -8.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %m = onnx.Mul(%x, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %a = onnx.Add(%m, %s) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %y = quant.qcast %a : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>>
  func.return %y : tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>>
}

// A bias stays one, `lossy` or not: zero points would round it.

// CHECK-LABEL: func.func @unmoved_bias(
// CHECK: %[[Y:.*]] = onnx.Add(
// CHECK-NEXT: quant.qcast %[[Y]]
// LOSSY-LABEL: func.func @unmoved_bias(
// LOSSY: %[[Y:.*]] = onnx.Add(
// LOSSY-NEXT: quant.qcast %[[Y]]
func.func @unmoved_bias(%x: tensor<2x3x4xf32>, %w: tensor<4x2xf32>) -> tensor<2x3x2x!quant.uniform<u8:f32, 0.5:7>> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, -0.6] : tensor<2xf32>>} : () -> tensor<2xf32>
  %m = onnx.MatMul(%x, %w) : (tensor<2x3x4xf32>, tensor<4x2xf32>) -> tensor<2x3x2xf32>
  %y = onnx.Add(%m, %b) : (tensor<2x3x2xf32>, tensor<2xf32>) -> tensor<2x3x2xf32>
  %q = quant.qcast %y : tensor<2x3x2xf32> to tensor<2x3x2x!quant.uniform<u8:f32, 0.5:7>>
  func.return %q : tensor<2x3x2x!quant.uniform<u8:f32, 0.5:7>>
}

// Zero points are free by default; where they must stay, -128 has no negative, and is clamped only if `lossy`.
// CHECK-LABEL: func.func @minus_128(
// CHECK: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, -4, 127, -9, 127] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.75,1.0:-1,3.75}>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.75,1.0:-1,3.75}>> to tensor<3x2x1x1xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%x, %[[V1]], _) : (tensor<1x2x5x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x5x4xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<1x3x5x4xf32>
// LOSSY-LABEL: func.func @minus_128(
// LOSSY: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, -3, 127, -9, 127] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.75,1.0,3.75}>>
// LOSSY-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.75,1.0,3.75}>> to tensor<3x2x1x1xf32>
// LOSSY-NEXT: %[[Y:.*]] = onnx.Conv(%x, %[[V1]], _) : (tensor<1x2x5x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x5x4xf32>
// LOSSY-NEXT: func.return %[[Y]] : tensor<1x3x5x4xf32>
// SYMMETRIC-LABEL: func.func @minus_128(
// SYMMETRIC: onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -128, 9, -127] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.25,0.5,0.75}>>
// SYMMETRIC: onnx.Mul(
func.func @minus_128(%x: tensor<1x2x5x4xf32>) -> tensor<1x3x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -128, 9, -127] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.25,0.5,0.75}>>
  %f = onnx.Constant() {value = #onnx.tensor<[3.0, -2.0, -5.0] : tensor<3x1x1xf32>>} : () -> tensor<3x1x1xf32>
  %r = quant.dcast %w : tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.25,0.5,0.75}>> to tensor<3x2x1x1xf32>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x5x4xf32>
  %y = onnx.Mul(%c, %f) : (tensor<1x3x5x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x5x4xf32>
  func.return %y : tensor<1x3x5x4xf32>
}

// The result before is needed besides, here as a graph output.
// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: onnx.Mul(
func.func @unmoved_second_consumer(%x: tensor<1x2x5x3xf32>) -> (tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: second-consumer]}}
  %y = onnx.Mul(%c, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %c, %y : tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_training(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_training(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: training-mode]}}
  %y = onnx.BatchNormalization(%c, %s, %s, %s, %s) {training_mode = 1 : i64} : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_statistics(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_computed_statistics(%x: tensor<1x2x5x3xf32>, %v: tensor<2xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: computed-parameter]}}
  %y = onnx.BatchNormalization(%c, %s, %s, %s, %v) : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// A variance of -2.
// CHECK-LABEL: func.func @unmoved_not_finite(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_not_finite(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[-2.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: invalid-parameters]}}
  %y = onnx.BatchNormalization(%c, %s, %s, %s, %s) : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// Of a model that is not valid: one mean for two channels.
// CHECK-LABEL: func.func @unmoved_statistics_differ(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_statistics_differ(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %m = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: computed-parameter]}}
  %y = onnx.BatchNormalization(%c, %s, %s, %m, %s) : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_weight(
// CHECK: onnx.Mul(
func.func @unmoved_computed_weight(%x: tensor<1x2x5x3xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32> {
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: computed-parameter]}}
  %y = onnx.Mul(%c, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_bias(
// CHECK: onnx.Mul(
func.func @unmoved_computed_bias(%x: tensor<1x2x5x3xf32>, %b: tensor<2xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %c = onnx.Conv(%x, %w, %b) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: computed-parameter]}}
  %y = onnx.Mul(%c, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// A factor for each column of the image.
// CHECK-LABEL: func.func @unmoved_other_axis(
// CHECK: onnx.Mul(
func.func @unmoved_other_axis(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0, 5.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: weight-axis]}}
  %y = onnx.Mul(%c, %f) : (tensor<1x2x5x3xf32>, tensor<3xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// The scales of a ConvTranspose's weight serve every group.
// CHECK-LABEL: func.func @unmoved_groups_differ(
// CHECK: onnx.Mul(
func.func @unmoved_groups_differ(%x: tensor<1x2x5x3xf32>) -> tensor<1x4x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32:1, {0.25,0.5}>>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0, 2.0, 7.0] : tensor<4x1x1xf32>>} : () -> tensor<4x1x1xf32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f32:1, {0.25,0.5}>> to tensor<2x2x1x1xf32>
  %c = onnx.ConvTranspose(%x, %r) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x4x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: unfoldable-factor]}}
  %y = onnx.Mul(%c, %f) : (tensor<1x4x5x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x3xf32>
  func.return %y : tensor<1x4x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_scale_overflow(
// CHECK: onnx.Mul(
func.func @unmoved_scale_overflow(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 1000.0>>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 1.0e+37] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f32, 1000.0>> to tensor<2x2x1x1xf32>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: scale-value]}}
  %y = onnx.Mul(%c, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// Float scales of 16 bits would round a second time.
// CHECK-LABEL: func.func @unmoved_expressed_type(
// CHECK: onnx.Mul(
func.func @unmoved_expressed_type(%x: tensor<1x2x5x3xf16>) -> tensor<1x2x5x3xf16> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f16, 0.5>>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2x1x1xf16>>} : () -> tensor<2x1x1xf16>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f16, 0.5>> to tensor<2x2x1x1xf16>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x3xf16>, tensor<2x2x1x1xf16>) -> tensor<1x2x5x3xf16>
  // expected-remark@+1 {{[fold-batch-norm: expressed-type]}}
  %y = onnx.Mul(%c, %f) : (tensor<1x2x5x3xf16>, tensor<2x1x1xf16>) -> tensor<1x2x5x3xf16>
  func.return %y : tensor<1x2x5x3xf16>
}

// Input channels: no scale of the weight carries their factors.
// CHECK-LABEL: func.func @unmoved_weight_quantized(
// CHECK: onnx.Conv(
func.func @unmoved_weight_quantized(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5>>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5>> to tensor<2x2x1x1xf32>
  %m = onnx.Mul(%x, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: unfoldable-factor]}}
  %y = onnx.Conv(%m, %r) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// x * (erf(x) + 1) / 2: without the factor no session knows Gelu.
// CHECK-LABEL: func.func @unmoved_part_of_function(
// CHECK: %[[M:.*]] = onnx.Mul(%{{.*}}, %{{.*}}) : (tensor<1x2x5x3xf32>, tensor<f32>)
// CHECK: onnx.Conv(%[[M]],
func.func @unmoved_part_of_function(%x: tensor<1x2x5x3xf32>) -> tensor<1x3x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0, 6.0, 7.0] : tensor<3x2x1x1xf32>>} : () -> tensor<3x2x1x1xf32>
  %one = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %half = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %e = onnx.Erf(%x) : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
  %s = onnx.Add(%e, %one) : (tensor<1x2x5x3xf32>, tensor<f32>) -> tensor<1x2x5x3xf32>
  %p = onnx.Mul(%x, %s) : (tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
  %m = onnx.Mul(%p, %half) : (tensor<1x2x5x3xf32>, tensor<f32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: made-by-session]}}
  %y = onnx.Conv(%m, %w) : (tensor<1x2x5x3xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x5x3xf32>
  func.return %y : tensor<1x3x5x3xf32>
}

// Likewise with factors of channels behind it, which are folded.
// CHECK-LABEL: func.func @behind_a_function(
// CHECK: %[[M:.*]] = onnx.Mul(%{{.*}}, %{{.*}}) : (tensor<1x2x5x3xf32>, tensor<f32>)
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[2.0, -6.0, 6.0, 15.0] : tensor<2x2x1x1xf32>>}
// CHECK: onnx.Conv(%[[M]], %[[W]], _)
func.func @behind_a_function(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %h = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %e = onnx.Erf(%x) : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
  %p = onnx.Mul(%x, %e) : (tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
  %m = onnx.Mul(%p, %h) : (tensor<1x2x5x3xf32>, tensor<f32>) -> tensor<1x2x5x3xf32>
  %n = onnx.Mul(%m, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: made-by-session]}}
  %y = onnx.Conv(%n, %w) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// Channel 0 is 10 wherever there is an image, and 0 around it.
// CHECK-LABEL: func.func @unmoved_zero_factor(
// CHECK: onnx.Conv(
func.func @unmoved_zero_factor(%x: tensor<1x2x5x3xf32>) -> tensor<1x3x7x5xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0, 6.0, 7.0] : tensor<3x2x1x1xf32>>} : () -> tensor<3x2x1x1xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[0.0, 4.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[10.0, 100.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %m = onnx.Mul(%x, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %a = onnx.Add(%m, %s) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: unfoldable-factor]}}
  %y = onnx.Conv(%a, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x5x3xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x7x5xf32>
  func.return %y : tensor<1x3x7x5xf32>
}

// Alone, whatever the batch and the sizes are.
// CHECK-LABEL: func.func @open_batch(
// CHECK: onnx.Conv({{.*}}) {group = 2 : i64} : (tensor<?x2x?x3xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<?x2x?x3xf32>
func.func @open_batch(%q: tensor<?x2x?x3x!quant.uniform<u8:f32, 0.02:128>>) -> tensor<?x2x?x3x!quant.uniform<u8:f32, 0.05:7>> {
  %f = onnx.Constant() {value = #onnx.tensor<[63.5, -127.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %x = quant.dcast %q : tensor<?x2x?x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<?x2x?x3xf32>
  %m = onnx.Mul(%x, %f) : (tensor<?x2x?x3xf32>, tensor<2x1x1xf32>) -> tensor<?x2x?x3xf32>
  %y = quant.qcast %m : tensor<?x2x?x3xf32> to tensor<?x2x?x3x!quant.uniform<u8:f32, 0.05:7>>
  func.return %y : tensor<?x2x?x3x!quant.uniform<u8:f32, 0.05:7>>
}

// Alone, but nobody quantizes the result.
// CHECK-LABEL: func.func @unmoved_not_quantized(
// CHECK: onnx.Mul(
func.func @unmoved_not_quantized(%q: tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>>) -> tensor<1x2x5x3xf32> {
  %f = onnx.Constant() {value = #onnx.tensor<[63.5, -127.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %x = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: not-quantized]}}
  %m = onnx.Mul(%x, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %m : tensor<1x2x5x3xf32>
}

// Alone, but with a scale for each channel already.
// CHECK-LABEL: func.func @unmoved_not_per_tensor(
// CHECK: onnx.Mul(
func.func @unmoved_not_per_tensor(%q: tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:128,0.03}>>) -> tensor<1x2x5x3x!quant.uniform<u8:f32, 0.05:7>> {
  %f = onnx.Constant() {value = #onnx.tensor<[63.5, -127.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %x = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:128,0.03}>> to tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: activation-per-axis]}}
  %m = onnx.Mul(%x, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %y = quant.qcast %m : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32, 0.05:7>>
  func.return %y : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.05:7>>
}

// Alone, but the product of two quantized operands has a kernel of its own.
// CHECK-LABEL: func.func @unmoved_integer_kernel(
// CHECK-NOT: onnx.Conv(
// CHECK: onnx.Mul(
func.func @unmoved_integer_kernel(%q: tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>>) -> tensor<1x2x5x3x!quant.uniform<u8:f32, 0.05:7>> {
  %c = onnx.Constant() {value = #onnx.tensor<[127, 64] : tensor<2x1x1xi8>>} : () -> tensor<2x1x1x!quant.uniform<i8:f32, 0.5>>
  %f = quant.dcast %c : tensor<2x1x1x!quant.uniform<i8:f32, 0.5>> to tensor<2x1x1xf32>
  %x = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<1x2x5x3xf32>
  %m = onnx.Mul(%x, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %y = quant.qcast %m : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32, 0.05:7>>
  func.return %y : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.05:7>>
}

// Alone, on rows: no convolution has two axes.
// CHECK-LABEL: func.func @unmoved_no_convolution(
// CHECK: onnx.Mul(
func.func @unmoved_no_convolution(%q: tensor<5x2x!quant.uniform<u8:f32, 0.02:128>>) -> tensor<5x2x!quant.uniform<u8:f32, 0.05:7>> {
  %f = onnx.Constant() {value = #onnx.tensor<[63.5, -127.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %x = quant.dcast %q : tensor<5x2x!quant.uniform<u8:f32, 0.02:128>> to tensor<5x2xf32>
  // expected-remark@+1 {{[fold-batch-norm: unfoldable-factor]}}
  %m = onnx.Mul(%x, %f) : (tensor<5x2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  %y = quant.qcast %m : tensor<5x2xf32> to tensor<5x2x!quant.uniform<u8:f32, 0.05:7>>
  func.return %y : tensor<5x2x!quant.uniform<u8:f32, 0.05:7>>
}

// The weight's scales run along its input channels.
// CHECK-LABEL: func.func @unmoved_weight_axis(
// CHECK: onnx.Mul(
func.func @unmoved_weight_axis(%x: tensor<1x2x5x4xf32>) -> tensor<1x3x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5, 6, 7] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:1, {0.25,0.5}>>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0, 5.0] : tensor<3x1x1xf32>>} : () -> tensor<3x1x1xf32>
  %r = quant.dcast %w : tensor<3x2x1x1x!quant.uniform<i8:f32:1, {0.25,0.5}>> to tensor<3x2x1x1xf32>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x5x4xf32>
  // expected-remark@+1 {{[fold-batch-norm: weight-axis]}}
  %y = onnx.Mul(%c, %f) : (tensor<1x3x5x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x5x4xf32>
  func.return %y : tensor<1x3x5x4xf32>
}

// Nothing moves: onnxruntime fuses the product of a vector and a sum behind it, and refuses what it made.

// CHECK-LABEL: func.func @unmoved_vector_product(
// CHECK: onnx.MatMul(
// CHECK-NEXT: onnx.Sub(
func.func @unmoved_vector_product(%x: tensor<3xf32>) -> tensor<2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.25>>
  %r = quant.dcast %w : tensor<3x2x!quant.uniform<i8:f32, 0.25>> to tensor<3x2xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %m = onnx.MatMul(%x, %r) : (tensor<3xf32>, tensor<3x2xf32>) -> tensor<2xf32>
  // expected-remark@+1 {{onnxruntime does not load a vector's product followed by an Add [fold-batch-norm: made-by-session]}}
  %y = onnx.Sub(%k, %m) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
