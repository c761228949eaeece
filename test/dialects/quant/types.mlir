// RUN: ROUNDTRIP

// Per tensor; a zero point of 0 and the width's own bounds are not printed.

// CHECK: t = !quant.uniform<i8:f32, 0.02>}
"test.op"() {t = !quant.uniform<i8:f32, 0.02>} : () -> ()
// CHECK: t = !quant.uniform<i8:f32, 0.02:-3>}
"test.op"() {t = !quant.uniform<i8:f32, 0.02:-3>} : () -> ()
// CHECK: t = !quant.uniform<i8:f32, 0.25>}
"test.op"() {t = !quant.uniform<i8<-128:127>:f32, 0.25:0>} : () -> ()
// CHECK: t = !quant.uniform<i8<-127:127>:f32, 0.02:1>}
"test.op"() {t = !quant.uniform<i8<-127:127>:f32, 0.02:1>} : () -> ()
// CHECK: t = !quant.uniform<u16<0:1023>:f32, 1.23:512>}
"test.op"() {t = !quant.uniform<u16<0:1023>:f32, 1.23:512>} : () -> ()

// Any width from 1 to 32; `ui8` is `u8`, `si8` is `i8`.

// CHECK: t = !quant.uniform<u8:f32, 0.02:128>}
"test.op"() {t = !quant.uniform<ui8:f32, 0.02:128>} : () -> ()
// CHECK: t = !quant.uniform<i8:f32, 0.02:-128>}
"test.op"() {t = !quant.uniform<si8:f32, 0.02:-128>} : () -> ()
// CHECK: t = !quant.uniform<u1:f32, 0.5:1>}
"test.op"() {t = !quant.uniform<u1:f32, 0.5:1>} : () -> ()
// CHECK: t = !quant.uniform<i1:f32, 0.5:-1>}
"test.op"() {t = !quant.uniform<i1:f32, 0.5:-1>} : () -> ()
// CHECK: t = !quant.uniform<u4:f16, 0.5:8>}
"test.op"() {t = !quant.uniform<u4:f16, 0.5:8>} : () -> ()
// CHECK: t = !quant.uniform<i17:bf16, 0.5:-65536>}
"test.op"() {t = !quant.uniform<i17:bf16, 0.5:-65536>} : () -> ()
// CHECK: t = !quant.uniform<u32:f32, 0.5:7>}
"test.op"() {t = !quant.uniform<u32:f32, 0.5:7>} : () -> ()

// A scale prints as the shortest decimal that reads back to the same float32, with a point.

// CHECK: t = !quant.uniform<i8:f32, 0.02:1>}
"test.op"() {t = !quant.uniform<i8:f32, 0.019999999552965164:1>} : () -> ()
// CHECK: t = !quant.uniform<i8:f32, 1.0e-05:1>}
"test.op"() {t = !quant.uniform<i8:f32, 0.00001:1>} : () -> ()
// CHECK: t = !quant.uniform<i8:f32, 1.5e-07:1>}
"test.op"() {t = !quant.uniform<i8:f32, 15.0E-8:1>} : () -> ()
// CHECK: t = !quant.uniform<i8:f32, 0.01:1>}
"test.op"() {t = !quant.uniform<i8:f32, 0x3F847AE147AE147B:1>} : () -> ()

// Per axis: commas without blanks, however they were written.

// CHECK: t = !quant.uniform<i8:f32:1, {2.0,3.0:1}>}
"test.op"() {t = !quant.uniform<i8:f32:1, {2.0,3.0:1}>} : () -> ()
// CHECK: t = !quant.uniform<i32:f32:0, {0.0004,1.0e-06:-7}>}
"test.op"() {t = !quant.uniform<i32 : f32 : 0, { 0.0004 : 0,
  1.e-6 : -7 }>} : () -> ()
// CHECK: t = !quant.uniform<i8<-127:127>:f32:0, {2.0,3.0:5}>}
"test.op"() {t = !quant.uniform<i8<-127:127>:f32:0, {2.0, // a comment: } , 7.0
  3.0:5}>} : () -> ()
// CHECK: t = !quant.uniform<i8:f32:0, {0.01,3.0:5}>}
"test.op"() {t = !quant.uniform<i8:f32:0, {0x3F847AE147AE147B,3.0:5}>} : () -> ()

// Sub-channel: a list as deep as the tensor's rank.

// CHECK{LITERAL}: t = !quant.uniform<i8:f32:{1:4}, {{2.0:12, 3.0}, {4.0, 5.0}}>}
"test.op"() {t = !quant.uniform<i8:f32:{1:4}, {{2.0:12,3.0:0},{4.0, 5.}}>} : () -> ()
// CHECK{LITERAL}: t = !quant.uniform<i8:f32:{0:2, 1:4}, {{2.0:7}, {4.0}}>}
"test.op"() {t = !quant.uniform<i8:f32:{0:2,1:4}, {{2.0:7}, {4.0}}>} : () -> ()
// CHECK{LITERAL}: t = !quant.uniform<u4:f16:{1:2}, {{{2.0, 3.0:1}}}>}
"test.op"() {t = !quant.uniform<u4:f16:{1:2}, {{{2.0,3.0:1}}}>} : () -> ()
// CHECK{LITERAL}: t = !quant.uniform<i8:f32:{}, {{2.0:1}}>}
"test.op"() {t = !quant.uniform<i8:f32:{}, {{2.0:1}}>} : () -> ()

// Upstream's types without parameters.

// CHECK: t = !quant.any<i8<-8:7>:f32>}
"test.op"() {t = !quant.any<i8<-8:7>:f32>} : () -> ()
// CHECK: t = !quant.any<u16>}
"test.op"() {t = !quant.any<u16>} : () -> ()
// CHECK: t = !quant.calibrated<f32<-0.998:1.2321>>}
"test.op"() {t = !quant.calibrated<f32<-0.998:1.2321>>} : () -> ()
