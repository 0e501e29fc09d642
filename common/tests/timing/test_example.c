// The example of common/timing/README.md runs, and its text there is the same.
#include "example.h"

#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Test(example, runs) {
  enum { BUFFERS = 5 }; // four hold twice an L2 cache of two buffers
  const size_t bytes = COUNT * sizeof(float);
  float *values = malloc(BUFFERS * bytes);
  float *buffers = NULL;
  error_text error;
  cr_assert(values && cudaMalloc((void **)&buffers, BUFFERS * bytes) == cudaSuccess);
  for (size_t i = 0; i < BUFFERS * COUNT; i++) values[i] = 1;
  cudaMemcpy(buffers, values, BUFFERS * bytes, cudaMemcpyHostToDevice);
  cr_assert(time_it(buffers, 2 * bytes, &error), "%s", error.text);
  cr_assert(cudaMemcpy(values, buffers, BUFFERS * bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  // The launches took turns: each buffer has as many as any other, or one more, and was doubled as a whole.
  // After 128 of them a number is infinite, as 2^128 is.
  float least = INFINITY;
  for (size_t i = 0; i < BUFFERS; i++) least = fminf(least, values[i * COUNT]);
  for (size_t i = 0; i < BUFFERS * COUNT; i++) {
    const float first = values[i / COUNT * COUNT];
    cr_expect(values[i] == first && (first == least || first == 2 * least) && first >= 2,
              "number %zu is %g", i, (double)values[i]);
  }
  cudaFree(buffers);
  free(values);
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  cr_assert(file, "cannot read %s: run the test in the repository's root", path);
  char *text = calloc(1 << 16, 1);
  cr_assert(text && fread(text, 1, (1 << 16) - 1, file) > 0);
  fclose(file);
  return text;
}

Test(example, is_the_one_in_the_readme) {
  char *source = read_file("common/tests/timing/example.cu");
  char *readme = read_file("common/timing/README.md");
  char *begin = strstr(source, "// --- begin\n");
  char *end = strstr(source, "// --- end\n");
  cr_assert(begin && end && begin < end);
  begin = strchr(begin, '\n') + 1;
  *end = '\0';
  cr_expect(strstr(readme, begin), "common/timing/README.md does not show what runs:\n%s", begin);
  free(source);
  free(readme);
}
