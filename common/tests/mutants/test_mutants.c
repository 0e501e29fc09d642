// Tests each operator on a small source: which text it changes, and which it leaves unchanged.
#include "mutants/mutant.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// The source, and a list of its mutants in order, each written as "operator: `a` -> `b`".
typedef struct {
  const char *source;
  const char *changes[12];
} golden;

static void expect_mutants(const golden *it) {
  const source file = source_open("folder/k.cu", it->source, strlen(it->source));
  mutant_list mutants = {0};
  mutants_find(&file, &mutants);
  size_t expected = 0;
  while (it->changes[expected] != NULL) expected++;
  for (size_t i = 0; i < mutants.count || i < expected; i++) {
    text_buffer text = {0};
    if (i < mutants.count) {
      text_buffer_append_string(&text, mutants.items[i].kind);
      text_buffer_append_string(&text, ": ");
      mutant_append_change(&file, &mutants.items[i], &text);
    }
    text_buffer_append(&text, "", 1);
    cr_assert_str_eq(text.data, i < expected ? it->changes[i] : "", "mutant %zu of %zu of\n%s",
                     i + 1, mutants.count, it->source);
    text_buffer_free(&text);
  }
  mutants_free(&mutants);
  source copy = file;
  source_close(&copy);
}

#define EXPECT(...)                                                                                \
  do {                                                                                             \
    static const golden cases[] = {__VA_ARGS__};                                                   \
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) expect_mutants(&cases[i]);         \
  } while (0)

Test(operators, calls_that_synchronise) {
  EXPECT(
      {"{ __syncthreads(); }", {"barrier: `__syncthreads()` -> `(void)0`"}},
      {"if (x) __syncwarp(0xff);",
       {"guard: `x` -> `true`", "barrier: `__syncwarp(0xff)` -> `(void)0`"}},
      {"{ row_barrier<tile>(); }", {"barrier: `row_barrier<tile>()` -> `(void)0`"}},
      {"{ wgmma_fence(); wgmma_commit(); }",
       {"fence: `wgmma_fence()` -> `(void)0`", "arrival: `wgmma_commit()` -> `(void)0`"}},
      {"{ barriers_created(); }", {"fence: `barriers_created()` -> `(void)0`"}},
      {"{ writes_for_wgmma(); }", {"fence: `writes_for_wgmma()` -> `(void)0`"}},
      {"{ wait_for_keys(); }", {"wait: `wait_for_keys()` -> `(void)0`"}},
      {"{ wgmma_wait<1>(S); }", {"wait: `wgmma_wait<1>(S)` -> `(void)0`", "early: `1` -> `2`"}},
      {"{ __pipeline_wait_prior(tile::STAGES - 2); }",
       {"wait: `__pipeline_wait_prior(tile::STAGES - 2)` -> `(void)0`",
        "early: `tile::STAGES - 2` -> `(tile::STAGES - 2) + 1`"}},
      {"{ named_barrier_arrive(1, 256); }",
       {"arrival: `named_barrier_arrive(1, 256)` -> `(void)0`", "arrival: `256` -> `(256) / 2`"}},
      {"{ return barrier_arrive(&full[0]); }",
       {"arrival: `barrier_arrive(&full[0])` -> `(void)0`"}},
      {"{ barrier_create_all(full, 4 * n); }",
       {"call: `barrier_create_all(full, 4 * n)` -> `(void)0`",
        "arrival: `4 * n` -> `(4 * n) + 1`"}},
      {"{ barrier_arrive_expecting(&full, bytes); }",
       {"arrival: `barrier_arrive_expecting(&full, bytes)` -> `(void)0`",
        "arrival: `bytes` -> `(bytes) / 2`"}});
}

Test(operators, calls) {
  EXPECT({"{ mask_row(S, h); }", {"call: `mask_row(S, h)` -> `(void)0`"}},
         {"{ place.advance(); }", {"call: `place.advance()` -> `(void)0`"}},
         {"{ wgmma<half, 64>::shared(d, a); }", {NULL}}, // a name with template arguments inside
         {"{ scale_output(O, f); }", {"scale: `scale_output(O, f)` -> `(void)0`"}},
         {"{ int x = f(1); return g(2); }", {NULL}}, // the result is used
         {"dim3 grid(1); static_assert(a < b, \"\");", {NULL}},
         {"{ for (;;) f(a,\n  b); }", {"call: `f(a, b)` -> `(void)0`"}});
}

Test(operators, rings) {
  EXPECT({"{ barrier_wait(&full[place.stage], place.parity ^ 1); }",
          {"wait: `barrier_wait(&full[place.stage], place.parity ^ 1)` -> `(void)0`",
           "stage: `place.stage` -> `place.stage ? 0 : 1`",
           "parity: `place.parity ^ 1` -> `(place.parity ^ 1) ^ 1`"}},
         {"{ parity ^= 1; }", {"parity: `parity ^= 1` -> `(void)0`"}},
         {"int first = block % tile::STAGES * N;", {"stage: `block` -> `(block + 1)`"}},
         {"int bytes = sizeof(smem.K[stage]);", {NULL}},
         {"x = smem.K[stage];", {"stage: `stage` -> `stage ? 0 : 1`"}});
}

Test(operators, bounds) {
  EXPECT({"bool b = x < y;", {"bound: `<` -> `<=`"}}, {"bool b = x <= y;", {"bound: `<=` -> `<`"}},
         {"bool b = x > y;", {"bound: `>` -> `>=`"}}, {"bool b = x >= y;", {"bound: `>=` -> `>`"}},
         {"vec<vec<int>> x = f<4>(y) >> 2 << 1;", {NULL}}, {"template <typename T> T f();", {NULL}},
         {"kernel<<<grid, 64>>>(a->b);", {NULL}},
         {"for (int i = 0; i < n - 1; i++) {}",
          {"off-by-one: `0` -> `1`", "bound: `<` -> `<=`", "off-by-one: `- 1` -> ``"}},
         {"int x = y + 10 - 1 + z[-1];", {"off-by-one: `- 1` -> ``"}});
}

Test(operators, conditions) {
  EXPECT({"if (a == b) {}", {"guard: `a == b` -> `true`"}}, {"if constexpr (D == 64) {}", {NULL}},
         {"int x = a == b ? c : d;", {"guard: `a == b` -> `false`", "guard: `a == b` -> `true`"}},
         {"return f(x, is<A, B>::value ? c : d);",
          {"guard: `is<A, B>::value` -> `false`", "guard: `is<A, B>::value` -> `true`"}},
         {"bool x = a && f(b, c);", {"guard: `a &&` -> ``", "guard: `&& f(b, c)` -> ``"}},
         {"bool x = y || z ? a : b;",
          {"guard: `y ||` -> ``", "guard: `y || z` -> `false`", "guard: `y || z` -> `true`",
           "guard: `|| z` -> ``"}},
         {"auto &&x = y & z;", {NULL}});
}

Test(operators, factors_and_functions) {
  EXPECT({"x = shape.scale * LOG2_E;", {"scale: `shape.scale *` -> ``", "scale: `* LOG2_E` -> ``"}},
         {"row_sum *= correction[h];", {"scale: `correction[h]` -> `1`"}},
         {"for (int offset = 2; offset; offset /= 2) {}", {NULL}},
         {"float *factor = a * b;", {NULL}},
         {"x = min(a, fmaxf(b, c));", {"min-max: `min` -> `max`", "min-max: `fmaxf` -> `fminf`"}},
         {"x = __all_sync(m, p);", {"min-max: `__all_sync` -> `__any_sync`"}});
}

Test(operators, widths_and_alignments) {
  EXPECT({"const size_t row = (size_t)a * b;",
          {"narrow: `size_t` -> `int`", "narrow: `size_t` -> `int`"}},
         {"size_t f(size_t a);", {NULL}}, {"x = (long long)a;", {"narrow: `long long` -> `int`"}},
         {"constexpr int S_PAD = 8;", {"pad: `8` -> `4`"}},
         {"p = memory + (-at & 1023);", {"pad: `1023` -> `511`"}},
         {"__align__(32) float x[4];", {"pad: `32` -> `16`"}},
         {"bytes = sizeof(x) + 1024;", {"pad: `1024` -> `512`"}});
}

// Comments, strings, directives, assertions, and code that only nvcc compiles are left unchanged.
Test(source, is_left_alone_where_no_fault_can_be) {
  EXPECT({"// a < b; __syncthreads();\n/* __syncthreads(); */ x = \"a < b\";", {NULL}},
         {"#include <a.h>\n#if A < 2\n#endif\n", {NULL}},
         {"static_assert(A + 1 < B, \"a < b\");", {NULL}},
         {"#ifdef __CUDACC__\nx = a < b;\n#ifdef X\n#else\n#endif\n#else\nx = a > b;\n#endif\n",
          {"bound: `>` -> `>=`"}},
         {"#ifndef __CUDACC__\nx = a < b;\n#else\nx = a > b;\n#endif\nx = a >= b;",
          {"bound: `<` -> `<=`", "bound: `>=` -> `>`"}},
         {"#if !defined(X) || !defined(__CUDACC__)\nx = a < b;\n#else\nx = a > b;\n#if Y\n#else\n"
          "x = a > c;\n#endif\n#endif\nx = a >= b;",
          {"bound: `<` -> `<=`", "bound: `>=` -> `>`"}},
         {"#ifndef __CUDACC__\nx = a < b;\n#endif\n#if Y\n#else\nx = a > c;\n#endif\n",
          {"bound: `<` -> `<=`", "bound: `>` -> `>=`"}},
         {"#if !defined(X) && !defined(__CUDACC__)\nx = a < b;\n#else\nx = a > b;\n#endif\n",
          {"bound: `<` -> `<=`", "bound: `>` -> `>=`"}},
         {"#define CHOOSE(D) ((D) <= 32 \\\n  ? f() : g())\n",
          {"guard: `(D) <= 32` -> `false`", "guard: `(D) <= 32` -> `true`", "bound: `<=` -> `<`"}});
}

static char *written(const char *text, size_t index) {
  const source file = source_open("k.cu", text, strlen(text));
  mutant_list mutants = {0};
  text_buffer out = {0};
  mutants_find(&file, &mutants);
  cr_assert_lt(index, mutants.count);
  mutant_write(&file, &mutants.items[index], &out);
  text_buffer_append(&out, "", 1);
  mutants_free(&mutants);
  source copy = file;
  source_close(&copy);
  return out.data;
}

// The lines behind a fault keep their numbers, because reports and debug information use them.
Test(source, keeps_its_lines) {
  char *text = written("{ f(a, // first\n  b);\n}\n", 0);
  cr_assert_str_eq(text, "{ (void)0\n;\n}\n");
  free(text);
  text = written("#define F(a) \\\n  if (a &&  \\\n    b) g()\nx;\n", 1);
  cr_assert_str_eq(text, "#define F(a) \\\n  if (true\\\n) g()\nx;\n");
  free(text);
  text = written("{ barrier_create_all(full, 4 *\n  n); }\nx;\n", 1); // the line is still there
  cr_assert_str_eq(text, "{ barrier_create_all(full, (4 *\n  n) + 1); }\nx;\n");
  free(text);
}

static void expect_key(const char *text, size_t index, const char *expected) {
  const source file = source_open("steps/x/k.cu", text, strlen(text));
  mutant_list mutants = {0};
  text_buffer key = {0};
  mutants_find(&file, &mutants);
  cr_assert_lt(index, mutants.count);
  mutant_append_key(&file, &mutants, index, &key);
  text_buffer_append(&key, "", 1);
  cr_assert_str_eq(key.data, expected);
  text_buffer_free(&key);
  mutants_free(&mutants);
  source copy = file;
  source_close(&copy);
}

// A key is the text of its line, wherever the line is, and a number among equal lines.
Test(source, names_its_mutants) {
  expect_key("x;\n  __syncthreads(); // tiles\n", 0,
             "k.cu: barrier: `__syncthreads()` -> `(void)0`: __syncthreads(); // tiles");
  expect_key("x;\ny;\n\t__syncthreads();  // tiles\n", 0,
             "k.cu: barrier: `__syncthreads()` -> `(void)0`: __syncthreads(); // tiles");
  expect_key("{ __syncthreads();\n}\n{ __syncthreads();\n}\n", 1,
             "k.cu: barrier: `__syncthreads()` -> `(void)0`: { __syncthreads(); (2)");
}
