// Inputs and expected outputs for parameters that a kernel's threads share.
#include "emulator/rewrite/rewrite.h"

#include <criterion/criterion.h>
#include <string.h>

#define MARK(name) "{ ::emulator::grid_constant(" name ");"

static const struct {
  const char *in, *out;
} cases[] = {
    {"void k(const __grid_constant__ T x, int *p) { f(&x); }\n",
     "void k(const T x, int *p) " MARK("x") " f(&x); }\n"},
    {"void k(__grid_constant__ const T x) {}\n", "void k(const T x) " MARK("x") "}\n"},
    {"void k(int i, T const __grid_constant__ x = {1, 2}) {}\n",
     "void k(int i, T const x = {1, 2}) " MARK("x") "}\n"},
    {"void k(const __grid_constant__ a::map<T, f(2)> x, const __grid_constant__ typename T::map "
     "y)\n"
     "{\n}\n",
     "void k(const a::map<T, f(2)> x, const typename T::map y)\n" MARK(
         "x") " ::emulator::grid_constant(y);\n}\n"},
    {"void k(const __grid_constant__ decltype(f()) x) noexcept {}\n",
     "void k(const decltype(f()) x) noexcept " MARK("x") "}\n"},
    {"void k(const __grid_constant__ Ts... xs) {}\n",
     "void k(const Ts... xs) { ::emulator::grid_constant(xs...);}\n"},
    {"__global__ void __cluster_dims__() k(const __grid_constant__ T x) {}\n",
     "__global__ void k(const T x) " MARK("x") "}\n"},
    // Parameters without a name.
    {"void k(const __grid_constant__ T) {}\n", "void k(const T) {}\n"},
    {"void k(__grid_constant__ const a::T, T const __grid_constant__) {}\n",
     "void k(const a::T, T const ) {}\n"},
    {"void k(const __grid_constant__ struct T, const __grid_constant__ unsigned int) {}\n",
     "void k(const struct T, const unsigned int) {}\n"},
    // Declarations.
    {"void k(const __grid_constant__ T x);\n", "void k(const T x);\n"},
    // A whole kernel in a macro, the body alone, and the words alone.
    {"#define KERNEL(k) void k(const __grid_constant__ T x) { f(x); }\n",
     "#define KERNEL(k) void k(const T x) " MARK("x") " f(x); }\n"},
    {"void k(const __grid_constant__ T x) BODY({ f(x); })\n",
     "void k(const T x) BODY(" MARK("x") " f(x); })\n"},
    {"#define SHARED const __grid_constant__\n", "#define SHARED const __grid_constant__\n"},
    {"#ifndef __grid_constant__\n#endif\n", "#ifndef __grid_constant__\n#endif\n"},
};

Test(grid_constant, golden_pairs) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    text_buffer out = {0};
    error_text error = {""};
    cr_assert(rewrite_source("a.cu", cases[i].in, strlen(cases[i].in), &out, &error), "%s\n%s",
              cases[i].in, error.text);
    text_buffer_append(&out, "", 1);
    static const char first_line[] = "#line 1 \"a.cu\"\n";
    cr_expect_str_eq(out.data + strlen(first_line), cases[i].out, "in: %s\nout: %s\nexpected: %s",
                     cases[i].in, out.data, cases[i].out);
    text_buffer_free(&out);
  }
}

// The twin of a template's kernel has the same parameters (emulator/rewrite/kernel_twin.h).
Test(grid_constant, preprocessed) {
  static const char in[] =
      "template <typename T> __global__ void k(const __grid_constant__ T x) { f(x); }\n";
  text_buffer out = {0};
  error_text error = {""};
  cr_assert(rewrite_preprocessed("a.cu", in, strlen(in), &out, &error), "%s", error.text);
  text_buffer_append(&out, "", 1);
  cr_expect_not_null(strstr(out.data, "__global__ void k(const T x) " MARK("x") " f(x); }"), "%s",
                     out.data);
  text_buffer_free(&out);
}
