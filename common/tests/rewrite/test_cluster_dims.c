// Inputs and expected outputs for the clusters of kernels, and what is refused.
#include "emulator/rewrite/rewrite.h"

#include <criterion/criterion.h>
#include <string.h>

#define BODY(blocks)                                                                               \
  "{ static constexpr ::emulator::cluster_blocks emulator_cluster_blocks "                         \
  "__attribute__((used)) = {" blocks                                                               \
  "}; static_assert(::emulator::cluster_has_blocks(emulator_cluster_blocks), \"a side of "         \
  "__cluster_dims__ is 0: a cluster has 1 block at least in x, y and z\");"

static const struct {
  const char *in, *out; // or the error
} cases[] = {
    {"__global__ void __cluster_dims__(2, 1, 1) k(int *x) { *x = 1; }\n",
     "__global__ void k(int *x) " BODY("2, 1, 1") " *x = 1; }\n"},
    {"__cluster_dims__(2)\n__global__ void k()\n{\n}\n",
     "\n__global__ void k()\n" BODY("2") "\n}\n"},
    {"__global__ void __launch_bounds__(64, f(1)) __cluster_dims__(4) k() {}\n",
     "__global__ void __launch_bounds__(64, f(1)) k() " BODY("4") "}\n"},
    {"__global__ void __cluster_dims__(4) __launch_bounds__(64) k() {}\n",
     "__global__ void __launch_bounds__(64) k() " BODY("4") "}\n"},
    {"template <int N = f({1})> __global__ void __cluster_dims__(N,\n  g<N>(2)) k(T x = {N}) {}\n",
     "template <int N = f({1})> __global__ void \n  k(T x = {N}) " BODY("N, g<N>(2)") "}\n"},
    {"static __global__ void __cluster_dims__() k() noexcept(true) [[gnu::cold]] {}\n",
     "static __global__ void k() noexcept(true) [[gnu::cold]] {}\n"},
    {"static __global__ void __cluster_dims__(2) k() noexcept(true) [[gnu::cold]] {}\n",
     "static __global__ void k() noexcept(true) [[gnu::cold]] " BODY("2") "}\n"},
    // A declaration, whose definition is elsewhere, or has the word as well, or not, or is one of several.
    {"__global__ void __cluster_dims__(2) k();\n", "__global__ void k();\n"},
    {"__global__ void __cluster_dims__(2) k();\n__global__ void __cluster_dims__(2) k() {}\n",
     "__global__ void k();\n__global__ void k() " BODY("2") "}\n"},
    {"__global__ void __cluster_dims__(2) k();\n__global__ void k(int) {}\n__global__ void "
     "__cluster_dims__(2) k() {}\n",
     "__global__ void k();\n__global__ void k(int) {}\n__global__ void k() " BODY("2") "}\n"},
    {"__global__ void __cluster_dims__(2) k();\n\n__global__ void k() {}\n",
     "__global__ void k();\n\n__global__ void k() " BODY("2") "}\n"},
    {"__global__ void __cluster_dims__(2) k(int);\n__global__ void __cluster_dims__(2) k(int);\n"
     "void k(char) {}\n__global__ void k(int x) {}\n",
     "__global__ void k(int);\n__global__ void k(int);\nvoid k(char) {}\n__global__ void k(int "
     "x) " BODY("2") "}\n"},
    {"__global__ void __cluster_dims__(2) k(int x);\n__global__ void k() {}\n__global__ void k( "
     "int x "
     ") {}\n",
     "__global__ void k(int x);\n__global__ void k() {}\n__global__ void k( int x ) " BODY(
         "2") "}\n"},
    // In a macro.
    {"#define KERNEL(k) __global__ void __cluster_dims__(2) k() { f(); }\n",
     "#define KERNEL(k) __global__ void k() " BODY("2") " f(); }\n"},
    {"#define PAIR __global__ void __cluster_dims__(2)\n",
     "#define PAIR __global__ void __cluster_dims__(2)\n"},
    {"#ifdef __cluster_dims__\n#undef __cluster_dims__\n#define __cluster_dims__(...)\n#endif\n",
     "#ifdef __cluster_dims__\n#undef __cluster_dims__\n#define __cluster_dims__(...)\n#endif\n"},
    {"__global__ void __cluster_dims__(2) k() BODY({})\nvoid f() {}\n",
     "a.cu:1: no kernel with a body follows this __cluster_dims__"},
    {"\n__cluster_dims__ = 1;\n", "a.cu:2: no kernel with a body follows this __cluster_dims__"},
    {"\n\n__global__ void __cluster_dims__(2", "a.cu:3: no kernel with a body follows"},
};

Test(cluster_dims, golden_pairs) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    text_buffer out = {0};
    error_text error = {""};
    const bool done = rewrite_source("a.cu", cases[i].in, strlen(cases[i].in), &out, &error);
    if (strncmp(cases[i].out, "a.cu:", 5) == 0) {
      cr_expect(!done && strstr(error.text, cases[i].out) == error.text, "in: %s\nerror: %s",
                cases[i].in, error.text);
    } else {
      cr_assert(done, "%s\n%s", cases[i].in, error.text);
      text_buffer_append(&out, "", 1);
      static const char first_line[] = "#line 1 \"a.cu\"\n";
      cr_expect_str_eq(out.data + strlen(first_line), cases[i].out, "in: %s\nout: %s\nexpected: %s",
                       cases[i].in, out.data, cases[i].out);
    }
    text_buffer_free(&out);
  }
}
