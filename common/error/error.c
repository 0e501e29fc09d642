#include "error/error.h"

#include <string.h>

// Returns the number of bytes of the UTF-8 character at `text` (RFC 3629, section 4). Returns 0 for
// a control character and for bytes that are not UTF-8.
static size_t character(const unsigned char *text) {
  if (*text < 0x80) return *text >= ' ' && *text != 0x7f;
  static const struct {
    unsigned char first, last;   // range of the first byte
    unsigned char second, third; // range of the second one; those behind it are 0x80 to 0xbf
    size_t bytes;
  } forms[] = {
      {0xc2, 0xc2, 0xa0, 0xbf, 2}, // less U+0080 to U+009f, which are control characters
      {0xc3, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
      {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
      {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
  };
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (*text < forms[i].first || *text > forms[i].last) continue;
    if (text[1] < forms[i].second || text[1] > forms[i].third) return 0;
    for (size_t byte = 2; byte < forms[i].bytes; byte++) {
      if (text[byte] < 0x80 || text[byte] > 0xbf) return 0;
    }
    return forms[i].bytes;
  }
  return 0;
}

const char *error_unprintable(const char *text) {
  for (size_t bytes; *text; text += bytes) {
    bytes = character((const unsigned char *)text);
    if (bytes == 0) return text;
  }
  return NULL;
}

error_text error_printable(const char *text) {
  error_text out;
  size_t length = 0;
  enum { ESCAPED = 4 }; // as \x1b
  for (const unsigned char *from = (const unsigned char *)text; *from;) {
    const size_t bytes = character(from);
    if (length + (bytes ? bytes : ESCAPED) >= sizeof out.text) break;
    if (bytes) {
      memcpy(out.text + length, from, bytes);
    } else {
      snprintf(out.text + length, ESCAPED + 1, "\\x%02x", *from);
    }
    length += bytes ? bytes : ESCAPED;
    from += bytes ? bytes : 1;
  }
  out.text[length] = '\0';
  return out;
}

bool fail(error_text *error, const char *format, ...) {
  char text[sizeof error->text];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  *error = error_printable(text);
  return false;
}
