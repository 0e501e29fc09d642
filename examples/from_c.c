// Calls a step of the lab from a C program that knows nothing of the lab but attention.h.
//
//   make -f make/build.mk DEVICE=cpu build/cpu/examples/from_c-04      links it with build/cpu/step04.so
//   make -f make/build.mk DEVICE=gpu build/gpu/examples/from_c-04      links it with build/gpu/step04.so, for a GPU
//
// The exit status is 0 when the answer is right, 1 when it is wrong or a CUDA call fails, and 2 when the step does not
// take the shape.
//
// The answer is known without a reference: Q is 0, so all scores are equal, all keys weigh the same, and each row of
// O is the mean of the rows of V that it sees. With the causal mask, row i sees the rows 0 to i. Row j of V holds j in
// every column, so row i of O holds i / 2, and its lse is log(i + 1).
#include "attention.h"
#include "numeric/float16.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 1, HEADS = 2, SEQ = 100, DIM = 64, ROWS = BATCH * HEADS * SEQ };

// A value near 50 has steps of 2^-5 in fp16, so rounding moves it by 2^-6 at most.
static const double O_TOLERANCE = 0x1p-6, LSE_TOLERANCE = 1e-3;

// Every CUDA function returns an error code, and so does attention_forward. None of them may be ignored.
static void must(cudaError_t status, const char *doing) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "error: %s: %s\n", doing, cudaGetErrorString(status));
  exit(1);
}

// Allocates `bytes` of device memory, and copies the host's into it unless `host` is NULL.
static void *device_copy(const void *host, size_t bytes) {
  void *device = NULL;
  must(cudaMalloc(&device, bytes), "allocating device memory");
  if (host) must(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copying to the device");
  return device;
}

int main(void) {
  static uint16_t zeros[ROWS][DIM], v[ROWS][DIM], o[ROWS][DIM]; // fp16
  static float lse[ROWS];
  for (int row = 0; row < ROWS; row++) {
    for (int column = 0; column < DIM; column++)
      v[row][column] = fp16_from_float((float)(row % SEQ));
  }

  const attention_shape shape = {
      .dtype = ATTENTION_FP16,
      .batch = BATCH,
      .heads = HEADS,
      .kv_heads = HEADS,
      .seq_q = SEQ,
      .seq_kv = SEQ,
      .head_dim = DIM,
      .causal = true,
      .scale = 0.125f, // 1 / sqrt(64)
  };
  const char *reason = attention_unsupported(&shape);
  if (reason) {
    fprintf(stderr, "error: step %s cannot take this shape: %s\n", attention_name(), reason);
    return 2;
  }

  const size_t workspace_bytes = attention_workspace_bytes(&shape);
  attention_args args = {
      .shape = shape,
      .q = device_copy(zeros, sizeof zeros),
      .k = device_copy(zeros, sizeof zeros),
      .v = device_copy(v, sizeof v),
      .o = device_copy(NULL, sizeof o),
      .lse = device_copy(NULL, sizeof lse),
      .workspace = workspace_bytes > 0 ? device_copy(NULL, workspace_bytes) : NULL,
  };
  // The launch returns at once. An error inside the kernel shows when the program waits for the stream.
  must(attention_forward(&args, NULL), "launching the step");
  must(cudaStreamSynchronize(NULL), "running the step");
  must(cudaMemcpy(o, args.o, sizeof o, cudaMemcpyDeviceToHost), "copying O back");
  must(cudaMemcpy(lse, args.lse, sizeof lse, cudaMemcpyDeviceToHost), "copying lse back");

  double o_error = 0, lse_error = 0;
  bool good = true; // written so that a NaN is not good
  for (int row = 0; row < ROWS; row++) {
    const int i = row % SEQ;
    for (int column = 0; column < DIM; column++) {
      const double error = fabs((double)fp16_to_float(o[row][column]) - i / 2.0);
      good = good && error <= O_TOLERANCE;
      o_error = fmax(o_error, error);
    }
    const double error = fabs((double)lse[row] - log(i + 1.0));
    good = good && error <= LSE_TOLERANCE;
    lse_error = fmax(lse_error, error);
  }
  printf("step %s, called from C\n", attention_name());
  printf("O    %s: largest error %.3g, allowed %.3g\n", good ? "ok" : "WRONG", o_error,
         O_TOLERANCE);
  printf("lse  largest error %.3g, allowed %.3g\n", lse_error, LSE_TOLERANCE);

  void *const buffers[] = {(void *)args.q, (void *)args.k, (void *)args.v,
                           args.o,         args.lse,       args.workspace};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    must(cudaFree(buffers[i]), "freeing memory");
  return good ? 0 : 1;
}
