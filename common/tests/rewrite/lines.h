// Both fuzz tests of the rewriter ask whether a file has kept its lines.
#ifndef LINES_H
#define LINES_H

#include "emulator/rewrite/text_buffer.h"

#include <stdbool.h>
#include <string.h>

static inline size_t lines_of(const char *text, size_t length) {
  size_t lines = 0;
  for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
  return lines;
}

// The rewriter adds a line that names the file and, where there is inline PTX, before it one that includes a header.
static inline bool lines_are_kept(const text_buffer *out, const char *text, size_t length) {
  const char header[] = "#include \"detail/ptx.h\"\n#line 1 ";
  const bool ptx = out->length >= strlen(header) && memcmp(out->data, header, strlen(header)) == 0;
  return lines_of(out->data, out->length) == lines_of(text, length) + (ptx ? 2 : 1);
}

#endif
