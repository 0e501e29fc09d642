// Inline PTX: what the rewriter makes of an asm statement calls these (rewrite/inline_ptx.h). The names are those of the
// PTX ISA 9.0: mul.wide.s32 is mul_wide_<s32>, and what changes no value, such as .approx, is left out.
#ifndef EMULATOR_DETAIL_PTX_H
#define EMULATOR_DETAIL_PTX_H
#include "./own_letters.h"

#include <cuda_runtime.h>

#include "ptx/arithmetic.h"
#include "ptx/conversion.h"
#include "ptx/hopper.h"
#include "ptx/matrix.h"
#include "ptx/memory.h"
#include "ptx/product.h"
#include "ptx/warp.h"

#undef EMULATOR_PTX

#include "./own_letters_end.h"

#endif
