// nvcc-cpu --mode=sanitize: what host code does wrong, of which a kernel knows nothing.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(nvcc_cpu_host, .init = lab_enter, .fini = lab_leave);

// `options` are words for the compiler, such as a macro.
static script_result sanitized(const char *text, const char *options) {
  char path[256];
  snprintf(path, sizeof path, "%s/host.cu", lab_work);
  FILE *file = fopen(path, "w");
  cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
  return lab_run("lab=$PWD; exec 2>&1; cd %s && "
                 "$lab/scripts/nvcc-cpu --mode=sanitize %s host.cu -o host && ./host",
                 lab_work, options);
}

static void expect_findings(const script_result *result, int count) {
  int found = 0;
  for (const char *at = result->out; (at = strstr(at, "========= ")) != NULL; at += 10)
    found += at[10] != ' ';
  cr_expect_eq(found, count, "%d findings, not %d: %s", found, count, result->out);
}

// Memory that the host may use lies beside the memory of the device, and is allocated after a line was reported.
static const char accesses[] =
    "#include <cstdio>\n"
    "#include <cstring>\n"
    "#include <vector>\n"
    "__global__ void fill(float *x) { x[threadIdx.x] = threadIdx.x; }\n"
    "int main() {\n"
    "  float *d, *managed, *pinned, copy[32];\n"
    "  cudaMallocManaged(&managed, 128);\n"
    "  cudaMalloc(&d, 128);\n"
    "  cudaMallocHost(&pinned, 128);\n"
    "  std::vector<float> own(1 << 16);\n"
    "  cudaHostRegister(own.data(), own.size() * sizeof(float), cudaHostRegisterDefault);\n"
    "  for (float *x : {d, managed, pinned, own.data()}) fill<<<1, 32>>>(x);\n"
    "  cudaDeviceSynchronize();\n"
    "  cudaMemcpy(copy, d, 128, cudaMemcpyDefault);\n"
    "  for (int i = 0; i < 32; i++) copy[i] += managed[i] + pinned[i] + own[i];\n"
    "#ifndef RIGHT\n"
    "  for (int i = 0; i < 32; i++) copy[i] += d[i]; // read\n"
    "  d[1] = 5;\n"
    "  double *later; cudaMallocAsync(&later, 8, 0);\n"
    "  *later += 1;\n"
    "  memcpy(copy, d, 128);\n"
    "#endif\n"
    "  printf(\"sum %g\\n\", copy[1]);\n"
    "}\n";

Test(nvcc_cpu_host, accesses_to_device_memory_are_reported_once_a_line, .timeout = 120) {
  script_result result = sanitized(accesses, "");
  EXPECT_STATUS(result, 1);
  EXPECT(result, "Invalid read of 4 bytes of device memory by host code", "at main in host.cu:17",
         "copy[i] += d[i]; // read", "inside an allocation of 128 bytes",
         "hint: host code cannot read device memory",
         "copy it with cudaMemcpy, or allocate it "
         "with cudaMallocManaged",
         "Invalid write of 4 bytes", "host.cu:18", "copy to it with", "Invalid read of 8 bytes",
         "host.cu:20", "Invalid write of 8 bytes", "Invalid read of 128 bytes", "host.cu:21");
  expect_findings(&result, 5);
  result = sanitized(accesses, "-DRIGHT");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "sum 4");
  expect_findings(&result, 0);
}

// The program goes on after each of them, as one does that looks at no error.
static const char failures[] =
    "#include <cstdlib>\n"
    "__constant__ float weights[4];\n"
    "__device__ int places[8];\n"
    "__global__ void fill(float *x) { x[threadIdx.x] = 1; }\n"
    "__global__ void take(int **place) { *place = places + 2; }\n"
    "int main() {\n"
    "  const int n = 1000;\n"
    "  float *d, *host = (float *)calloc(n, sizeof(float));\n"
    "  cudaMalloc(&d, n); // its sizeof is forgotten\n"
    "  cudaMemcpy(d, host, n * sizeof(float), cudaMemcpyHostToDevice);\n"
    "  for (int i = 0; i < 2; i++) cudaMemsetAsync(d + 200, 0, 1000, 0);\n"
    "  cudaMemcpy(host, d, 8, cudaMemcpyHostToDevice);\n"
    "  cudaMemcpyToSymbol(weights, host, 32);\n"
    "  int **place; cudaMallocManaged(&place, sizeof *place); take<<<1, 1>>>(place);\n"
    "  cudaDeviceSynchronize(); cudaMemcpy(host, *place, 8, cudaMemcpyDeviceToHost);\n"
    "  cudaFree(host);\n"
    "  fill<<<1, 2000>>>(d);\n"
    "  fill<<<1, 32>>>(d);\n"
    "}\n";

Test(nvcc_cpu_host, calls_that_fail_are_reported, .timeout = 120) {
  const script_result result = sanitized(failures, "");
  EXPECT_STATUS(result, 1);
  EXPECT(result, "cudaMemcpy has failed: invalid argument (cudaErrorInvalidValue)",
         "at main in host.cu:10", "cudaMemcpy(d, host, n * sizeof(float)",
         "4000 bytes do not fit into the destination, which has 1000: byte 0 of an allocation of "
         "1000 bytes",
         "cudaMemsetAsync has failed", "host.cu:11", "which has 200: byte 800 of", "host.cu:12",
         "the destination is no device memory", "host.cu:13",
         "32 bytes from byte 0 on do not fit into a variable of 16 bytes", "cudaMemcpy has failed",
         "host.cu:15",
         "the source is byte 8 of the variable places, which is not known as device memory: if it "
         "is a __device__ variable, call cudaGetSymbolAddress for it before. A GPU refuses its "
         "address from host code and takes it from a kernel; here both are the same",
         "cudaFree has failed", "host.cu:16", "Launch of a kernel has failed", "host.cu:17",
         "in kernel fill");
  expect_findings(&result, 8); // the launch's with the sentence that a plain run has as well
}

// These answer a question, or give back what an earlier call or a kernel's fault has left.
static const char answers[] =
    "__global__ void fill(float *x) { x[threadIdx.x] = 1; }\n"
    "int main() {\n"
    "  float *d, milliseconds; cudaEvent_t event; cudaStream_t stream;\n"
    "  cudaMalloc(&d, 128); cudaEventCreate(&event); cudaStreamCreate(&stream);\n"
    "  for (int i = 0; i < 9; i++) cudaMemsetAsync(d, 0, 128, stream);\n"
    "  cudaEventRecord(event, stream);\n"
    "  if (cudaStreamQuery(stream) != cudaErrorNotReady) return 5;\n"
    "  cudaEventQuery(event); cudaEventElapsedTime(&milliseconds, event, event);\n"
    "  cudaPeekAtLastError(); cudaGetLastError(); cudaDeviceSynchronize();\n"
    "#ifdef FAULT\n"
    "  fill<<<1, 32>>>(nullptr);\n"
    "  if (cudaDeviceSynchronize() != cudaErrorIllegalAddress) return 6;\n"
    "  fill<<<1, 32>>>(d); cudaFree(d);\n"
    "#endif\n"
    "}\n";

Test(nvcc_cpu_host, answers_and_the_error_of_a_kernel_are_no_failures, .timeout = 120) {
  setenv("EMU_GPUS", "2", 1);
  script_result result = sanitized(answers, "");
  EXPECT_STATUS(result, 0);
  expect_findings(&result, 0);
  result = sanitized(answers, "-DFAULT");
  EXPECT_STATUS(result, 1);
  EXPECT(result, "Invalid __global__ write");
  expect_findings(&result, 1);
}

// Kernels have memory of the emulator from new, and host code that of the program's own new.
Test(nvcc_cpu_host, new_is_the_programs_own, .timeout = 120) {
  const script_result result = sanitized(
      "#include <cstdio>\n"
      "#include <new>\n"
      "#include <string>\n"
      "void *operator new(size_t bytes) {\n"
      "  void *memory;\n"
      "  return cudaMallocManaged(&memory, bytes) == cudaSuccess ? memory : nullptr;\n"
      "}\n"
      "void operator delete(void *memory) noexcept { cudaFree(memory); }\n"
      "__global__ void add(int *sum) {\n"
      "  int *own = new int(2);\n"
      "  *sum += *own;\n"
      "  delete own;\n"
      "}\n"
      "int main() {\n"
      "  int *sum = new int(3);\n"
      "  add<<<1, 1>>>(sum);\n"
      "  cudaDeviceSynchronize();\n"
      "  printf(\"%s\\n\", (\"the sum is the number \" + std::to_string(*sum)).c_str());\n"
      "  delete sum;\n"
      "}\n",
      "");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "the sum is the number 5");
  expect_findings(&result, 0);
}

Test(nvcc_cpu_host, several_orders_of_threads, .timeout = 60) {
  char path[128];
  snprintf(path, sizeof path, "%s/seeds.cu", lab_work);
  toolkit_write(path, "#include <cstdio>\n#include <cstdlib>\n"
                      "int main() {\n"
                      "  const char *seed = getenv(\"EMU_SEED\");\n"
                      "  printf(\"run %s\\n\", seed ? seed : \"plain\");\n"
                      "  return seed && atoi(seed) == 2 ? 1 : 0;\n}\n");
  script_result result = lab_run(MAKE "cuda FILE=%s SEEDS=2", path);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "run plain\n", "cuda: it ended with 0 in each of 2 orders of threads\n");
  cr_expect_null(strstr(result.out, "run 1"), "the output of another order: %s", result.out);
  result = lab_run(MAKE "cuda FILE=%s SEEDS=1", path);
  EXPECT(result, "cuda: it ended with 0 in one order of threads\n");
  result = lab_run(MAKE "cuda FILE=%s SEEDS=4", path);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "cuda: that was with EMU_SEED=2\n");
  result = lab_run(MAKE "cuda FILE=%s SEEDS=0", path);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: SEEDS is \"0\": give a number from 1 on\n");
  result = lab_run("EMU_SEED=3 " MAKE "cuda FILE=%s SEEDS=2", path);
  EXPECT(result, "leave one of the two out\n");
}
