#include "book/json.h"

void json_string(FILE *out, const char *bytes, size_t length) {
  fputc('"', out);
  for (size_t i = 0; i < length; i++) {
    const unsigned char byte = (unsigned char)bytes[i];
    if (byte == '\n') {
      fputs("\\n", out);
    } else if (byte == '"' || byte == '\\') {
      fprintf(out, "\\%c", byte);
    } else if (byte < 0x20 || byte == '<') {
      fprintf(out, "\\u%04x", byte);
    } else {
      fputc(byte, out);
    }
  }
  fputc('"', out);
}

void json_next(FILE *out, bool *first) {
  if (!*first) fputs(",\n", out);
  *first = false;
}
