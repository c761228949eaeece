// RUN: OPT %s --print-op-generic | FILECHECK %s
// RUN: OPT %s --print-op-generic | OPT | FILECHECK %s --check-prefix=BACK
// RUN: OPT %s | FILECHECK %s --check-prefix=BACK

// Upstream's quant.scast takes signless integers only: the generic form says the rest with one more cast.

// CHECK:      sym_name = "both"
// CHECK:      %[[I:.*]] = "builtin.unrealized_conversion_cast"(%x) : (tensor<2x3xui8>) -> tensor<2x3xi8>
// CHECK-NEXT: %q = "quant.scast"(%[[I]]) : (tensor<2x3xi8>) -> tensor<2x3x!quant.uniform<u8:f32, 0.25:7>>
// CHECK-NEXT: %[[O:.*]] = "quant.scast"(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.25:7>>) -> tensor<2x3xi8>
// CHECK-NEXT: %p = "builtin.unrealized_conversion_cast"(%[[O]]) : (tensor<2x3xi8>) -> tensor<2x3xui8>
// CHECK-NEXT: %s = "quant.scast"(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.25:7>>) -> tensor<2x3xi8>
// BACK-LABEL: @both
// BACK-NEXT:  %q = quant.scast %x : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.25:7>>
// BACK-NEXT:  %p = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.25:7>> to tensor<2x3xui8>
// BACK-NEXT:  %s = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.25:7>> to tensor<2x3xi8>
// BACK-NEXT:  func.return
func.func @both(%x: tensor<2x3xui8>) -> (tensor<2x3xui8>, tensor<2x3xi8>) {
  %q = quant.scast %x : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.25:7>>
  %p = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.25:7>> to tensor<2x3xui8>
  %s = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.25:7>> to tensor<2x3xi8>
  func.return %p, %s : tensor<2x3xui8>, tensor<2x3xi8>
}

// A cast of something else is nobody's half.
// CHECK:      sym_name = "alone"
// CHECK:      "builtin.unrealized_conversion_cast"(%x) : (tensor<2xi8>) -> tensor<2xui8>
// BACK-LABEL: @alone
// BACK:       builtin.unrealized_conversion_cast %x : tensor<2xi8> to tensor<2xui8>
func.func @alone(%x: tensor<2xi8>) -> tensor<2xui8> {
  %y = builtin.unrealized_conversion_cast %x : tensor<2xi8> to tensor<2xui8>
  func.return %y : tensor<2xui8>
}
