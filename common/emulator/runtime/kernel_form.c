#define _GNU_SOURCE
#include "kernel_form.h"

#include "errors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct known_kernel {
  struct known_kernel *next;
  emulator_kernel_form form;
} known_kernel;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static known_kernel *known;

static const emulator_kernel_form *find(const void *kernel) {
  const known_kernel *entry = known;
  while (entry != NULL && entry->form.kernel != kernel) entry = entry->next;
  return entry != NULL ? &entry->form : NULL;
}

void emulator_know_kernel(const emulator_kernel_form *form) {
  pthread_mutex_lock(&mutex);
  known_kernel *entry = find(form->kernel) == NULL ? malloc(sizeof *entry) : NULL;
  if (entry != NULL) { // without memory the launch says that the kernel is not known
    *entry = (known_kernel){known, *form};
    known = entry;
  }
  pthread_mutex_unlock(&mutex);
}

const emulator_kernel_form *kernel_form_of(const void *kernel) {
  pthread_mutex_lock(&mutex);
  const emulator_kernel_form *form = find(kernel);
  pthread_mutex_unlock(&mutex);
  return form;
}

cudaError_t kernel_form_request(emulator_launch_request *request, const void *kernel,
                                void **arguments) {
  const emulator_kernel_form *form = kernel_form_of(kernel);
  if (form == NULL) {
    fprintf(
        stderr,
        "========= a kernel is launched by its address alone, and the emulator does not know its "
        "parameters: write the kernel's name where it is cast to void *\n");
    return errors_record(cudaErrorInvalidDeviceFunction);
  }
  void *packed = NULL;
  if (posix_memalign(&packed, 64, form->bytes + 64) != 0) {
    return errors_record(cudaErrorMemoryAllocation);
  }
  form->pack(packed, kernel, arguments);
  request->kernel = kernel;
  request->name = form->name;
  request->body = form->body;
  request->arguments = packed;
  request->arguments_bytes = form->bytes;
  return cudaSuccess;
}

static cudaError_t launch(const void *kernel, dim3 grid, dim3 block, void **arguments,
                          size_t shared_bytes, cudaStream_t stream, bool cooperative) {
  RETURN_IF_STICKY();
  emulator_launch_request request = {.grid = grid,
                                     .block = block,
                                     .dynamic_shared_bytes = shared_bytes,
                                     .stream = stream,
                                     .cooperative = cooperative};
  cudaError_t error = kernel_form_request(&request, kernel, arguments);
  if (error != cudaSuccess) return error;
  error = emulator_launch(&request);
  free(request.arguments);
  return error;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  return launch(kernel, grid, block, arguments, shared_bytes, stream, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
  return launch(kernel, grid, block, arguments, shared_bytes, stream, true);
}
