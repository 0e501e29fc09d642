// Inline PTX as C++. Each instruction becomes a call of a function template in namespace emulator::ptx
// (include/detail/ptx/), whose name and template arguments are the instruction's:
//   asm volatile("add.s32 %0, %1, 1;" : "=r"(sum) : "r"(x));
// becomes a block that copies x to a register of 32 bits, calls ::emulator::ptx::add<s32>(register 0, register 1, 1),
// and copies register 0 to sum. (PTX ISA 9.0; CUDA's "Inline PTX Assembly" for the operands.)
#ifndef INLINE_PTX_H
#define INLINE_PTX_H

#include "emulator/rewrite/source.h"

// Rewrites the asm statement whose keyword is the token at `keyword`. Fails, with path and line, for an instruction
// that the emulator lacks, and for text that it cannot read.
bool inline_ptx_rewrite(source *file, size_t keyword, error_text *error);

#endif
