// For libFuzzer: no text crashes the rewriter, and a text that it accepts keeps its lines.
#include "emulator/rewrite/rewrite.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_lines(const char *text, size_t length) {
  size_t lines = 0;
  for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
  return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = (const char *)data;
  text_buffer out = {0};
  error_text error = {""};
  if (rewrite_source("a.cu", text, size, &out, &error)) {
    if (count_lines(out.data, out.length) != count_lines(text, size) + 1) abort();
  } else if (out.length > 0 || strncmp(error.text, "a.cu:", 5) != 0) {
    abort(); // a failure leaves nothing behind and says where
  }
  text_buffer_free(&out);
  // The text of a preprocessor, for a module.
  out = (text_buffer){0};
  error.text[0] = '\0';
  if (!rewrite_module("a.cu", text, size, &out, &error) && error.text[0] == '\0') abort();
  text_buffer_free(&out);
  return 0;
}
