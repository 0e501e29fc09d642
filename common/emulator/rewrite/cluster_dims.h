// The clusters of a kernel: __cluster_dims__(x, y, z).
#ifndef CLUSTER_DIMS_H
#define CLUSTER_DIMS_H

#include "emulator/rewrite/source.h"

// Takes the `__cluster_dims__(2, 1)` at the token `word` away from a kernel, and puts at the beginning of its body
//   static constexpr ::emulator::cluster_blocks emulator_cluster_blocks = {2, 1};
// with attributes. The name that the compiler gives this variable contains the kernel's, by which the runtime finds it
// (runtime/kernel_cluster.h). So each instance of a template has its own, and the numbers may depend on the template's
// arguments. The word of a declaration counts for the definition in the same file. Fails, with path and line, when no kernel
// follows. In a macro that lacks the kernel's body the word stays.
bool cluster_dims_rewrite(source *file, size_t word, error_text *error);

#endif
