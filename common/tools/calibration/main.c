// Runs the calibration kernels, each once: under a profiler on a GPU, or counted by the emulator.
#include "calibration/calibration.h"
#include "error/error.h"
#include "finish/finish.h"
#ifdef CALIBRATION_COUNTED
#include "emulator/count.h"
#endif

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: calibrate\n"
                            "\n"
                            "Launches each calibration kernel once, in the order of the rows it "
                            "prints: kernel,column,expected,\n"
                            "emulator. The last is empty on a GPU, where a profiler counts.\n";

static bool cuda_good(cudaError_t status, const char *what, error_text *error) {
  return status == cudaSuccess ||
         fail(error, "%s: %s (%s)", what, cudaGetErrorString(status), cudaGetErrorName(status));
}

static void print_rows(const calibration_case *kernel) {
#ifdef CALIBRATION_COUNTED
  const count_values counted = emulator_count_total();
#endif
  for (int column = 0; column < COUNT_COLUMNS; column++) {
    printf("%s,%s,%" PRIu64 ",", kernel->name, column_names[column].name,
           kernel->expected.value[column]);
#ifdef CALIBRATION_COUNTED
    printf("%" PRIu64, counted.value[column]);
#endif
    putchar('\n');
  }
}

static bool run(const float *in, float *out, error_text *error) {
  puts("kernel,column,expected,emulator");
  for (size_t i = 0; i < calibration_count(); i++) {
    const calibration_case kernel = calibration_at(i);
#ifdef CALIBRATION_COUNTED
    emulator_count_reset();
#endif
    if (!cuda_good(calibration_launch(i, in, out), kernel.name, error) ||
        !cuda_good(cudaDeviceSynchronize(), kernel.name, error)) {
      return false;
    }
    print_rows(&kernel);
  }
  return true;
}

static int calibrate(int argc, char **argv) {
  (void)argv;
  if (argc != 1) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  const size_t bytes = CALIBRATION_FLOATS * sizeof(float);
  void *in = NULL, *out = NULL;
  error_text error;
  const bool good = cuda_good(cudaMalloc(&in, bytes), "memory for the input", &error) &&
                    cuda_good(cudaMalloc(&out, bytes), "memory for the output", &error) &&
                    cuda_good(cudaMemset(in, 0, bytes), "clearing the input", &error) &&
                    run(in, out, &error);
  if (!good) fprintf(stderr, "error: %s\n", error.text);
  cudaFree(out);
  cudaFree(in);
  return good ? EXIT_OK : EXIT_BAD_INPUT;
}

int main(int argc, char **argv) { return finish_run(calibrate, argc, argv); }
