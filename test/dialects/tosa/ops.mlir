// RUN: ROUNDTRIP

// What the integer profile has: test/unit/upstream/tosa_dialect/test_checks.py gives this file to upstream's validators, where they are.

// CHECK-LABEL: func.func @case0(
// CHECK: "tosa.conv2d"
func.func @case0(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// CHECK-LABEL: func.func @case1(
// CHECK: "tosa.conv2d"
func.func @case1(%x: tensor<1x7x5x3xi8>, %w: tensor<4x3x2x3xi8>, %b: tensor<1xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<4x3x2x3xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x4xi32>
  func.return
}

// CHECK-LABEL: func.func @case2(
// CHECK: "tosa.depthwise_conv2d"
func.func @case2(%x: tensor<1x7x5x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<6xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.depthwise_conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x7x5x3xi8>, tensor<3x2x3x2xi8>, tensor<6xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x6xi32>
  func.return
}

// CHECK-LABEL: func.func @case3(
// CHECK: "tosa.transpose_conv2d"
func.func @case3(%x: tensor<1x7x5x3xi8>, %w: tensor<4x2x2x3xi8>, %b: tensor<4xi32>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.transpose_conv2d"(%x, %w, %b, %z, %z) <{acc_type = i32, out_pad = array<i64: -1, 0, -1, -1>, stride = array<i64: 2, 2>}> : (tensor<1x7x5x3xi8>, tensor<4x2x2x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x13x8x4xi32>
  func.return
}

// CHECK-LABEL: func.func @case4(
// CHECK: "tosa.matmul"
func.func @case4(%a: tensor<2x3x5xi8>, %b: tensor<2x5x4xi8>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.matmul"(%a, %b, %z, %z) : (tensor<2x3x5xi8>, tensor<2x5x4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x3x4xi32>
  func.return
}

// CHECK-LABEL: func.func @case5(
// CHECK: "tosa.max_pool2d"
func.func @case5(%x: tensor<1x7x5x3xi8>) {
  %y = "tosa.max_pool2d"(%x) <{kernel = array<i64: 3, 2>, stride = array<i64: 2, 1>, pad = array<i64: 1, 1, 0, 1>}> : (tensor<1x7x5x3xi8>) -> tensor<1x4x5x3xi8>
  func.return
}

// CHECK-LABEL: func.func @case6(
// CHECK: "tosa.avg_pool2d"
func.func @case6(%x: tensor<1x7x5x3xi8>) {
  %z = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.avg_pool2d"(%x, %z, %z) <{kernel = array<i64: 3, 2>, stride = array<i64: 2, 1>, pad = array<i64: 1, 1, 0, 1>, acc_type = i32}> : (tensor<1x7x5x3xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x5x3xi8>
  func.return
}

// CHECK-LABEL: func.func @case7(
// CHECK: "tosa.resize"
func.func @case7(%x: tensor<1x3x4x2xi8>) {
  %sc = "tosa.const_shape"() <{values = dense<[4, 2, 6, 2]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %of = "tosa.const_shape"() <{values = dense<[-1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %bo = "tosa.const_shape"() <{values = dense<[1, -1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.resize"(%x, %sc, %of, %bo) <{mode = #tosa.resize_mode<NEAREST_NEIGHBOR>}> : (tensor<1x3x4x2xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x9x2xi8>
  func.return
}

// CHECK-LABEL: func.func @case8(
// CHECK: "tosa.resize"
func.func @case8(%x: tensor<1x3x4x2xi8>) {
  %sc = "tosa.const_shape"() <{values = dense<[4, 2, 6, 2]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %of = "tosa.const_shape"() <{values = dense<[-1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %bo = "tosa.const_shape"() <{values = dense<[1, -1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.resize"(%x, %sc, %of, %bo) <{mode = #tosa.resize_mode<BILINEAR>}> : (tensor<1x3x4x2xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x9x2xi32>
  func.return
}

// CHECK-LABEL: func.func @case9(
// CHECK: "tosa.add"
func.func @case9(%a: tensor<2x3xi32>, %b: tensor<1x3xi32>) {
  %y = "tosa.add"(%a, %b) : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: func.func @case10(
// CHECK: "tosa.sub"
func.func @case10(%a: tensor<2x3xi32>, %b: tensor<2x1xi32>) {
  %y = "tosa.sub"(%a, %b) : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: func.func @case11(
// CHECK: "tosa.maximum"
func.func @case11(%a: tensor<2x3xi32>, %b: tensor<1x3xi32>) {
  %y = "tosa.maximum"(%a, %b) : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: func.func @case12(
// CHECK: "tosa.minimum"
func.func @case12(%a: tensor<2x3xi32>, %b: tensor<1x3xi32>) {
  %y = "tosa.minimum"(%a, %b) : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: func.func @case13(
// CHECK: "tosa.intdiv"
func.func @case13(%a: tensor<2x3xi32>, %b: tensor<1x3xi32>) {
  %y = "tosa.intdiv"(%a, %b) : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: func.func @case14(
// CHECK: "tosa.arithmetic_right_shift"
func.func @case14(%a: tensor<2x3xi32>, %b: tensor<1x3xi32>) {
  %y = "tosa.arithmetic_right_shift"(%a, %b) <{round = true}> : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: func.func @case15(
// CHECK: "tosa.mul"
func.func @case15(%a: tensor<2x3xi32>, %b: tensor<1x3xi32>) {
  %s = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.mul"(%a, %b, %s) : (tensor<2x3xi32>, tensor<1x3xi32>, tensor<1xi8>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: func.func @case16(
// CHECK: "tosa.mul"
func.func @case16(%a: tensor<2x3xi8>, %b: tensor<1x3xi8>) {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.mul"(%a, %b, %s) : (tensor<2x3xi8>, tensor<1x3xi8>, tensor<1xi8>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: func.func @case17(
// CHECK: "tosa.clamp"
func.func @case17(%x: tensor<2x3xi8>) {
  %y = "tosa.clamp"(%x) <{min_val = -5 : i8, max_val = 99 : i8, nan_mode = #tosa.nan_mode<PROPAGATE>}> : (tensor<2x3xi8>) -> tensor<2x3xi8>
  func.return
}

// CHECK-LABEL: func.func @case18(
// CHECK: "tosa.table"
func.func @case18(%x: tensor<2x3xi8>) {
  %t = "tosa.const"() <{values = dense<7> : tensor<256xi8>}> : () -> tensor<256xi8>
  %y = "tosa.table"(%x, %t) : (tensor<2x3xi8>, tensor<256xi8>) -> tensor<2x3xi8>
  func.return
}

// CHECK-LABEL: func.func @case19(
// CHECK: "tosa.rescale"
func.func @case19(%x: tensor<2x5xi32>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %oz = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = false}> : (tensor<2x5xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// CHECK-LABEL: func.func @case20(
// CHECK: "tosa.rescale"
func.func @case20(%x: tensor<2x5xi32>) {
  %m = "tosa.const"() <{values = dense<[1073741824, 1073741825, 1073741826, 1073741827, 1073741828]> : tensor<5xi32>}> : () -> tensor<5xi32>
  %s = "tosa.const"() <{values = dense<[30, 31, 32, 33, 34]> : tensor<5xi8>}> : () -> tensor<5xi8>
  %iz = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %oz = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = true, input_unsigned = false, output_unsigned = false}> : (tensor<2x5xi32>, tensor<5xi32>, tensor<5xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// CHECK-LABEL: func.func @case21(
// CHECK: "tosa.rescale"
func.func @case21(%x: tensor<2x5xi8>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  %oz = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = true, output_unsigned = false}> : (tensor<2x5xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// CHECK-LABEL: func.func @case22(
// CHECK: "tosa.rescale"
func.func @case22(%x: tensor<2x5xi8>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %oz = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = true}> : (tensor<2x5xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// CHECK-LABEL: func.func @case23(
// CHECK: "tosa.rescale"
func.func @case23(%x: tensor<2x5xi8>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<9> : tensor<1xi8>}> : () -> tensor<1xi8>
  %oz = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = false}> : (tensor<2x5xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<2x5xi32>
  func.return
}

// CHECK-LABEL: func.func @case24(
// CHECK: "tosa.reduce_sum"
func.func @case24(%x: tensor<2x3xi32>) {
  %y = "tosa.reduce_sum"(%x) <{axis = 1 : i32}> : (tensor<2x3xi32>) -> tensor<2x1xi32>
  func.return
}

// CHECK-LABEL: func.func @case25(
// CHECK: "tosa.reduce_max"
func.func @case25(%x: tensor<2x3xi8>) {
  %y = "tosa.reduce_max"(%x) <{axis = 0 : i32}> : (tensor<2x3xi8>) -> tensor<1x3xi8>
  func.return
}

// CHECK-LABEL: func.func @case26(
// CHECK: "tosa.reduce_min"
func.func @case26(%x: tensor<2x3xi8>) {
  %y = "tosa.reduce_min"(%x) <{axis = 0 : i32}> : (tensor<2x3xi8>) -> tensor<1x3xi8>
  func.return
}

// CHECK-LABEL: func.func @case27(
// CHECK: "tosa.reshape"
func.func @case27(%x: tensor<2x3x4xi8>) {
  %s = "tosa.const_shape"() <{values = dense<[6, 4]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.reshape"(%x, %s) : (tensor<2x3x4xi8>, !tosa.shape<2>) -> tensor<6x4xi8>
  func.return
}

// CHECK-LABEL: func.func @case28(
// CHECK: "tosa.transpose"
func.func @case28(%x: tensor<2x3x4xi8>) {
  %y = "tosa.transpose"(%x) <{perms = array<i32: 2, 0, 1>}> : (tensor<2x3x4xi8>) -> tensor<4x2x3xi8>
  func.return
}

// CHECK-LABEL: func.func @case29(
// CHECK: "tosa.concat"
func.func @case29(%a: tensor<2x3xi8>, %b: tensor<2x4xi8>) {
  %y = "tosa.concat"(%a, %b) <{axis = 1 : i32}> : (tensor<2x3xi8>, tensor<2x4xi8>) -> tensor<2x7xi8>
  func.return
}

// CHECK-LABEL: func.func @case30(
// CHECK: "tosa.slice"
func.func @case30(%x: tensor<2x3xi8>) {
  %b = "tosa.const_shape"() <{values = dense<[0, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %n = "tosa.const_shape"() <{values = dense<[2, 2]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.slice"(%x, %b, %n) : (tensor<2x3xi8>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x2xi8>
  func.return
}

// CHECK-LABEL: func.func @case31(
// CHECK: "tosa.pad"
func.func @case31(%x: tensor<2x3xi8>) {
  %p = "tosa.const_shape"() <{values = dense<[1, 0, 2, 1]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %k = "tosa.const"() <{values = dense<5> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.pad"(%x, %p, %k) : (tensor<2x3xi8>, !tosa.shape<4>, tensor<1xi8>) -> tensor<3x6xi8>
  func.return
}

// CHECK-LABEL: func.func @case32(
// CHECK: "tosa.clz"
func.func @case32(%x: tensor<2x3xi32>) {
  %y = "tosa.clz"(%x) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: func.func @case33(
// CHECK: "tosa.logical_left_shift"
func.func @case33(%a: tensor<2x3xi32>, %b: tensor<2x1xi32>) {
  %y = "tosa.logical_left_shift"(%a, %b) : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
  func.return
}

// CHECK-LABEL: func.func @case34(
// CHECK: "tosa.identity"
func.func @case34(%x: tensor<2x3xi8>) {
  %y = "tosa.identity"(%x) : (tensor<2x3xi8>) -> tensor<2x3xi8>
  func.return
}
