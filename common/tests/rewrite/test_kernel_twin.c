// The twin of a kernel repeats the kernel's parameters, as the source has them (emulator/rewrite/kernel_twin.h).
#include "emulator/rewrite/rewrite.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
  const char *kernel, *type; // the kernel's type in the twin
} cases[] = {
    {"template <typename T> __global__ void k(T *x, T y = T(2)) {}", "(T *x, T y)"},
    {"template <typename... Ts> __global__ void k(int *x, Ts... xs) {}", "(int *x, Ts... xs)"},
    {"template <typename... Ts> __global__ void k(Ts *...xs) {}", "(Ts *...xs)"},
    {"template <int N> __global__ void k(tag<N == 2> x, tag<N != 2 && N->y> z = {}) {}",
     "(tag<N == 2> x, tag<N != 2 && N->y> z)"},
    {"__global__ void k(a::b<c, d> x,\n int y = 4) {}", "(a::b<c, d> x, int y)"},
};

Test(kernel_twin, parameters) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    text_buffer out = {0};
    error_text error = {""};
    cr_assert(rewrite_preprocessed("a.cu", cases[i].kernel, strlen(cases[i].kernel), &out, &error),
              "%s", error.text);
    text_buffer_append(&out, "", 1);
    const char *cast = strstr(out.data, "static_cast<void (*) ");
    cr_assert_not_null(cast, "%s", out.data);
    cast += strlen("static_cast<void (*) ");
    cr_expect_eq(strncmp(cast, cases[i].type, strlen(cases[i].type)), 0, "in: %s\nout: %s",
                 cases[i].kernel, cast);
    text_buffer_free(&out);
  }
}
