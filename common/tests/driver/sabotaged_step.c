// A step for testing the program around it. Computes on the CPU, so it needs neither a GPU nor the
// emulator's kernels, and is right until the environment variable SABOTAGE spoils it:
//   zeros         O is all zero
//   unwritten     O is left as it was
//   lse           lse is one too large in its last row
//   o_alone       O is all zero where lse is not asked for
//   outside       one byte is written past the end of O
//   input         K's first element is changed
//   launch        the launch returns an error
//   wild          a kernel writes to an address that is none (sabotaged_kernel.cu)
//   one_shape     O is all zero for the shape that SABOTAGE_SHAPE describes
//   unsupported   the step takes no shape at all
//   odd           the step takes no odd seq_q, but says so only when asked again about the same shape, as a
//                 configuration may refuse what the step takes in another one
//   workspace     the step wants more memory than there is
//   exit          the launch ends the process with exit(0); quick_exit and _exit likewise
//   locale        the step changes how the process writes numbers to the user's way
//   commit        the step changes LAB_COMMIT, as if a commit were made meanwhile
#define _GNU_SOURCE
#include "numeric/float16.h"
#include "reference/reference.h"
#include "shape/shape.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((weak)) cudaError_t sabotaged_kernel(cudaStream_t stream);

static bool sabotage(const char *kind) {
  const char *chosen = getenv("SABOTAGE");
  return chosen && strcmp(chosen, kind) == 0;
}

const char *attention_name(void) { return "00_sabotaged"; }

const char *attention_summary(void) { return "on the CPU, spoiled on demand"; }

// Asks the device, as steps for one kind of GPU do.
const char *attention_unsupported(const attention_shape *shape) {
  static shape_text last;
  int devices;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return "it finds no device";
  const shape_text asked = shape_describe(shape);
  const bool again = strcmp(last.text, asked.text) == 0;
  last = asked;
  if (sabotage("odd") && again && shape->seq_q % 2 == 1) return "it takes nothing odd";
  return sabotage("unsupported") ? "it takes nothing" : NULL;
}

size_t attention_workspace_bytes(const attention_shape *shape) {
  (void)shape;
  return sabotage("workspace") ? SIZE_MAX : 12;
}

static bool is_spoiled(const attention_shape *shape) {
  const char *chosen = getenv("SABOTAGE_SHAPE");
  return sabotage("one_shape") && chosen && strcmp(shape_describe(shape).text, chosen) == 0;
}

static void spoil(const attention_args *args, uint16_t *o, float *lse) {
  const size_t o_bytes = shape_q_count(&args->shape) * sizeof *o;
  if (sabotage("zeros") || is_spoiled(&args->shape) || (sabotage("o_alone") && !args->lse))
    memset(o, 0, o_bytes);
  if (sabotage("unwritten")) memset(o, 0xff, o_bytes);
  if (sabotage("lse")) lse[shape_lse_count(&args->shape) - 1] += 1.0f;
  if (sabotage("outside")) cudaMemset((char *)args->o + o_bytes, 0, 1);
  if (sabotage("input")) cudaMemset((void *)args->k, 0x11, 2);
}

cudaError_t attention_forward(const attention_args *args, cudaStream_t stream) {
  if (sabotage("wild")) return sabotaged_kernel(stream);
  (void)stream; // everything else waits
  const attention_shape *shape = &args->shape;
  const size_t q_count = shape_q_count(shape);
  const size_t kv_count = shape_kv_count(shape);
  const size_t lse_count = shape_lse_count(shape);
  if (sabotage("exit")) exit(0);
  if (sabotage("quick_exit")) quick_exit(0);
  if (sabotage("_exit")) _exit(0);
  if (sabotage("locale")) setlocale(LC_ALL, "");
  if (sabotage("commit")) setenv("LAB_COMMIT", "later22", 1);
  if (sabotage("launch")) return cudaErrorInvalidConfiguration;

  uint16_t *q = malloc(q_count * sizeof *q);
  uint16_t *k = malloc(kv_count * sizeof *k);
  uint16_t *v = malloc(kv_count * sizeof *v);
  float *lse = malloc(lse_count * sizeof *lse);
  cudaMemcpy(q, args->q, q_count * sizeof *q, cudaMemcpyDeviceToHost);
  cudaMemcpy(k, args->k, kv_count * sizeof *k, cudaMemcpyDeviceToHost);
  cudaMemcpy(v, args->v, kv_count * sizeof *v, cudaMemcpyDeviceToHost);
  reference_result exact;
  error_text error;
  if (!reference_compute(shape, q, k, v, &exact, &error)) return cudaErrorMemoryAllocation;
  for (size_t i = 0; i < q_count; i++) { // O takes q's place
    const float value = (float)exact.o[i];
    q[i] = shape->dtype == ATTENTION_FP16 ? fp16_from_float(value) : bf16_from_float(value);
  }
  for (size_t i = 0; i < lse_count; i++) lse[i] = (float)exact.lse[i];
  spoil(args, q, lse);
  cudaMemcpy(args->o, q, q_count * sizeof *q, cudaMemcpyHostToDevice);
  if (args->lse) cudaMemcpy(args->lse, lse, lse_count * sizeof *lse, cudaMemcpyHostToDevice);
  reference_free(&exact);
  free(q);
  free(k);
  free(v);
  free(lse);
  return cudaGetLastError();
}
