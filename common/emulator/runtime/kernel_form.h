// The parameters of kernels, for programs that name a kernel by its address alone.
#ifndef KERNEL_FORM_H
#define KERNEL_FORM_H

#include "emulator.h"

// Fills a request for the kernel: name, body and a copy of the arguments, which the caller frees. Returns
// cudaErrorInvalidDeviceFunction, with a sentence on stderr, for a kernel of which nothing is known.
cudaError_t kernel_form_request(emulator_launch_request *request, const void *kernel,
                                void **arguments);

// Returns the form of the kernel, which stays, or NULL for a kernel of which nothing is known.
const emulator_kernel_form *kernel_form_of(const void *kernel);

#endif
