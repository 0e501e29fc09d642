// Inputs and expected outputs for dynamic shared memory, and the declarations that are refused.
#include "emulator/rewrite/rewrite.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct {
  const char *before; // text in front of the declaration
  const char *in;
  const char *out;
} golden;

#define MEMORY    "(::emulator::dynamic_shared_memory())"
#define ALIGNED   "(::emulator::dynamic_shared_memory<16>())"
#define FLOAT_OUT "float (&s)[] = *reinterpret_cast<float (*)[]>" MEMORY ";"
#define FLOATS(memory)                                                                             \
  "float (&s)[] = *reinterpret_cast<float (*)[]>(::emulator::dynamic_shared_memory<" memory ">())" \
  ";"

static const golden declarations[] = {
    // Forms of the declaration.
    {"void f() {", "extern __shared__ float s[];", FLOAT_OUT},
    {"void f() {", "extern __shared__ __align__(16) unsigned char smem[];",
     "unsigned char (&smem)[] = *reinterpret_cast<unsigned char (*)[]>" ALIGNED ";"},
    {"void f() {", "__shared__ extern float s[];", FLOAT_OUT},
    {"void f() {", "__shared__ extern __shared__ float s[];", FLOAT_OUT},
    {"void f() {", "alignas(16) extern __shared__ float s[];", FLOATS("16")},
    {"void f() {", "extern alignas(alignof(float4)) __shared__ float s[];",
     FLOATS("alignof(float4)")},
    {"void f() {", "extern alignas(float4) __shared__ float s[];", FLOATS("float4")},
    {"void f() {", "extern __shared__ __align__(16) alignas(2 * tile::ROW) float s[];",
     FLOATS("16, 2 * tile::ROW")},
    {"void f() {", "extern __shared__ __attribute__((unused)) float s[];", FLOAT_OUT},
    {"void f() {", "extern __shared__ __attribute__((aligned(16))) float s[];", FLOATS("16")},
    {"void f() {", "[[maybe_unused]] extern __shared__ float s[];", FLOAT_OUT},
    {"void f() {", "extern __shared__ float s [];",
     "float (&s) [] = *reinterpret_cast<float (*)[]>" MEMORY ";"},
    {"void f() {", "extern __shared__ float s[] __attribute__((aligned(16)));",
     "float (&s)[] = *reinterpret_cast<float (*)[]>" ALIGNED " ;"},
    {"void f() {", "extern volatile __shared__ float s[];",
     "volatile float (&s)[] = *reinterpret_cast<volatile float (*)[]>" MEMORY ";"},
    {"void f() {", "float extern __shared__ s[];", FLOAT_OUT},
    {"void f() {", "extern __shared__ vec<vec<float>, 4> s[];",
     "vec<vec<float>, 4> (&s)[] = *reinterpret_cast<vec<vec<float>, 4> (*)[]>" MEMORY ";"},
    {"void f() {", "extern __shared__ typename T::element s[][32];",
     "typename T::element (&s)[][32] = *reinterpret_cast<typename T::element (*)[][32]>" MEMORY
     ";"},
    {"void f() {", "extern __shared__ float *s[];",
     "float *(&s)[] = *reinterpret_cast<float * (*)[]>" MEMORY ";"},
    {"void f() {", "extern // dynamic\n__shared__ __align__(\n16) float\n  s[];",
     "// dynamic\n\nfloat\n  (&s)[] = *reinterpret_cast<float (*)[]>" ALIGNED ";"},
    // Where it stands.
    {"template <class T> __global__ void f(T x) { if (x) {", "extern __shared__ float s[];",
     FLOAT_OUT},
    {"switch (x) { case 0: again:", " extern __shared__ float s[];", " " FLOAT_OUT},
    {"namespace a::b { void f() { int x[] = {1};", "extern __shared__ float s[];", FLOAT_OUT},
    {"struct a : b<c> { void f() const {", "extern __shared__ float s[];", FLOAT_OUT},
    {"struct point f(int x) {", "extern __shared__ float s[];", FLOAT_OUT},
    {"enum e { x }; enum e f() {", "extern __shared__ float s[];", FLOAT_OUT},
    {"auto f = [] __device__ () {", "extern __shared__ float s[];", FLOAT_OUT},
    {"extern \"C\" { void f() {", "extern __shared__ float s[];", FLOAT_OUT},
    {"extern \"C\" __global__ void f() {", "extern __shared__ float s[];", FLOAT_OUT},
    {"#ifdef A\nvoid f(int x) {\n#else\nvoid f() {\n#endif\n }\nvoid g() {",
     "extern __shared__ float s[];", FLOAT_OUT},
    {"void f() {\n#if A\n } else {\n#else\n }\n#endif\n", "extern __shared__ float s[];",
     NULL}, // the last branch closed the function
    {"void f() {\n#if A\n { {\n#endif\n\"}\"; '}'; // }\n", "extern __shared__ float s[];",
     FLOAT_OUT},
    {"void f() {\n#ifdef A\n }\n#endif\n", "extern __shared__ float s[];", FLOAT_OUT},
    {"void f()\n#define X namespace\n{", "extern __shared__ float s[];", FLOAT_OUT},
    {"void f() {\n#define CLOSE }\n", "extern __shared__ float s[];", FLOAT_OUT},
    {"#define DYNAMIC(T) ", "extern __shared__ T s[]",
     "T (&s)[] = *reinterpret_cast<T (*)[]>" MEMORY},
    {"#define DYNAMIC(T) do { int x; \\\n ", "extern __shared__ \\\n T s[]; ",
     "\\\n T (&s)[] = *reinterpret_cast<T (*)[]>" MEMORY "; "},
    // Outside a function: refused.
    {"", "extern __shared__ float s[];", NULL},
    {"\n\n\n", "extern __shared__ float s[];", NULL},
    {"void f() { }\n", "__shared__ extern float s[];", NULL},
    {"namespace {\n", "extern __shared__ float s[];", NULL},
    {"inline namespace a {\n", "extern __shared__ float s[];", NULL},
    {"extern \"C\" {\n", "extern __shared__ float s[];", NULL},
    {"struct __align__(16) a final : b {\n", "extern __shared__ float s[];", NULL},
    {"template <class T> class a<T *> {\n", "extern __shared__ float s[];", NULL},
    {"void f() { struct [[nodiscard]] a::b {\n", "extern __shared__ float s[];", NULL},
    {"union {\n", "extern __shared__ float s[];", NULL},
    {"#ifdef __cplusplus\nextern \"C\" {\n#endif\n", "extern __shared__ float s[];", NULL},
    {"#if 0\nvoid f() {\n#endif\n", "extern __shared__ float s[];", NULL},
    {"#ifdef A\nvoid f(int x) {\n#else\nvoid f() {\n#endif\n }\n", "extern __shared__ float s[];",
     NULL},
    {"enum class a : int {\n", "extern __shared__ float s[];", NULL},
    {"#define OPEN {\n", "extern __shared__ float s[];", NULL},
    // Forms that are refused.
    {"void f() {\n", "extern __shared__ float s;", NULL},
    {"void f() {\n", "extern __shared__ float s[64];", NULL},
    {"void f() {\n", "extern __shared__ float s[], t[];", NULL},
    {"void f() {\n", "extern __shared__ s[];", NULL},
    {"void f() {\n", "extern __shared__ float (s)[];", NULL},
    {"void f() {\n", "extern __shared__ float s[] int x;", NULL},
    {"#define SHARED ", "extern __shared__", NULL},
};

static size_t line_of(const char *text) {
  size_t line = 1;
  for (; *text != '\0'; text++) line += *text == '\n';
  return line;
}

Test(shared_array, golden_pairs) {
  for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
    const golden *it = &declarations[i];
    char in[1024], expected[1024];
    snprintf(in, sizeof in, "%s%s", it->before, it->in);
    snprintf(expected, sizeof expected, "#line 1 \"a.cu\"\n%s%s", it->before,
             it->out != NULL ? it->out : "");
    text_buffer out = {0};
    error_text error = {""};
    bool done = rewrite_source("a.cu", in, strlen(in), &out, &error);
    if (it->out == NULL) {
      char place[32];
      snprintf(place, sizeof place, "a.cu:%zu: an extern __shared__ ", line_of(it->before));
      cr_expect(!done && strncmp(error.text, place, strlen(place)) == 0, "in: %s\nerror: %s", in,
                error.text);
    } else {
      cr_assert(done, "%s\n%s", in, error.text);
      text_buffer_append(&out, "", 1);
      cr_expect_str_eq(out.data, expected, "in:       %s\nout:      %s\nexpected: %s", in, out.data,
                       expected);
    }
    text_buffer_free(&out);
  }
}
