// RUN: DIAGNOSTICS

// Ids: docs/spec.md (C8 cannot be written in text). Upstream accepts what is marked as ours.

// C1
// expected-error@+1 {{illegal storage type size: 33}}
"test.op"() {t = !quant.uniform<i33:f32, 0.5>} : () -> ()

// -----

// C1
// expected-error@+1 {{illegal storage type size: 0}}
"test.op"() {t = !quant.uniform<u0:f32, 0.5>} : () -> ()

// -----

// C2
// expected-error@+1 {{illegal storage min and storage max: (2:1)}}
"test.op"() {t = !quant.uniform<i8<2:1>:f32, 0.5>} : () -> ()

// -----

// C2
// expected-error@+1 {{illegal storage min and storage max: (1:1)}}
"test.op"() {t = !quant.any<u8<1:1>:f32>} : () -> ()

// -----

// C3
// expected-error@+1 {{illegal storage type maximum: 9}}
"test.op"() {t = !quant.uniform<i4<-1:9>:f32, 0.5>} : () -> ()

// -----

// C3: i8 is signed
// expected-error@+1 {{illegal storage type maximum: 128}}
"test.op"() {t = !quant.uniform<i8<0:128>:f32, 0.5>} : () -> ()

// -----

// C3
// expected-error@+1 {{illegal storage type minimum: -1}}
"test.op"() {t = !quant.uniform<u8<-1:9>:f32, 0.5>} : () -> ()

// -----

// C4
// expected-error@+1 {{expressed type must be f16, bf16 or f32, got i32}}
"test.op"() {t = !quant.uniform<i8:i32, 0.5>} : () -> ()

// -----

// C4 (ours)
// expected-error@+1 {{expressed type must be f16, bf16 or f32, got f64}}
"test.op"() {t = !quant.uniform<i8:f64, 0.5>} : () -> ()

// -----

// C5
// expected-error@+1 {{scale -1.000000e+00 out of expressed type range [1.401298e-45, 3.402823e+38]}}
"test.op"() {t = !quant.uniform<i8:f32, -1.0:127>} : () -> ()

// -----

// C5
// expected-error@+1 {{scale 0.000000e+00 out of expressed type range}}
"test.op"() {t = !quant.uniform<i8:f32:0, {0.5,0.0:3}>} : () -> ()

// -----

// C5
// expected-error@+1 {{scale inf out of expressed type range}}
"test.op"() {t = !quant.uniform<i8:f32, 1.0e400>} : () -> ()

// -----

// C5: not a number (ours)
// expected-error@+1 {{scale nan out of expressed type range}}
"test.op"() {t = !quant.uniform<i8:f32, 0x7FF8000000000000>} : () -> ()

// -----

// C5
// expected-error@+1 {{scale 6.560000e+04 out of expressed type range [5.960464e-08, 6.550400e+04]}}
"test.op"() {t = !quant.uniform<i8:f16, 65600.0>} : () -> ()

// -----

// C6 (ours)
// expected-error@+1 {{zero point 300 out of storage range [-128, 127]}}
"test.op"() {t = !quant.uniform<i8:f32, 0.5:300>} : () -> ()

// -----

// C6 (ours)
// expected-error@+1 {{zero point -5 out of storage range [0, 255]}}
"test.op"() {t = !quant.uniform<u8:f32:1, {0.5:7,0.25:-5}>} : () -> ()

// -----

// C6: the range as written (ours)
// expected-error@+1 {{zero point -128 out of storage range [-127, 127]}}
"test.op"() {t = !quant.uniform<i8<-127:127>:f32, 0.5:-128>} : () -> ()

// -----

// C7
// expected-error@+1 {{zero points must be integers of 32 bits}}
"test.op"() {t = !quant.uniform<i8:f32, 0.5:99999999999999999999999>} : () -> ()

// -----

// C9
// expected-error@+1 {{a whole tensor has one scale, got a list of 2}}
"test.op"() {t = !quant.uniform<i8:f32, {0.5,0.25}>} : () -> ()

// -----

// C9 (ours)
// expected-error@+1 {{per-axis scales are a flat list, got 2 dimensions}}
"test.op"() {t = !quant.uniform<i8:f32:0, {{0.5,0.25}}>} : () -> ()

// -----

// C9
// expected-error@+1 {{expected a scale}}
"test.op"() {t = !quant.uniform<i8:f32:0, {}>} : () -> ()

// -----

// C9
// expected-error@+1 {{expected '{'}}
"test.op"() {t = !quant.uniform<i8:f32:1, 2.0>} : () -> ()

// -----

// C9
// expected-error@+1 {{expected '{'}}
"test.op"() {t = !quant.uniform<i8:f32:{1:2}, 2.0>} : () -> ()

// -----

// C10
// expected-error@+1 {{illegal quantized dimension: -1}}
"test.op"() {t = !quant.uniform<i8:f32:-1, {2.0,3.0:7}>} : () -> ()

// -----

// C10
// expected-error@+1 {{illegal quantized dimension: -2}}
"test.op"() {t = !quant.uniform<i8:f32:{-2:4}, {{2.0, 3.0:7}}>} : () -> ()

// -----

// C11
// expected-error@+1 {{illegal block size: 0}}
"test.op"() {t = !quant.uniform<i8:f32:{1:0}, {{2.0, 3.0:7}}>} : () -> ()

// -----

// C12 (ours)
// expected-error@+1 {{axis 1 has two block sizes}}
"test.op"() {t = !quant.uniform<i8:f32:{1:2, 1:4}, {{2.0, 3.0:7}}>} : () -> ()

// -----

// C13 (ours)
// expected-error@+1 {{block axis 2 is out of the scales' rank 2}}
"test.op"() {t = !quant.uniform<i8:f32:{2:2}, {{2.0, 3.0:7}}>} : () -> ()

// -----

// C14
// expected-error@+1 {{illegal min and max: (1.000000e+00:-1.000000e+00)}}
"test.op"() {t = !quant.calibrated<f32<1.0:-1.0>>} : () -> ()

// -----

// Text: storage
// expected-error@+1 {{illegal storage type prefix}}
"test.op"() {t = !quant.uniform<int8:f32, 0.5>} : () -> ()

// -----

// Text: storage without a width
// expected-error@+1 {{expected storage type width}}
"test.op"() {t = !quant.uniform<u:f32, 0.5>} : () -> ()

// -----

// Text: an integer scale
// expected-error@+1 {{unexpected decimal integer literal for a floating point value}}
"test.op"() {t = !quant.uniform<i8:f32:0, {0.5,1:3}>} : () -> ()

// -----

// Text: an exponent without a point
// expected-error@+1 {{unexpected decimal integer literal for a floating point value}}
"test.op"() {t = !quant.uniform<i8:f32, 1e-05>} : () -> ()

// -----

// Text: a real zero point
// expected-error@+1 {{expected integer value}}
"test.op"() {t = !quant.uniform<i8:f32, 0.1:1.5>} : () -> ()

// -----

// Text: rows of two lengths
// expected-error@+1 {{tensor literal is invalid; ranks are not consistent between elements}}
"test.op"() {t = !quant.uniform<i8:f32:{0:2}, {{2.0, 3.0:7}, {4.0}}>} : () -> ()

// -----

// Text: a list that does not end
// expected-error@+1 {{'}' expected}}
"test.op"() {t = !quant.uniform<i8:f32:0, {0.5,0.25:3>} : () -> ()

// -----

// C15
// expected-error@+2 {{scalar types may not use per-axis quantization}}
%q = "test.op"() : () -> !quant.uniform<i8:f32:0, {0.5:3,0.25}>
%r = quant.dcast %q : !quant.uniform<i8:f32:0, {0.5:3,0.25}> to f32

// -----

// C15
// expected-error@+2 {{scalar types may not use sub-channel quantization}}
%q = "test.op"() : () -> !quant.uniform<i8:f32:{0:2}, {0.5:3}>
%r = quant.dcast %q : !quant.uniform<i8:f32:{0:2}, {0.5:3}> to f32

// -----

// C16
// expected-error@+2 {{quantized dimension must be less than tensor rank}}
%q = "test.op"() : () -> tensor<2x!quant.uniform<i8:f32:1, {0.5:3,0.25}>>
%r = quant.dcast %q : tensor<2x!quant.uniform<i8:f32:1, {0.5:3,0.25}>> to tensor<2xf32>

// -----

// C17
// expected-error@+2 {{tensor containing the sub-channel quantized type must be ranked}}
%q = "test.op"() : () -> tensor<*x!quant.uniform<i8:f32:{1:2}, {{2.0, 3.0:7}}>>
%r = quant.dcast %q : tensor<*x!quant.uniform<i8:f32:{1:2}, {{2.0, 3.0:7}}>> to tensor<*xf32>

// -----

// C17
// expected-error@+2 {{Rank of scales 2 must match the rank of the tensor 3}}
%q = "test.op"() : () -> tensor<3x4x5x!quant.uniform<i8:f32:{1:2}, {{2.0, 3.0:7}}>>
%r = quant.dcast %q : tensor<3x4x5x!quant.uniform<i8:f32:{1:2}, {{2.0, 3.0:7}}>> to tensor<3x4x5xf32>

// -----

// C18
// expected-error@+2 {{quantized dimension size does not match number of scales: axis 1 has size 3, 2 scales}}
%x = "test.op"() : () -> tensor<2x3xf32>
%q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25}>>

// -----

// C19
// expected-error@+2 {{tensor dimension size of zero is not allowed with sub-channel quantization}}
%x = "test.op"() : () -> tensor<0x4xf32>
%q = quant.qcast %x : tensor<0x4xf32> to tensor<0x4x!quant.uniform<i8:f32:{1:2}, {{2.0, 3.0:7}}>>

// -----

// C20
// expected-error@+2 {{tensor dimension size 5 at axis 1 must be divisible by the corresponding block size 2}}
%x = "test.op"() : () -> tensor<3x5xf32>
%q = quant.qcast %x : tensor<3x5xf32> to tensor<3x5x!quant.uniform<i8:f32:{1:2}, {{2.0, 3.0:7}}>>

// -----

// C21
// expected-error@+2 {{dimension size 2 of scales tensor at axis 1 should match (tensor dimension at axis / block sizes at axis) = 3}}
%x = "test.op"() : () -> tensor<3x6xf32>
%q = quant.qcast %x : tensor<3x6xf32> to tensor<3x6x!quant.uniform<i8:f32:{1:2}, {{2.0, 3.0:7}}>>

// -----

// C21: axis 0 is one block
// expected-error@+2 {{dimension size 2 of scales tensor at axis 0 should match (tensor dimension at axis / block sizes at axis) = 1}}
%x = "test.op"() : () -> tensor<2x6xf32>
%q = quant.qcast %x : tensor<2x6xf32> to tensor<2x6x!quant.uniform<i8:f32:{1:6}, {{2.0}, {3.0:7}}>>

// -----

// C22
// expected-error@+2 {{expected a uniform quantized type, got tensor<2xi8>}}
%x = "test.op"() : () -> tensor<2xf32>
%q = quant.qcast %x : tensor<2xf32> to tensor<2xi8>

// -----

// C22
// expected-error@+2 {{expected a uniform quantized type, got tensor<2xi8>}}
%q = "test.op"() : () -> tensor<2xi8>
%r = quant.dcast %q : tensor<2xi8> to tensor<2xf32>

// -----

// C22
// expected-error@+2 {{expected a uniform quantized type, got tensor<2xi8>}}
%q = "test.op"() : () -> tensor<2xi8>
%r = quant.scast %q : tensor<2xi8> to tensor<2xi8>

// -----

// C23
// expected-error@+2 {{failed to verify that input and result are both scalars or both tensors with matching shape}}
%x = "test.op"() : () -> tensor<2x3xf32>
%q = quant.qcast %x : tensor<2x3xf32> to tensor<?x3x!quant.uniform<i8:f32, 0.5:3>>

// -----

// C23
// expected-error@+2 {{failed to verify that input and result are both scalars or both tensors with matching shape}}
%q = "test.op"() : () -> tensor<!quant.uniform<i8:f32, 0.5:3>>
%r = quant.dcast %q : tensor<!quant.uniform<i8:f32, 0.5:3>> to f32

// -----

// C23
// expected-error@+2 {{failed to verify that input and result are both scalars or both tensors with matching shape}}
%q = "test.op"() : () -> tensor<2x3xi8>
%r = quant.scast %q : tensor<2x3xi8> to tensor<3x2x!quant.uniform<i8:f32, 0.5:3>>

// -----

// C24
// expected-error@+2 {{expressed type in quantized type expected to match float type: f32 and tensor<2xf16>}}
%x = "test.op"() : () -> tensor<2xf16>
%q = quant.qcast %x : tensor<2xf16> to tensor<2x!quant.uniform<i8:f32, 0.5:3>>

// -----

// C25
// expected-error@+2 {{storage type in quantized type expected to match integer type: u8 and i16}}
%q = "test.op"() : () -> tensor<2x!quant.uniform<u8:f32, 0.5:3>>
%r = quant.scast %q : tensor<2x!quant.uniform<u8:f32, 0.5:3>> to tensor<2xi16>

// -----

// C25: signed storage is no ui8
// expected-error@+2 {{storage type in quantized type expected to match integer type: i8 and ui8}}
%q = "test.op"() : () -> tensor<2xui8>
%r = quant.scast %q : tensor<2xui8> to tensor<2x!quant.uniform<i8:f32, 0.5:3>>
