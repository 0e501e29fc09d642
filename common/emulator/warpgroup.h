// The runtime's part of the functions of common/kernel/wgmma.cuh and common/kernel/hopper.cuh for a
// warpgroup: four warps, the first of which has a number that is a multiple of 4. C17 and C++17, kernel side.
#ifndef WARPGROUP_H
#define WARPGROUP_H

#include "tensor_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Products: PTX ISA 9.0, 9.7.15, "wgmma" -----------------------------------------------------
//
// A GPU reads the operands and writes the result at any time between the start of a product
// and the end of the wait for its group. The emulator does both as late as it may, in the
// wait; until then it fills the registers of D with poison, which is NaN. A kernel that
// forgets the wait, or changes an operand before it, then gets wrong results every time.

// One thread's part of D [64, columns] = A [64, 16] B [16, columns] + D.
typedef struct {
  emulator_fragment_element element; // of A and B: fp16 or bf16
  unsigned columns;                  // a multiple of 8 from 8 to 256
  float *d;                          // [columns / 2] registers
  // A is in four registers as in mma.sync or, if `a` is NULL, in rows of 16 in shared memory (descriptor).
  const unsigned *a_registers;
  uint64_t a_descriptor;
  // B is given as B^T, with rows of 16; with `transposed` it is B itself, with rows of `columns`.
  uint64_t b_descriptor;
  bool transposed;
  bool clear;        // D is set to 0 first
  const void *place; // of the call in the machine code, or NULL
} emulator_warpgroup_product;

// Orders the thread's accesses to its registers before the accesses of later products. The products here
// run in the wait and need no such order; the sanitizer reports a product that would need it on a GPU.
EMULATOR_API void emulator_warpgroup_fence(const emulator_site *site);

// Makes the thread's writes to shared memory visible to products that come after a barrier behind this call, and orders
// what the thread knows of before later box copies (9.7.13.4, "fence", fence.proxy.async). Products here read what the
// threads have written, and copies overwrite what the threads have read; the sanitizer reports those that may not on a
// GPU.
EMULATOR_API void emulator_proxy_fence(const emulator_site *site);

// Starts a product. Reports a fault when the block has no complete warpgroup for it, when the
// warpgroup's threads give different products, and when a descriptor (9.7.15.5.1.2.2) has a layout
// other than the 128-byte swizzle, is not aligned to the pattern's 1024 bytes, or leaves shared memory.
EMULATOR_API void emulator_warpgroup_multiply(const emulator_warpgroup_product *product,
                                              const emulator_site *site);

// Commits the products that the thread has started since its last commit as one group.
EMULATOR_API void emulator_warpgroup_commit(const emulator_site *site);

// Waits until all the thread's groups except the newest `newest` are complete. The
// groups belong to the whole warpgroup, so its other threads must have committed them.
EMULATOR_API void emulator_warpgroup_wait(unsigned newest, const emulator_site *site);

// ---- Registers: PTX ISA 9.0, 9.7.19.5, "setmaxnreg" ---------------------------------------------

// Changes the number of registers of each thread of the warpgroup to `registers`, a multiple of 8 from 24
// to 256, and waits for the warpgroup and, if necessary, for registers that others release. At the start
// each thread has as many as fit into 65,536 for the block, as __launch_bounds__(threads, 1) allows.
EMULATOR_API void emulator_give_registers(unsigned registers, const emulator_site *site);
EMULATOR_API void emulator_take_registers(unsigned registers, const emulator_site *site);

#ifdef __cplusplus
}
#endif
#endif
