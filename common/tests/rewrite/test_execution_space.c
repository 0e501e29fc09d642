// Calls between host and device that nvcc refuses, and others that look like them.
#include "emulator/rewrite/rewrite.h"

#include <criterion/criterion.h>
#include <string.h>

typedef bool rewriter(const char *, const char *, size_t, text_buffer *, error_text *);

// The error, "" if there is none.
static error_text error_of(rewriter *rewrite, const char *text) {
  text_buffer out = {0};
  error_text error = {""};
  if (rewrite("a.cu", text, strlen(text), &out, &error)) error.text[0] = '\0';
  text_buffer_free(&out);
  return error;
}

#define KERNEL     "__global__ void k(int *p) { *p = f(*p); }\n"
#define HOST_CALLS "int main() { return f(2); }\n"

Test(execution_space, refusals) {
  static const struct {
    const char *text, *line, *sentence;
  } cases[] = {
      {"int f(int x) { return x; }\n" KERNEL, "a.cu:2: f ", "is a function of the host"},
      {"static inline int f(int);\n" KERNEL, "a.cu:2: f ", "write __device__ in front of it"},
      {"template <typename T = int>\nT f(T x) { return x; }\n" KERNEL, "a.cu:3: f ", "of the host"},
      {"template <int N> int f(int x) { return x; }\n"
       "__device__ int g(int x) { return x * f<2>(x); }\n",
       "a.cu:2: f ", "of the host"},
      {"namespace n {\nstd::size_t f(int x) { return x; }\n" KERNEL "}\n", "a.cu:3: f ",
       "of the host"},
      {"extern \"C\" {\nvoid f(int *);\n__global__ void k(int *p) {\n  if (*p) f(p);\n}\n}\n",
       "a.cu:4: f ", "of the host"},
      {"__device__ int f(int x) { return x; }\n" HOST_CALLS, "a.cu:2: f ",
       "is a function of the device"},
      {"__global__ void f(int x) {}\nint main() { f(3); }\n", "a.cu:2: f ",
       "launch it with <<<grid, block>>> behind its name"},
      {"__global__ void f(int x) {}\n__device__ void g() { f(3); }\n", "a.cu:2: f ", "is a kernel"},
      {"void f(int x) {}\nint main() { f<<<1, 1>>>(3); }\n", "a.cu:2: f ",
       "is launched and is no kernel"},
      {"__device__ void f(int x) {}\nint main() { f<<<1, 1>>>(3); }\n", "a.cu:2: f ",
       "write __global__ in front of it"},
      {"void f(int *p) { p[threadIdx.x] = 3; }\n", "a.cu:1: threadIdx ",
       "or __global__ if it is a kernel"},
      {"void f(int *p) {\n  *p = 3;\n  __syncthreads();\n}\n", "a.cu:3: __syncthreads ",
       "is a function of the device"},
      {"int n = 3;\n__global__ void k(int *p) { *p = n; }\n", "a.cu:2: n ",
       "is a variable of the host"},
      {"static std::vector<float> n;\n__device__ float g(int i) { return n[i]; }\n", "a.cu:2: n ",
       "pass it as an argument"},
      {"float *n;\n__global__ void k() {\n  float sum = 0, x = n[1];\n}\n", "a.cu:3: n ",
       "make it a constant with constexpr"},
      {"int n[2] = {3, 4};\n__global__ void k(int *p) { g(p, n, 5); }\n", "a.cu:2: n ",
       "of the host"},
      {"__global__ void k() {\n  __shared__ int x = 3;\n}\n",
       "a.cu:2: ", "a __shared__ variable cannot have an initial value"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rewriter *const both[] = {rewrite_source, rewrite_preprocessed};
    for (size_t k = 0; k < 2; k++) {
      const error_text error = error_of(both[k], cases[i].text);
      cr_expect(strncmp(error.text, cases[i].line, strlen(cases[i].line)) == 0 &&
                    strstr(error.text, cases[i].sentence),
                "%s\nerror: %s", cases[i].text, error.text);
    }
  }
}

Test(execution_space, calls_that_are_right_or_uncertain) {
  static const char *const texts[] = {
      "__device__ int f(int x) { return x; }\n" KERNEL,
      "__host__ __device__ int f(int x) { return x; }\n" KERNEL HOST_CALLS,
      "constexpr int f(int x) { return x; }\n" KERNEL,
      KERNEL, // of a header
      "int f(int x) { return x; }\n" HOST_CALLS,
      // Of two functions of one name the compiler takes the right one.
      "int f(long x) { return x; }\n__device__ int f(int x) { return x; }\n" KERNEL HOST_CALLS,
      "void f(int n) { f<<<1, 1>>>(&n); }\n__global__ void f(int *p) {}\n",
      // Another thing of this name: a member, a lambda, a parameter, a variable.
      "int f(int x);\n__global__ void k(thing t) { t.f(3); t.p->f(3); space::f(3); }\n",
      "int f(int x);\n__global__ void k() { const auto f = [](int x) { return x; }; f(3); }\n",
      "int f(int x);\ntemplate <typename F> __global__ void k(F f) { f(3); }\n",
      "int f(int x);\n__global__ void k() { decltype(f(3)) x; }\n",
      "struct f { void k(); };\nint g(f x);\n__global__ void k() { f(3); }\n",
      "void kernel();\ntemplate <typename F> void run(F kernel) { kernel<<<1, 1>>>(); }\n",
      // A launch from a kernel, a lambda of the device, a table of functions.
      "__global__ void f(int x) {}\n__global__ void k() { f<<<1, 1>>>(3); }\n",
      "__device__ int f(int x);\nint main() { each([=] __device__(int i) { return f(i); }); }\n",
      "int f(int x);\n__global__ void k() { int f; f = 3; }\n",
      "int f(int x);\n__global__ void k() {\n  __shared__ int x[2 == 2 ? 1 : 2], y;\n}\n",
      // A variable of the device, a constant, and another thing of the variable's name.
      "__device__ int n;\n__global__ void k(int *p) { *p = n; }\n",
      "__constant__ float n[4];\n__global__ void k(float *p) { *p = n[0]; }\n",
      "const int n = 3;\n__global__ void k(int *p) { *p = n; }\n",
      "static constexpr int n = 3;\n__global__ void k(int *p) { *p = n; }\n",
      "int n;\nvoid g() { n = 3; }\n",
      "void g() { uint3 threadIdx = {}, blockIdx = {}; h(threadIdx, blockIdx); }\n",
      "__device__ int g() { return threadIdx.x; }\n",
      "float *n;\n__global__ void k(float *n) { n[1] = 2; }\n",
      "int n;\ntemplate <int n> __global__ void k(int *p) { *p = n; }\n",
      "int n;\n__global__ void k() { int i, n, m; n = 3; }\n",
      "int n;\n__global__ void k() { for (int i = 0, n = 5; i < n; i++) g(i); }\n",
      "int n;\n__global__ void k(thing t) { t.n = 3; const auto &[n, m] = t; g(n, m); }\n",
      "int n;\n__global__ void k(int *p) { *p = sizeof(n); }\n",
      // Brackets that do not match are for the compiler.
      "int f(int x) {\n" KERNEL,
      "}\nint f(int x);\n" KERNEL,
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cr_expect_str_eq(error_of(rewrite_source, texts[i]).text, "", "%s", texts[i]);
    cr_expect_str_eq(error_of(rewrite_preprocessed, texts[i]).text, "", "%s", texts[i]);
  }
}

// In a source that is not preprocessed a macro may hold __device__, and a branch may be left out.
Test(execution_space, macros_and_branches) {
  static const char *const texts[] = {
      "BOTH_SIDES int f(int x) { return x; }\n" KERNEL HOST_CALLS,
      "#define both __host__ __device__\nboth int f(int x) { return x; }\n" KERNEL,
      "#ifdef A\n__device__\n#endif\nint f(int x) { return x; }\n" KERNEL,
      "int f(int x);\n__global__ void k() {\n#ifndef __CUDA_ARCH__\n  f(3);\n#endif\n}\n",
      "void f(int x) { f<float><<<1, 1>>>(x); } // the kernel f<T> may be in a header\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    cr_expect_str_eq(error_of(rewrite_source, texts[i]).text, "", "%s", texts[i]);
  const error_text error = error_of(
      rewrite_source, "int f(int x);\n__global__ void k() {\n#pragma unroll\n  f(3);\n}\n");
  cr_expect(strstr(error.text, "a.cu:4: f is a function of the host"), "%s", error.text);
}

// Functions of a header of the system may run anywhere, and so may those of Thrust and CUB.
Test(execution_space, headers_of_libraries) {
  static const char *const texts[] = {
      "# 1 \"math.h\" 1 3\nint f(int x);\n# 2 \"a.cu\" 2\n" KERNEL,
      "# 1 \"/usr/include/cub/x.cuh\" 1\n__device__ int f(int);\nint g() { return f(3); }\n"
      "# 2 \"a.cu\" 2\n" KERNEL,
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    cr_expect_str_eq(error_of(rewrite_preprocessed, texts[i]).text, "", "%s", texts[i]);
  const error_text error =
      error_of(rewrite_preprocessed, "# 1 \"own.h\" 1\nint f(int x);\n# 2 \"a.cu\" 2\n" KERNEL);
  cr_expect(strstr(error.text, "a.cu:2: f is a function of the host"), "%s", error.text);
}

// In a module nvrtc may make all functions those of the device.
Test(execution_space, modules) {
  cr_expect_str_eq(error_of(rewrite_module, "int f(int x) { return x; }\n" KERNEL).text, "");
}
