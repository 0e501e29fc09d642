// Kernel launches: kernel<<<grid, block, smem, stream>>>(a, b).
#ifndef LAUNCH_H
#define LAUNCH_H

#include "emulator/rewrite/kernel_twin.h"
#include "emulator/rewrite/source.h"

// Rewrites the launch whose `<<<` is the token at `open` into
//   ::emulator::launcher(kernel, "kernel", grid, block, smem, stream)(a, b)
// The string is the kernel as the source spells it; a macro's parameter in it becomes what the
// macro is called with. In preprocessed text, where the kernel has a twin, it becomes
//   ::emulator::deduce<decltype(TWIN(a, b))>(CALL, "kernel", grid, block, smem, stream)(a, b)
// with a lambda CALL, which calls the kernel. Fails, with path and line, when this
// is no launch.
bool launch_rewrite(source *file, size_t open, const kernel_list *kernels, error_text *error);

#endif
