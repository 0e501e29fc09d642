// Inputs and expected outputs for kernel launches, and the launches that are refused.
#include "emulator/rewrite/rewrite.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct {
  const char *in;
  const char *out; // behind the #line directive
} golden;

// Each pair is the text that the rewriter reads, and the text that it writes after its #line directive.
static const golden launches[] = {
    // Number and kind of launch arguments.
    {"case 1:k<<<1, 2>>>();", "case 1: ::emulator::launcher(k, \"k\", 1, 2)();"},
    {"k<<<1, 2>>>();", "::emulator::launcher(k, \"k\", 1, 2)();"},
    {"k<<<1, 2, 3>>>(a);", "::emulator::launcher(k, \"k\", 1, 2, 3)(a);"},
    {"k<<<g, b, s, t>>>(a, b);", "::emulator::launcher(k, \"k\", g, b, s, t)(a, b);"},
    {"k<<<dim3(1, 2), dim3{3, 4}>>>();",
     "::emulator::launcher(k, \"k\", dim3(1, 2), dim3{3, 4})();"},
    {"k<<<1, (vec<vec<int>>::size)>>>();",
     "::emulator::launcher(k, \"k\", 1, (vec<vec<int>>::size))();"},
    {"k<<<vec<vec<int>>::size, 1>>>();",
     "::emulator::launcher(k, \"k\", vec<vec<int>>::size, 1)();"},
    {"k<<<f<vec<vec<int>>>(), 1>>>();", "::emulator::launcher(k, \"k\", f<vec<vec<int>>>(), 1)();"},
    {"k<<<1, f<vec<int>>>>>();", "::emulator::launcher(k, \"k\", 1, f<vec<int>>)();"},
    {"k<<<f<a, b>(), g<c, d, e>(), 0, s>>>();",
     "::emulator::launcher(k, \"k\", f<a, b>(), g<c, d, e>(), 0, s)();"},
    {"k<<<n < m ? n : m, 1>>>();", "::emulator::launcher(k, \"k\", n < m ? n : m, 1)();"},
    {"k<<<n > m ? n : m, 1>>>();", "::emulator::launcher(k, \"k\", n > m ? n : m, 1)();"},
    {"k<<<n >> 4, 1 << 7>>>();", "::emulator::launcher(k, \"k\", n >> 4, 1 << 7)();"},
    {"k<<<a->grid, b->*block>>>();", "::emulator::launcher(k, \"k\", a->grid, b->*block)();"},
    {"k<<<1, size(\">>>\")>>>();", "::emulator::launcher(k, \"k\", 1, size(\">>>\"))();"},
    {"k<<<1, '>'>>>();", "::emulator::launcher(k, \"k\", 1, '>')();"},
    {"k<<<1, R\"(>>>()\"[0]>>>();", "::emulator::launcher(k, \"k\", 1, R\"(>>>()\"[0])();"},
    {"k<<<1'000, 0x1F'FFu>>>();", "::emulator::launcher(k, \"k\", 1'000, 0x1F'FFu)();"},
    {"k<<<[&] { return n > 3; }(), 1>>>();",
     "::emulator::launcher(k, \"k\", [&] { return n > 3; }(), 1)();"},
    {"k<<<[] { j<<<1, 1>>>(); return 1; }(), 1>>>();",
     "::emulator::launcher(k, \"k\", [] { ::emulator::launcher(j, \"j\", 1, 1)(); return 1; }(), "
     "1)();"},
    // White space, comments and line breaks stay where they are.
    {"k <<< 1 , 2 >>> ( a );", "::emulator::launcher(k , \"k\",  1 , 2 ) ( a );"},
    {"k<<<\n  1, // >>>\n  2\n>>>(a,\n  b);",
     "::emulator::launcher(k, \"k\", \n  1, // >>>\n  2\n)(a,\n  b);"},
    {"k // the kernel\n  <<<1, 2>>>();",
     "::emulator::launcher(k // the kernel\n  , \"k\", 1, 2)();"},
    {"k<<<1, 2 /* >>>() */>>>();", "::emulator::launcher(k, \"k\", 1, 2 /* >>>() */)();"},
    {"k<<<1,\r\n 2>>>();\r\n", "::emulator::launcher(k, \"k\", 1,\r\n 2)();\r\n"},
    {"// comment \\\n k<<<oops\nk<<<1, 2>>>();",
     "// comment \\\n k<<<oops\n::emulator::launcher(k, \"k\", 1, 2)();"},
    {"k<<<grid,\n#ifdef BIG\n 256, 0, s\n#else\n 128, 0, s\n#endif\n>>>();",
     "::emulator::launcher(k, \"k\", grid,\n#ifdef BIG\n 256, 0, s\n#else\n 128, 0, "
     "s\n#endif\n)();"},
    // The kernel.
    {"kernel<Element, D><<<1, 2>>>();",
     "::emulator::launcher(kernel<Element, D>, \"kernel<Element, D>\", 1, 2)();"},
    {"kernel< Element ,\n  /* depth */ D ><<<1, 2>>>();",
     "::emulator::launcher(kernel< Element ,\n  /* depth */ D >, \"kernel< Element , D >\", 1, "
     "2)();"},
    {"k<vec<vec<int>>><<<1, 2>>>();",
     "::emulator::launcher(k<vec<vec<int>>>, \"k<vec<vec<int>>>\", 1, 2)();"},
    {"k<(a > b)><<<1, 2>>>();", "::emulator::launcher(k<(a > b)>, \"k<(a > b)>\", 1, 2)();"},
    {"k<1 << 7, a <= 3><<<1, 2>>>();",
     "::emulator::launcher(k<1 << 7, a <= 3>, \"k<1 << 7, a <= 3>\", 1, 2)();"},
    {"k<p->n, &s::m><<<1, 2>>>();",
     "::emulator::launcher(k<p->n, &s::m>, \"k<p->n, &s::m>\", 1, 2)();"},
    {"k<'\"', '\\\\'><<<1, 2>>>();",
     "::emulator::launcher(k<'\"', '\\\\'>, \"k<'\\\"', '\\\\\\\\'>\", 1, 2)();"},
    {"k<R\"(\n)\"[0]><<<1, 2>>>();",
     "::emulator::launcher(k<R\"(\n)\"[0]>, \"k<R\\\"(\\n)\\\"[0]>\", 1, 2)();"},
    {"lab::step<2>::k<D><<<1, 2>>>();",
     "::emulator::launcher(lab::step<2>::k<D>, \"lab::step<2>::k<D>\", 1, 2)();"},
    {"return ::lab::k<<<1, 2>>>();",
     "return ::emulator::launcher(::lab::k, \"::lab::k\", 1, 2)();"},
    {"return ::k<<<1, 2>>>();", "return ::emulator::launcher(::k, \"::k\", 1, 2)();"},
    {"S<T>::template k<D><<<1, 2>>>();",
     "::emulator::launcher(S<T>::template k<D>, \"S<T>::template k<D>\", 1, 2)();"},
    {"if (x) (k)<<<1, 2>>>();", "if (x) ::emulator::launcher((k), \"(k)\", 1, 2)();"},
    {"else (k)<<<1, 2>>>();", "else ::emulator::launcher((k), \"(k)\", 1, 2)();"},
    {"(big ? k<1> : k<2>)<<<1, 2>>>();",
     "::emulator::launcher((big ? k<1> : k<2>), \"(big ? k<1> : k<2>)\", 1, 2)();"},
    {"choose(D)<<<1, 2>>>();", "::emulator::launcher(choose(D), \"choose(D)\", 1, 2)();"},
    {"table[i][j].k<<<1, 2>>>();",
     "::emulator::launcher(table[i][j].k, \"table[i][j].k\", 1, 2)();"},
    {"table[i](D)<<<1, 2>>>();", "::emulator::launcher(table[i](D), \"table[i](D)\", 1, 2)();"},
    {"pick<D>(x)<<<1, 2>>>();", "::emulator::launcher(pick<D>(x), \"pick<D>(x)\", 1, 2)();"},
    {"a.b<<<1, 2>>>();", "::emulator::launcher(a.b, \"a.b\", 1, 2)();"},
    {"x = 1; this->a()->b<<<1, 2>>>();",
     "x = 1; ::emulator::launcher(this->a()->b, \"this->a()->b\", 1, 2)();"},
    {"static_cast<void (*)(int)>(k)<<<1, 2>>>(3);",
     "::emulator::launcher(static_cast<void (*)(int)>(k), \"static_cast<void (*)(int)>(k)\", 1, "
     "2)(3);"},
    {"f(), k<<<1, 2>>>();", "f(), ::emulator::launcher(k, \"k\", 1, 2)();"},
    {"CHECK((k<<<1, 2>>>(), sync()));", "CHECK((::emulator::launcher(k, \"k\", 1, 2)(), sync()));"},
    {"k\xC3\xA9<<<1, 2>>>();", "::emulator::launcher(k\xC3\xA9, \"k\xC3\xA9\", 1, 2)();"},
    {"a<<<1, 2>>>(); b<<<3, 4>>>();",
     "::emulator::launcher(a, \"a\", 1, 2)(); ::emulator::launcher(b, \"b\", 3, 4)();"},
    {"#if 0 || A\nk<<<1, 2>>>();\n#endif",
     "#if 0 || A\n::emulator::launcher(k, \"k\", 1, 2)();\n#endif"},
    // Macros.
    {"#define LAUNCH(k) k<<<1, 1>>>()\n",
     "#define LAUNCH(k) ::emulator::launcher(k, #k, 1, 1)()\n"},
    {"#  define LAUNCH(k, D) \\\n  lab::k<D><<<1, \\\n  1>>>()\n",
     "#  define LAUNCH(k, D) \\\n  ::emulator::launcher(lab::k<D>, \"lab::\" #k \"<\" #D \">\", 1, "
     "\\\n  1)()\n"},
    {"#define LAUNCH(kind) kind ## _kernel<D><<<1, 1>>>()",
     "#define LAUNCH(kind) ::emulator::launcher(kind ## _kernel<D>, #kind \"_kernel<D>\", 1, 1)()"},
    {"#define LAUNCH(k, ...) k<<<__VA_ARGS__>>>()",
     "#define LAUNCH(k, ...) ::emulator::launcher(k, #k, __VA_ARGS__)()"},
    {"#define CONFIGURED k<<<1, 1>>>\nCONFIGURED(a);",
     "#define CONFIGURED ::emulator::launcher(k, \"k\", 1, 1)\nCONFIGURED(a);"},
    {"#define A(k) \\\r\n k<<<1, 1>>>()\r\n",
     "#define A(k) \\\r\n ::emulator::launcher(k, #k, 1, 1)()\r\n"},
    {"#define RUN (k)<<<1, 1>>>()", "#define RUN ::emulator::launcher((k), \"(k)\", 1, 1)()"},
    {"#define RUN ::k<<<1, 1>>>()", "#define RUN ::emulator::launcher(::k, \"::k\", 1, 1)()"},
    {"#define A {\nk<<<1, 1>>>();", "#define A {\n::emulator::launcher(k, \"k\", 1, 1)();"},
    {"/* line */ #define A(k) k<<<1, /*\n*/ 1>>>()",
     "/* line */ #define A(k) ::emulator::launcher(k, #k, 1, /*\n*/ 1)()"},
};

static bool rewrite(const char *in, text_buffer *out, error_text *error) {
  return rewrite_source("dir/a.cu", in, strlen(in), out, error);
}

Test(launch, golden_pairs) {
  static const char line[] = "#line 1 \"dir/a.cu\"\n";
  for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
    text_buffer out = {0};
    error_text error = {""};
    bool done = rewrite(launches[i].in, &out, &error);
    cr_assert(done, "%s\n%s", launches[i].in, error.text);
    text_buffer_append(&out, "", 1);
    cr_assert(strncmp(out.data, line, strlen(line)) == 0, "no #line in %s", out.data);
    cr_expect_str_eq(out.data + strlen(line), launches[i].out,
                     "in:       %s\nout:      %s\nexpected: %s", launches[i].in,
                     out.data + strlen(line), launches[i].out);
    text_buffer_free(&out);
  }
}

// These texts hold nothing to rewrite, even if they look so.
static const char *const untouched[] = {
    "",
    "\n\n",
    "no newline at the end",
    "int x = a << b; int y = a >> b; a <<= 1; b >>= 2;",
    "vec<vec<vec<int>>> v;",
    "// k<<<1, 2>>>()\n/* k<<<1\n>>> */",
    "const char *s = \"k<<<1, 2>>>()\";",
    "const char *s = \"\\\"k<<<1, 2>>>()\";",
    "const char *s = \"\\\\\"; // k<<<1, 2>>>()",
    "const char *s = \"one \\\n k<<<1, 2>>>()\";",
    "auto s = R\"(k<<<1, 2>>>())\";",
    "auto s = u8R\"x()\" k<<<1 )x\";",
    "auto s = R\"x()y\" k<<<1 )x\";",
    "auto s = LR\"(\n\"k<<<)\";",
    "char c = '\\''; auto s = \"<<<\"; wchar_t w = L'\"'; // <<<",
    "int n = 1'000'000; auto s = \"k<<<1\";",
    "template <> std::ostream &operator<<<int>(std::ostream &, const vec<int> &);",
    "friend std::ostream &operator<< <>(std::ostream &, const vec &);",
    "#include <k<<<1>\n#pragma k<<<1\n#error don't k<<<1\n",
    "#error don't /* k<<<1\n#error k */\nint x;",
    "#if 0\n<<<<<<< ours\n#if 1\n#else\n<<<\n#endif\n=======\n#endif\nint x;",
    "__shared__ float a[32];\nvoid f() { __shared__ float b[32][33]; }",
    "void f() { __shared__ int x{g([] { extern int y; return y; })}; }",
    "extern float x[]; extern \"C\" void f(); extern __device__ int counter;",
    "\\",
    "\"",
    "'",
    "R\"(",
    "/*",
    "#",
    "#define",
    "#define X",
    "#define X(",
    "#if",
    "#endif\n#else\n}}}",
};

Test(launch, everything_else_is_copied) {
  for (size_t i = 0; i < sizeof untouched / sizeof *untouched; i++) {
    text_buffer out = {0};
    error_text error = {""};
    bool done = rewrite(untouched[i], &out, &error);
    cr_assert(done, "%s\n%s", untouched[i], error.text);
    text_buffer_append(&out, "", 1);
    const char *body = strchr(out.data, '\n') + 1;
    cr_expect_str_eq(body, untouched[i], "in:  %s\nout: %s", untouched[i], body);
    text_buffer_free(&out);
  }
}

typedef struct {
  const char *in;
  const char *message; // what the error begins with or holds
} refusal;

static const refusal refusals[] = {
    {"k<<<1>>>();", "dir/a.cu:1: a launch takes 2 to 4 arguments"},
    {"k<<<>>>();", "not 0"},
    {"k<<<1>>>();", "not 1"},
    {"\n\nk<<<1, 2, 3, 4, 5>>>();", "dir/a.cu:3: a launch takes 2 to 4 arguments"},
    {"k<<<1, 2, 3, 4, 5>>>();", "not 5"},
    {"k<<<1, >>>();", "dir/a.cu:1: a launch argument between <<< and >>> is empty"},
    {"k<<<, 1>>>();", "empty"},
    {"k<<<1, , 2>>>();", "empty"},
    {"/*\n*/ k<<<1,\n 2>>> a;", "dir/a.cu:3: the kernel's arguments must follow >>>"},
    {"k<<<1, 2>>>;", "must follow >>>"},
    {"k<<<1, 2>>>", "must follow >>>"},
    {"\"\\\n\"; k<<<1, 2;\nj<<<1, 2>>>();", "dir/a.cu:2: this <<< has no >>>"},
    {"R\"(\n\n)\"; k<<<1, 2", "dir/a.cu:3: this <<< has no >>>"},
    {"{ k<<<1, 2 } >>>();", "has no >>>"},
    {"k<<<1, (2>>>();", "has no >>>"},
    {"k<<<1, 2 j<<<1, 2>>>();", "dir/a.cu:1: this <<< has no >>>"},
    {"#define A k<<<1, 2\n>>>();", "dir/a.cu:1: this <<< has no >>>"},
    {"#define CONFIG <<<1, 2>>>", "dir/a.cu:1: no kernel stands before this <<<"},
    {"x = <<<1, 2>>>();", "no kernel stands before"},
    {"<<<", "no kernel stands before"},
    {"return <<<1, 2>>>();", "no kernel stands before"},
    {"\n> <<<1, 2>>>();", "dir/a.cu:2: no kernel stands before"},
    {") <<<1, 2>>>();", "no kernel stands before"},
    {"x < y; z><<<1, 2>>>();", "no kernel stands before"},
    {"f(); <<<<<<< ours", "no kernel stands before"},
    {"k<D < 64><<<1, 2>>>();", "cannot tell where the kernel's template arguments begin"},
    {"template <typename T>\n__global__ void __launch_bounds__(128) k(T a) {}\nvoid f() {\n  "
     "k<<<1, 2>>>(1); }",
     "dir/a.cu:4: k is a template, and the emulator cannot deduce its arguments as nvcc does: "
     "write them out, as in "
     "k<float><<<grid, block>>>(arguments)"},
};

Test(launch, refusals_name_the_line) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    text_buffer out = {0};
    error_text error = {""};
    bool done = rewrite(refusals[i].in, &out, &error);
    cr_expect(!done && strstr(error.text, refusals[i].message) != NULL,
              "in: %s\nerror:    %s\nexpected: %s", refusals[i].in, error.text,
              refusals[i].message);
    cr_expect(out.length == 0, "%s left output behind", refusals[i].in);
    text_buffer_free(&out);
  }
}

// A kernel that is no template, and one with its arguments, need nothing deduced.
Test(launch, templates_with_their_arguments) {
  const char *const accepted[] = {
      "template <typename T> __global__ void k(T a) {} void f() { k<int><<<1, 2>>>(1); }",
      "template <typename T> void k(T a) {} void f(void (*k)(int)) { k<<<1, 2>>>(1); }",
      ("template <typename T> __global__ void j(T a) { a.k(a); } __global__ void k() {} "
       "void f() { k<<<1, 2>>>(); }"),
  };
  for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
    text_buffer out = {0};
    error_text error = {""};
    cr_expect(rewrite(accepted[i], &out, &error), "%s: %s", accepted[i], error.text);
    text_buffer_free(&out);
  }
}

// PTX becomes a block of C++, in the same line. In the place of PTX that cannot be read the compiler sees a sentence.
Test(launch, inline_ptx_becomes_a_block_or_a_sentence) {
  text_buffer out = {0};
  error_text error = {""};
  cr_assert(
      rewrite("void f() {\n#ifdef __CUDACC__\n  asm(\"frob.b32 a;\");\n#endif\n"
              "  asm volatile(\"mov.u32 %0, %laneid;\"\n    : \"=r\"(x));\n"
              "  asm(TEXT);\n"
              "  __asm__ volatile(\"nop\");\n}\n#define BAR asm __volatile__(\"bar.sync 0;\")\n",
              &out, &error));
  text_buffer_append(&out, "", 1);
  cr_expect_str_eq(
      out.data,
      "#include \"detail/ptx.h\"\n#line 1 \"dir/a.cu\"\n"
      "void f() {\n#ifdef __CUDACC__\n"
      "  static_assert(false, \"the emulator has no PTX instruction frob.b32: use a function of "
      "CUDA "
      "C++ that does the same, or a GPU\");\n#endif\n"
      "  do { unsigned int ptx_operand0 = 0; ::emulator::ptx::mov_<::emulator::ptx::u32>"
      "(ptx_operand0, ::emulator::ptx::special_register_laneid());  "
      "::emulator::ptx::to(ptx_operand0, x); } while (0) \n     ;\n"
      "  static_assert(false, \"an asm statement that the emulator cannot read: its text must be "
      "string literals, and no macro\");\n"
      "  __asm__ volatile(\"nop\");\n}\n#define BAR static_assert(false, \"the emulator reads "
      "inline PTX only in functions, and not in macros\") \n");
  text_buffer_free(&out);
}

Test(launch, path_is_escaped_and_byte_order_mark_dropped) {
  text_buffer out = {0};
  error_text error;
  cr_assert(rewrite_source("a \"b\"\\c.cu", "\xEF\xBB\xBFint x;", 9, &out, &error));
  const char expected[] = "#line 1 \"a \\\"b\\\"\\\\c.cu\"\nint x;";
  cr_expect_arr_eq(out.data, expected, strlen(expected));
  cr_expect_eq(out.length, strlen(expected));
  text_buffer_free(&out);
}
