// The runtime's part of the functions of common/kernel/wgmma.cuh and common/kernel/hopper.cuh for a warp group: four warps, the
// first of which has a number that is a multiple of 4. C17 and C++17, kernel side.
#ifndef WARPGROUP_H
#define WARPGROUP_H

#include "tensor_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Products: PTX ISA 9.0, 9.7.15, "wgmma" -----------------------------------------------------
//
// A GPU reads the operands and writes the result at any time between the start of a product and the end of
// the wait for its group. The emulator does both at the latest, in the wait; until then the registers of D
// are filled with 0xFF bytes, NaN. A kernel that forgets the wait, or changes an operand before it, then gets
// wrong results every time.

// One thread's part of D [64, columns] = A [64, 16] B [16, columns] + D.
typedef struct {
  emulator_fragment_element element; // of A and B: fp16 or bf16
  unsigned columns;                  // a multiple of 8 from 8 to 256
  float *d;                          // [columns / 2] registers
  // A: four registers as in mma.sync, or where they are NULL, by descriptor: rows of 16 in shared memory.
  const unsigned *a_registers;
  uint64_t a_descriptor;
  // B: B^T, rows of 16; with `transposed` B itself, rows of `columns`.
  uint64_t b_descriptor;
  bool transposed;
  bool clear; // D is 0 before
} emulator_warpgroup_product;

// Orders what the thread has done to its registers before what later products do to them. The products here wait
// for nothing and need no order; the sanitizer reports one that would.
EMULATOR_API void emulator_warpgroup_fence(const emulator_site *site);

// Starts a product. Reports a fault when the block has no four warps for it, when the warpgroup's threads give
// different products, and when a descriptor (9.7.15.5.1.2.2) is of another layout than that of the 128-byte
// swizzle, does not lie on its grid of 1024 bytes, or leaves shared memory.
EMULATOR_API void emulator_warpgroup_multiply(const emulator_warpgroup_product *product,
                                              const emulator_site *site);

// Makes a group of the products that the thread has started since its last one.
EMULATOR_API void emulator_warpgroup_commit(const emulator_site *site);

// Waits until all the thread's groups but the newest `newest` are complete; they are the whole warpgroup's, so
// its other threads must have committed them.
EMULATOR_API void emulator_warpgroup_wait(unsigned newest, const emulator_site *site);

// ---- Registers: PTX ISA 9.0, 9.7.19.5, "setmaxnreg" ---------------------------------------------

// Changes the registers of each thread of the warpgroup to `registers`, a multiple of 8 from 24 to 256, and
// waits for the warpgroup, and for registers that others give away. At the start each thread has as many as
// fit: 65,536 for all, what __launch_bounds__(threads, 1) stands for.
EMULATOR_API void emulator_give_registers(unsigned registers, const emulator_site *site);
EMULATOR_API void emulator_take_registers(unsigned registers, const emulator_site *site);

#ifdef __cplusplus
}
#endif
#endif
