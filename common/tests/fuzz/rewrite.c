// For libFuzzer: no text crashes the rewriter, and a text that it accepts keeps its lines.
#include "emulator/rewrite/rewrite.h"
#include "tests/rewrite/lines.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = (const char *)data;
  text_buffer out = {0};
  error_text error = {""};
  if (rewrite_source("a.cu", text, size, &out, &error)) {
    if (!lines_are_kept(&out, text, size)) abort();
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
