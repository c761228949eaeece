// RUN: DIAGNOSTICS

// T18
// expected-error@+2 {{the pad 3 covers the whole window of 3}}
func.func @t(%x: tensor<1x7x5x3xi8>) {
  %y = "tosa.max_pool2d"(%x) <{kernel = array<i64: 3, 2>, stride = array<i64: 2, 1>, pad = array<i64: 3, 1, 0, 1>}> : (tensor<1x7x5x3xi8>) -> tensor<1x4x5x3xi8>
  func.return
}

// -----

// T19
// expected-error@+5 {{an image is 16384 or more wide}}
func.func @t(%x: tensor<1x1025x4x2xi8>) {
  %sc = "tosa.const_shape"() <{values = dense<[16, 1, 6, 2]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %of = "tosa.const_shape"() <{values = dense<[0, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %bo = "tosa.const_shape"() <{values = dense<[0, -1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.resize"(%x, %sc, %of, %bo) <{mode = #tosa.resize_mode<NEAREST_NEIGHBOR>}> : (tensor<1x1025x4x2xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x16385x9x2xi8>
  func.return
}

// -----

// T19
// expected-error@+5 {{the scale's numerator 4096 along y is out of range}}
func.func @t(%x: tensor<1x3x4x2xi8>) {
  %sc = "tosa.const_shape"() <{values = dense<[4096, 2, 6, 2]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %of = "tosa.const_shape"() <{values = dense<[-1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %bo = "tosa.const_shape"() <{values = dense<[1, -1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.resize"(%x, %sc, %of, %bo) <{mode = #tosa.resize_mode<NEAREST_NEIGHBOR>}> : (tensor<1x3x4x2xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x9x2xi8>
  func.return
}

// -----

// T19
// expected-error@+5 {{the scale's denominator 16 along y is out of range}}
func.func @t(%x: tensor<1x3x4x2xi8>) {
  %sc = "tosa.const_shape"() <{values = dense<[1, 16, 6, 2]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %of = "tosa.const_shape"() <{values = dense<[-1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %bo = "tosa.const_shape"() <{values = dense<[1, -1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.resize"(%x, %sc, %of, %bo) <{mode = #tosa.resize_mode<NEAREST_NEIGHBOR>}> : (tensor<1x3x4x2xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x9x2xi8>
  func.return
}

// -----

// T19
// expected-error@+5 {{the offset 64 along y is out of range}}
func.func @t(%x: tensor<1x3x4x2xi8>) {
  %sc = "tosa.const_shape"() <{values = dense<[4, 2, 6, 2]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %of = "tosa.const_shape"() <{values = dense<[64, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %bo = "tosa.const_shape"() <{values = dense<[1, -1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.resize"(%x, %sc, %of, %bo) <{mode = #tosa.resize_mode<NEAREST_NEIGHBOR>}> : (tensor<1x3x4x2xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x9x2xi8>
  func.return
}

// -----

// T19
// expected-error@+5 {{the border 4 along y is out of range}}
func.func @t(%x: tensor<1x3x4x2xi8>) {
  %sc = "tosa.const_shape"() <{values = dense<[4, 2, 6, 2]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %of = "tosa.const_shape"() <{values = dense<[-1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %bo = "tosa.const_shape"() <{values = dense<[4, -1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.resize"(%x, %sc, %of, %bo) <{mode = #tosa.resize_mode<NEAREST_NEIGHBOR>}> : (tensor<1x3x4x2xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x9x2xi8>
  func.return
}

// -----

// T19
// expected-error@+5 {{the scale's 2 does not divide 9 along y}}
func.func @t(%x: tensor<1x3x4x2xi8>) {
  %sc = "tosa.const_shape"() <{values = dense<[4, 2, 6, 2]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %of = "tosa.const_shape"() <{values = dense<[-1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %bo = "tosa.const_shape"() <{values = dense<[0, -1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.resize"(%x, %sc, %of, %bo) <{mode = #tosa.resize_mode<NEAREST_NEIGHBOR>}> : (tensor<1x3x4x2xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x9x2xi8>
  func.return
}

// -----

// T19
// expected-error@+5 {{NEAREST_NEIGHBOR makes i8 of i8}}
func.func @t(%x: tensor<1x3x4x2xi8>) {
  %sc = "tosa.const_shape"() <{values = dense<[4, 2, 6, 2]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %of = "tosa.const_shape"() <{values = dense<[-1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %bo = "tosa.const_shape"() <{values = dense<[1, -1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.resize"(%x, %sc, %of, %bo) <{mode = #tosa.resize_mode<NEAREST_NEIGHBOR>}> : (tensor<1x3x4x2xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x9x2xi32>
  func.return
}

// -----

// T19
// expected-error@+5 {{BILINEAR makes i32 of i8}}
func.func @t(%x: tensor<1x3x4x2xi8>) {
  %sc = "tosa.const_shape"() <{values = dense<[4, 2, 6, 2]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %of = "tosa.const_shape"() <{values = dense<[-1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %bo = "tosa.const_shape"() <{values = dense<[1, -1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.resize"(%x, %sc, %of, %bo) <{mode = #tosa.resize_mode<BILINEAR>}> : (tensor<1x3x4x2xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x9x2xi8>
  func.return
}

// -----

// T20
// expected-error@+3 {{a product of i8 is not shifted by 1}}
func.func @t(%a: tensor<2x3xi8>, %b: tensor<1x3xi8>) {
  %s = "tosa.const"() <{values = dense<1> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.mul"(%a, %b, %s) : (tensor<2x3xi8>, tensor<1x3xi8>, tensor<1xi8>) -> tensor<2x3xi32>
  func.return
}

// -----

// T20
// expected-error@+3 {{a product of i32 is not shifted by 64}}
func.func @t(%a: tensor<2x3xi32>, %b: tensor<1x3xi32>) {
  %s = "tosa.const"() <{values = dense<64> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.mul"(%a, %b, %s) : (tensor<2x3xi32>, tensor<1x3xi32>, tensor<1xi8>) -> tensor<2x3xi32>
  func.return
}

// -----

// T21
// expected-error@+2 {{the least value 5 is above the greatest -5}}
func.func @t(%x: tensor<2x3xi8>) {
  %y = "tosa.clamp"(%x) <{min_val = 5 : i8, max_val = -5 : i8, nan_mode = #tosa.nan_mode<PROPAGATE>}> : (tensor<2x3xi8>) -> tensor<2x3xi8>
  func.return
}

// -----

// T21
// expected-error@+2 {{the bounds are i8, not i32}}
func.func @t(%x: tensor<2x3xi8>) {
  %y = "tosa.clamp"(%x) <{min_val = 5 : i32, max_val = 9 : i32, nan_mode = #tosa.nan_mode<PROPAGATE>}> : (tensor<2x3xi8>) -> tensor<2x3xi8>
  func.return
}

// -----

// T22
// expected-error@+3 {{a table of i8 has 256 entries}}
func.func @t(%x: tensor<2x3xi8>) {
  %t = "tosa.const"() <{values = dense<7> : tensor<255xi8>}> : () -> tensor<255xi8>
  %y = "tosa.table"(%x, %t) : (tensor<2x3xi8>, tensor<255xi8>) -> tensor<2x3xi8>
  func.return
}

// -----

// T23
// expected-error@+6 {{multiplier has 5 entries, not [1]}}
func.func @t(%x: tensor<2x5xi32>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %oz = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = true, input_unsigned = false, output_unsigned = false}> : (tensor<2x5xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// -----

// T23
// expected-error@+6 {{a tensor without axes has no channels}}
func.func @t(%x: tensor<i32>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %oz = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = true, input_unsigned = false, output_unsigned = false}> : (tensor<i32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<i8>
  func.return
}

// -----

// T24
// expected-error@+6 {{the multiplier is i16}}
func.func @t(%x: tensor<2x5xi32>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %oz = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = false, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = false}> : (tensor<2x5xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// -----

// T25
// expected-error@+6 {{DOUBLE_ROUND is not in the profile pro_int}}
func.func @t(%x: tensor<2x5xi32>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %oz = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<DOUBLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = false}> : (tensor<2x5xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// -----

// T26
// expected-error@+6 {{the multiplier -5 is negative}}
func.func @t(%x: tensor<2x5xi32>) {
  %m = "tosa.const"() <{values = dense<-5> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %oz = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = false}> : (tensor<2x5xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// -----

// T26
// expected-error@+6 {{a shift is out of 2 to 62}}
func.func @t(%x: tensor<2x5xi32>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<63> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %oz = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = false}> : (tensor<2x5xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// -----

// T27
// expected-error@+6 {{the input and the output are not both unsigned}}
func.func @t(%x: tensor<2x5xi8>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<4> : tensor<1xi8>}> : () -> tensor<1xi8>
  %oz = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = true, output_unsigned = true}> : (tensor<2x5xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// -----

// T27
// expected-error@+6 {{what is rescaled from or to i32 is signed}}
func.func @t(%x: tensor<2x5xi32>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
  %iz = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %oz = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.rescale"(%x, %m, %s, %iz, %oz) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = true}> : (tensor<2x5xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<2x5xi8>
  func.return
}

// -----

// T28
// expected-error@+3 {{[2, 3, 4] and [5, 4] differ in elements}}
func.func @t(%x: tensor<2x3x4xi8>) {
  %s = "tosa.const_shape"() <{values = dense<[5, 4]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.reshape"(%x, %s) : (tensor<2x3x4xi8>, !tosa.shape<2>) -> tensor<5x4xi8>
  func.return
}

// -----

// T29
// expected-error@+2 {{[0, 0, 1] is no permutation of 3}}
func.func @t(%x: tensor<2x3x4xi8>) {
  %y = "tosa.transpose"(%x) <{perms = array<i32: 0, 0, 1>}> : (tensor<2x3x4xi8>) -> tensor<2x2x3xi8>
  func.return
}

// -----

// T30
// expected-error@+2 {{the operands differ on axes other than 1}}
func.func @t(%a: tensor<2x3xi8>, %b: tensor<3x4xi8>) {
  %y = "tosa.concat"(%a, %b) <{axis = 1 : i32}> : (tensor<2x3xi8>, tensor<3x4xi8>) -> tensor<2x7xi8>
  func.return
}

// -----

// T31
// expected-error@+4 {{2 from 2 on are out of axis 1 of 3}}
func.func @t(%x: tensor<2x3xi8>) {
  %b = "tosa.const_shape"() <{values = dense<[0, 2]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %n = "tosa.const_shape"() <{values = dense<[2, 2]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %y = "tosa.slice"(%x, %b, %n) : (tensor<2x3xi8>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x2xi8>
  func.return
}

// -----

// T32
// expected-error@+4 {{a pad of [-1, 0, 2, 1] is negative}}
func.func @t(%x: tensor<2x3xi8>) {
  %p = "tosa.const_shape"() <{values = dense<[-1, 0, 2, 1]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %k = "tosa.const"() <{values = dense<5> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = "tosa.pad"(%x, %p, %k) : (tensor<2x3xi8>, !tosa.shape<4>, tensor<1xi8>) -> tensor<1x6xi8>
  func.return
}
