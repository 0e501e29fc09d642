// No text, however broken, crashes the rewriter or makes it lose a line.
#include "emulator/rewrite/rewrite.h"
#include "lines.h"
#include "numeric/random.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint32_t next_random(void) { return (uint32_t)random_next(&state); }

// The text is copied to a block of exactly its size, for AddressSanitizer to see every overrun.
static bool try_text(const char *text, size_t length) {
  char *exact = malloc(length > 0 ? length : 1);
  memcpy(exact, text, length);
  text_buffer out = {0};
  error_text error = {""};
  bool done = rewrite_source("a.cu", exact, length, &out, &error);
  if (done)
    cr_assert(lines_are_kept(&out, exact, length), "lines: %.*s", (int)length, text);
  else
    cr_assert(strncmp(error.text, "a.cu:", 5) == 0, "%s", error.text);
  // The text of a preprocessor may be as broken. In a module the rewriter writes more.
  text_buffer_free(&out);
  out = (text_buffer){0};
  error.text[0] = '\0';
  const bool preprocessed = rewrite_module("a.cu", exact, length, &out, &error);
  cr_assert(preprocessed || error.text[0] != '\0', "%.*s", (int)length, text);
  free(exact);
  text_buffer_free(&out);
  return done;
}

Test(fuzz, random_bytes) {
  state = 0x2545F491;
  for (int round = 0; round < 20000; round++) {
    char text[256];
    size_t length = next_random() % (sizeof text + 1);
    for (size_t i = 0; i < length; i++) text[i] = (char)next_random();
    try_text(text, length);
  }
}

Test(fuzz, random_fragments) {
  static const char *const fragments[] = {"<<<",
                                          ">>>",
                                          "<",
                                          ">",
                                          "<<",
                                          ">>",
                                          "(",
                                          ")",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          ";",
                                          ",",
                                          "::",
                                          ".",
                                          "->",
                                          "##",
                                          "#",
                                          "\n",
                                          "\\\n",
                                          " ",
                                          "k",
                                          "1",
                                          "1'0",
                                          "\"",
                                          "'",
                                          "R\"(",
                                          ")\"",
                                          "//",
                                          "/*",
                                          "*/",
                                          "extern ",
                                          "__shared__ ",
                                          "float ",
                                          "s[]",
                                          "alignas(",
                                          "__align__(16) ",
                                          "struct ",
                                          "namespace ",
                                          "template ",
                                          "operator",
                                          "return ",
                                          "\n#define A(k) ",
                                          "\n#if 0\n",
                                          "\n#if A\n",
                                          "\n#else\n",
                                          "\n#endif\n",
                                          "__VA_ARGS__",
                                          "k<<<1, 1>>>()",
                                          "extern \"C\" {",
                                          "=",
                                          ":",
                                          "__global__ void k(",
                                          "asm(",
                                          "\"mov.u32 %0, %1;\"",
                                          "\"=r\"(k)",
                                          "\"{.reg .b32 a<3>; @p add.s32 a1, [%0+4], {a, b}\"",
                                          "(void *)k",
                                          "__forceinline__ ",
                                          "\n# 7 \"b.h\" 1 3\n"};
  state = 0x9E3779B9;
  int accepted = 0;
  for (int round = 0; round < 50000; round++) {
    char text[1024];
    size_t length = 0;
    for (uint32_t count = next_random() % 40; count > 0; count--) {
      const char *fragment = fragments[next_random() % (sizeof fragments / sizeof *fragments)];
      memcpy(text + length, fragment, strlen(fragment));
      length += strlen(fragment);
    }
    accepted += try_text(text, length);
  }
  cr_expect(accepted > 1000 && accepted < 49000, "%d of 50000 accepted", accepted);
}
