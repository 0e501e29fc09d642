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

// The kernel's template arguments are the names of the template's parameters, also where auto stands for one.
static const struct {
  const char *kernel, *twin;
} whole[] = {
    {"template <typename T, T (*F)(T, T), int N = 2> __global__ void k(T *x) {}",
     "template <typename T, T (*F)(T, T), int N = 2> ::emulator::kernel_constant<static_cast<"
     "void (*) (T *x)>(&k<T, F, N>)> emulator_twin_k(T *x);"},
    {"template <void (&...Fs)(int)> __global__ void k() {}", "(&k<Fs...>)> emulator_twin_k();"},
    {"__global__ void k(auto *x, int autonomous, const auto &y = 2) {}",
     "template <typename emulator_auto_0, typename emulator_auto_1> "
     "::emulator::kernel_constant<static_cast<void (*) (emulator_auto_0 *x, int autonomous, const "
     "emulator_auto_1 &y)>(&k<emulator_auto_0, emulator_auto_1>)> emulator_twin_k("
     "emulator_auto_0 *x, int autonomous, const emulator_auto_1 &y = 2);"},
    {"template <int N> __global__ void k(auto x, auto &&...rest) {}",
     "template <int N, typename emulator_auto_0, typename... emulator_auto_1> "
     "::emulator::kernel_constant<static_cast<void (*) (emulator_auto_0 x, emulator_auto_1 "
     "&&...rest)>(&k<N, emulator_auto_0, emulator_auto_1...>)>"},
};

Test(kernel_twin, arguments) {
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
    text_buffer out = {0};
    error_text error = {""};
    cr_assert(rewrite_preprocessed("a.cu", whole[i].kernel, strlen(whole[i].kernel), &out, &error),
              "%s", error.text);
    text_buffer_append(&out, "", 1);
    cr_expect_not_null(strstr(out.data, whole[i].twin), "in: %s\nout: %s", whole[i].kernel,
                       out.data);
    text_buffer_free(&out);
  }
}
