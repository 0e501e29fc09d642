// wgmma, the product of a warp group (PTX ISA 9.0, 9.7.15). The rewriter gives these functions the variables of the
// program themselves, and not copies of them, because a product uses its registers until the thread waits for it.
#ifndef EMULATOR_DETAIL_PTX_PRODUCT_H
#define EMULATOR_DETAIL_PTX_PRODUCT_H

#include "hopper.h"

namespace emulator {
namespace ptx {

EMULATOR_PTX void wgmma_fence_(EMULATOR_CALL_SITE) {
  const emulator_site site = {"wgmma.fence", file, line};
  emulator_warpgroup_fence(&site);
}
EMULATOR_PTX void wgmma_commit_group_(EMULATOR_CALL_SITE) {
  const emulator_site site = {"wgmma.commit_group", file, line};
  emulator_warpgroup_commit(&site);
}
EMULATOR_PTX void wgmma_wait_group_(long long newest, EMULATOR_CALL_SITE) {
  const emulator_site site = {"wgmma.wait_group", file, line};
  emulator_warpgroup_wait(static_cast<unsigned>(newest), &site);
}

// An operand is a register, in a variable of the program, or a value. A product reads its registers later, so looking at
// an operand must not read it: the sanitizer would take that for a use by the thread.
struct product_operand {
  const void *place;
  size_t bytes;
  bool is_variable;

  u64 value() const {
    switch (bytes) {
    case 1: return *static_cast<const unsigned char *>(place);
    case 4: return *static_cast<const u32 *>(place);
    default: return *static_cast<const u64 *>(place);
    }
  }
};
template <typename T>
EMULATOR_PTX product_operand operand_of(const T &variable) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8,
                "no operand of wgmma is so wide");
  return {&variable, sizeof variable, true};
}
template <typename T>
EMULATOR_PTX product_operand operand_of(const given_value<T> &given) {
  return {&given.value, sizeof given.value, false};
}

// Are the operands the elements of an array, one after the other?
EMULATOR_PTX bool in_a_row(const product_operand *operands, unsigned count) {
  for (unsigned i = 1; i < count; i++)
    if (operands[i].place != static_cast<const char *>(operands[0].place) + 4 * i) return false;
  return operands[0].is_variable;
}

// The operands are D, A, which is a descriptor or four registers, the descriptor of B, whether to add to D, the signs of A
// and B, and which of those in shared memory are transposed.
template <unsigned columns, unsigned count>
EMULATOR_PTX void start_product(emulator_fragment_element element,
                                const product_operand (&operands)[count],
                                const emulator_site &site) {
  constexpr unsigned d = columns / 2;
  static_assert(count == d + 7 || count == d + 9,
                "this form of wgmma has another number of operands");
  constexpr bool shared = count == d + 7;
  const product_operand *a = operands + d, *b = a + (shared ? 1 : 4);
  if (!in_a_row(operands, d) || (!shared && !in_a_row(a, 4)))
    emulator_fault(cudaErrorNotSupported,
                   "%s in %s:%d: the emulator has products only where the registers of D, and "
                   "those of A, are the elements of one array, in order",
                   site.operation, site.file, site.line);
  if (static_cast<int>(b[2].value()) != 1 || static_cast<int>(b[3].value()) != 1 ||
      (shared && b[4].value() != 0))
    emulator_fault(cudaErrorNotSupported,
                   "%s in %s:%d: the emulator has no products of A or B with the sign changed, and "
                   "none of a transposed A",
                   site.operation, site.file, site.line);
  emulator_warpgroup_product product = {};
  product.element = element;
  product.columns = columns;
  product.d = static_cast<float *>(const_cast<void *>(operands[0].place));
  product.a_registers = shared ? nullptr : static_cast<const unsigned *>(a[0].place);
  product.a_descriptor = shared ? a[0].value() : 0;
  product.b_descriptor = b[0].value();
  product.transposed = b[shared ? 5 : 4].value() != 0;
  product.clear = b[1].value() == 0;
  emulator_warpgroup_multiply(&product, &site);
}

// The first register of D, which also knows the line of the instruction.
struct first_register {
  const float &variable;
  const char *file;
  int line;
  first_register(const float &variable, EMULATOR_CALL_SITE)
      : variable(variable), file(file), line(line) {}
};
#define EMULATOR_PTX_WGMMA(n)                                                                      \
  template <typename TD, typename TA, typename TB, typename... Operands>                           \
  EMULATOR_PTX std::enable_if_t<std::is_same_v<TD, f32> && std::is_same_v<TA, TB> &&               \
                                (std::is_same_v<TA, f16> || std::is_same_v<TA, bf16>)>             \
      wgmma_mma_async_m64n##n##k16_(first_register first, const Operands &...operands) {           \
    const emulator_site site = {"wgmma.mma_async", first.file, first.line};                        \
    start_product<n>(std::is_same_v<TA, bf16> ? EMULATOR_BF16 : EMULATOR_FP16,                     \
                     {operand_of(first.variable), operand_of(operands)...}, site);                 \
  }
#define EMULATOR_PTX_WGMMAS(a, b, c, d)                                                            \
  EMULATOR_PTX_WGMMA(a)                                                                            \
  EMULATOR_PTX_WGMMA(b) EMULATOR_PTX_WGMMA(c) EMULATOR_PTX_WGMMA(d)
EMULATOR_PTX_WGMMAS(8, 16, 24, 32)
EMULATOR_PTX_WGMMAS(40, 48, 56, 64)
EMULATOR_PTX_WGMMAS(72, 80, 88, 96)
EMULATOR_PTX_WGMMAS(104, 112, 120, 128)
EMULATOR_PTX_WGMMAS(136, 144, 152, 160)
EMULATOR_PTX_WGMMAS(168, 176, 184, 192)
EMULATOR_PTX_WGMMAS(200, 208, 216, 224)
EMULATOR_PTX_WGMMAS(232, 240, 248, 256)
#undef EMULATOR_PTX_WGMMA
#undef EMULATOR_PTX_WGMMAS

} // namespace ptx
} // namespace emulator

#endif
