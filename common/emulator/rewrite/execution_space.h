// Calls that nvcc refuses because of where a function runs: a function of the host called in a kernel, a __device__ function
// called on the host, a kernel called without <<<...>>>, and a launch of a function that is no kernel (CUDA C++ Programming
// Guide, "Function Execution Space Specifiers"); uses of a variable of the host in a kernel; and threadIdx and blockIdx on
// the host, which nvcc compiles and cannot link. Host and device are one program in the emulator, so g++ would take all of
// these, and no GPU would ever run the program.
#ifndef EXECUTION_SPACE_H
#define EXECUTION_SPACE_H

#include "emulator/rewrite/source.h"

// Fails, with path and line, at the first such call or use. Only names count that all declarations of the text give the same
// kind of function, and only calls outside of classes. So a call that cannot be read for certain passes.
bool execution_space_check(const source *file, error_text *error);

#endif
