// RUN: DIAGNOSTICS

// Ids: docs/spec.md.

// T1
// expected-error@+2 {{a tensor of sizes that are known is expected, got tensor<?x3xi8>}}
func.func @t(%x: tensor<?x3xi8>) {
  %y = "tosa.transpose"(%x) <{perms = array<i32: 1, 0>}> : (tensor<?x3xi8>) -> tensor<3x2xi8>
  func.return
}

// -----

// T2
// expected-error@+2 {{rank 7 is above 6}}
func.func @t(%x: tensor<1x1x1x1x1x2x3xi8>) {
  %y = "tosa.transpose"(%x) <{perms = array<i32: 0, 1, 2, 3, 4, 6, 5>}> : (tensor<1x1x1x1x1x2x3xi8>) -> tensor<1x1x1x1x1x3x2xi8>
  func.return
}

// -----

// T2
// expected-error@+4 {{a list of 8 sizes is above 6}}
func.func @t(%x: tensor<1x2x2x2xi8>) {
  %p = "tosa.const_shape"() <{values = dense<[0, 0, 1, 0, 1, 0, 0, 1]> : tensor<8xindex>}> : () -> !tosa.shape<8>
  %k = "tosa.const"() <{values = dense<5> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.pad"(%x, %p, %k) : (tensor<1x2x2x2xi8>, !tosa.shape<8>, tensor<1xi8>) -> tensor<1x3x3x3xi8>
  func.return
}

// -----

// T2
// expected-error@+4 {{a size of tensor<2x0xi8> is 0}}
func.func @t(%x: tensor<2x3xi8>) {
  %b = "tosa.const_shape"() <{values = dense<[0, 0]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %n = "tosa.const_shape"() <{values = dense<[2, 0]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.slice"(%x, %b, %n) : (tensor<2x3xi8>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x0xi8>
  func.return
}

// -----

// T3
// expected-error@+2 {{i8 i8 -> i8 is no combination of types of the profile pro_int}}
func.func @t(%a: tensor<2x3xi8>, %b: tensor<2x3xi8>) {
  %y = "tosa.add"(%a, %b) : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>
  func.return
}

// -----

// T3
// expected-error@+2 {{f32 f32 -> f32 is no combination of types of the profile pro_int}}
func.func @t(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %y = "tosa.sub"(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// T3
// expected-error@+2 {{the operands have several element types: i8, i32}}
func.func @t(%a: tensor<2x3xi8>, %b: tensor<2x4xi32>) {
  %y = "tosa.concat"(%a, %b) <{axis = 1 : i32}> : (tensor<2x3xi8>, tensor<2x4xi32>) -> tensor<2x7xi8>
  func.return
}

// -----

// T3
// expected-error@+2 {{the profile pro_int has no i64}}
func.func @t() {
  %k = "tosa.const"() <{values = dense<3> : tensor<2xi64>}> : () -> tensor<2xi64>
  func.return
}

// -----

// T4
// expected-error@+3 {{input has rank 4, not 3}}
func.func @t(%x: tensor<7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T4
// expected-error@+3 {{b has rank 3, not 2}}
func.func @t(%a: tensor<2x3x5xi8>, %b: tensor<5x4xi8>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.matmul"(%a, %b, %z, %z) : (tensor<2x3x5xi8>, tensor<5x4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x3x4xi32>
  func.return
}

// -----

// T5
// expected-error@+2 {{shift is a constant}}
func.func @t(%a: tensor<2x3xi32>, %s: tensor<1xi8>) {
  %y = "tosa.mul"(%a, %a, %s) : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<1xi8>) -> tensor<2x3xi32>
  func.return
}

// -----

// T5
// expected-error@+3 {{input_zp is a constant}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>, %i: tensor<1xi8>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %i, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T6
// expected-error@+4 {{input_zp has one element, not [2]}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z2 = "tosa.const"() <{values = dense<[1, 2]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z2, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<2xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T6
// expected-error@+6 {{input_zp is 0 for i32}}
func.func @t(%x: tensor<2x5xi32>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<4> : tensor<1xi32>}> : () -> tensor<1xi32>
  %oz = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = false}> : (tensor<2x5xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// -----

// T6
// expected-error@+6 {{output_zp is 0 or 32768 for u16}}
func.func @t(%x: tensor<2x5xi8>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<4> : tensor<1xi8>}> : () -> tensor<1xi8>
  %oz = "tosa.const"() <{values = dense<9> : tensor<1xi16>}> : () -> tensor<1xi16>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = true}> : (tensor<2x5xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi16>) -> tensor<2x5xi16>
  func.return
}

// -----

// T7
// expected-error@+2 {{the kernel [0, 2] is below 1}}
func.func @t(%x: tensor<1x7x5x3xi8>) {
  %y = "tosa.max_pool2d"(%x) <{kernel = array<i64: 0, 2>, stride = array<i64: 2, 1>, pad = array<i64: 1, 1, 0, 1>}> : (tensor<1x7x5x3xi8>) -> tensor<1x4x5x3xi8>
  func.return
}

// -----

// T7
// expected-error@+3 {{the pads [-1, 1, 0, 1] are below 0}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: -1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T7
// expected-error@+3 {{the strides [0, 1] are below 1}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 0, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T7
// expected-error@+3 {{the dilations [1, 0] are below 1}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 0>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T7
// expected-error@+3 {{a window has two sizes, four pads, two strides and two dilations}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T7
// expected-error@+3 {{the pads [-2, 0, -1, -1] are below -1}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x2x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.transpose_conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, out_pad = array<i64: -2, 0, -1, -1>, stride = array<i64: 2, 2>}> : (tensor<1x7x5x3xi8>, tensor<4x2x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x12x8x4xi32>
  func.return
}

// -----

// T7
// expected-error@+3 {{a kernel or pad is above 8192}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 8200, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T7
// expected-error@+2 {{a stride is above 8192}}
func.func @t(%x: tensor<1x7x5x3xi8>) {
  %y = "tosa.max_pool2d"(%x) <{kernel = array<i64: 3, 2>, stride = array<i64: 8200, 1>, pad = array<i64: 1, 1, 0, 1>}> : (tensor<1x7x5x3xi8>) -> tensor<1x4x5x3xi8>
  func.return
}

// -----

// T8
// expected-error@+3 {{1 pixels remain along y: the stride 2 does not divide 5}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 0, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T8
// expected-error@+3 {{the result has size 4 along y, not 5}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x5x5x4xi32>
  func.return
}

// -----

// T8
// expected-error@+3 {{the window is larger than the image along y}}
func.func @t(%x: tensor<1x2x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 0, 0, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x2x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T9
// expected-error@+4 {{the result has shape [2, 2], not [2, 3]}}
func.func @t(%x: tensor<2x3xi8>) {
  %b = "tosa.const_shape"() <{values = dense<[0, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %n = "tosa.const_shape"() <{values = dense<[2, 2]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.slice"(%x, %b, %n) : (tensor<2x3xi8>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x3xi8>
  func.return
}

// -----

// T9
// expected-error@+3 {{the result has 1 images of 4 channels, not 1 of 5}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x5xi32>
  func.return
}

// -----

// T9
// expected-error@+3 {{the result has shape [1, 13, 8, 4], not [1, 14, 8, 4]}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x2x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.transpose_conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, out_pad = array<i64: -1, 0, -1, -1>, stride = array<i64: 2, 2>}> : (tensor<1x7x5x3xi8>, tensor<4x2x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x14x8x4xi32>
  func.return
}

// -----

// T10
// expected-error@+2 {{sizes [2, 3] meet on axis 1}}
func.func @t(%a: tensor<4x2xi32>, %b: tensor<4x3xi32>) {
  %y = "tosa.add"(%a, %b) : (tensor<4x2xi32>, tensor<4x3xi32>) -> tensor<4x3xi32>
  func.return
}

// -----

// T10
// expected-error@+2 {{the operands have several ranks}}
func.func @t(%a: tensor<4x2xi32>, %b: tensor<2xi32>) {
  %y = "tosa.add"(%a, %b) : (tensor<4x2xi32>, tensor<2xi32>) -> tensor<4x2xi32>
  func.return
}

// -----

// T11
// expected-error@+2 {{axis 2 is out of rank 2}}
func.func @t(%x: tensor<2x3xi32>) {
  %y = "tosa.reduce_sum"(%x) <{axis = 2 : i32}> : (tensor<2x3xi32>) -> tensor<2x1xi32>
  func.return
}

// -----

// T11
// expected-error@+2 {{the axis 1 : i64 is not i32}}
func.func @t(%a: tensor<2x3xi8>, %b: tensor<2x4xi8>) {
  %y = "tosa.concat"(%a, %b) <{axis = 1 : i64}> : (tensor<2x3xi8>, tensor<2x4xi8>) -> tensor<2x7xi8>
  func.return
}

// -----

// T12
// expected-error@+4 {{padding has 4 entries, not 2}}
func.func @t(%x: tensor<2x3xi8>) {
  %p = "tosa.const_shape"() <{values = dense<[1, 0]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %k = "tosa.const"() <{values = dense<5> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.pad"(%x, %p, %k) : (tensor<2x3xi8>, !tosa.shape<2>, tensor<1xi8>) -> tensor<3x6xi8>
  func.return
}

// -----

// T12
// expected-error@+2 {{shape is a constant}}
func.func @t(%x: tensor<2x3xi8>, %s: !tosa.shape<1>) {
  %y = "tosa.reshape"(%x, %s) : (tensor<2x3xi8>, !tosa.shape<1>) -> tensor<6xi8>
  func.return
}

// -----

// T13
// expected-error@+2 {{a value of tensor<2xi8> is no tensor<3xi8>}}
func.func @t() {
  %k = "tosa.const"() <{values = dense<3> : tensor<2xi8>}> : () -> tensor<3xi8>
  func.return
}

// -----

// T13
// expected-error@+2 {{a value of tensor<2xindex> is no !tosa.shape<3>}}
func.func @t() {
  %k = "tosa.const_shape"() <{values = dense<3> : tensor<2xindex>}> : () -> !tosa.shape<3>
  func.return
}

// -----

// T14
// expected-error@+3 {{the sums of i8 are i32, not i48}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i48, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T14
// expected-error@+3 {{the sums of i8 are i32, not i8}}
func.func @t(%x: tensor<1x7x5x3xi8>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.avg_pool2d"(%x, %z, %z) <{kernel = array<i64: 3, 2>, stride = array<i64: 2, 1>, pad = array<i64: 1, 1, 0, 1>, acc_type = i8}> : (tensor<1x7x5x3xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x3xi8>
  func.return
}

// -----

// T15
// expected-error@+3 {{3 biases for 4 channels}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<3xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<3xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T16
// expected-error@+3 {{the weight is for 2 channels, the input has 3}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x2xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x2xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// -----

// T16
// expected-error@+3 {{the weight is for 4 channels, the input has 3}}
func.func @t(%x: tensor<1x7x5x3xi8>, %w: tensor<3x2x4x2xi8>, %b: tensor<8xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.depthwise_conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<3x2x4x2xi8>, tensor<8xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x8xi32>
  func.return
}

// -----

// T17
// expected-error@+3 {{[2, 3, 5] and [2, 6, 4] cannot be multiplied}}
func.func @t(%a: tensor<2x3x5xi8>, %b: tensor<2x6x4xi8>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.matmul"(%a, %b, %z, %z) : (tensor<2x3x5xi8>, tensor<2x6x4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x3x4xi32>
  func.return
}
