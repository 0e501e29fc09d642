#define _GNU_SOURCE
#include "book/markdown.h"

#include <md4c-html.h>
#include <string.h>

static void append(const MD_CHAR *bytes, MD_SIZE length, void *html) {
  text_buffer_append(html, bytes, length);
}

bool markdown_to_html(const char *path, const text_buffer *markdown, text_buffer *html,
                      error_text *error) {
  // Comments hold what the lab's own tools read. md4c would copy them into the page.
  text_buffer shown = {0};
  const char *at = markdown->data;
  const char *const end = at + markdown->length;
  while (at < end) {
    const char *begin = memmem(at, (size_t)(end - at), "<!--", 4);
    const char *close = begin ? memmem(begin, (size_t)(end - begin), "-->", 3) : NULL;
    if (!close) begin = end;
    text_buffer_append(&shown, at, (size_t)(begin - at));
    at = close ? close + 3 : end;
  }
  const int failed = md_html(shown.data ? shown.data : "", (MD_SIZE)shown.length, append, html,
                             MD_DIALECT_GITHUB, 0);
  text_buffer_free(&shown);
  return failed == 0 || fail(error, "md4c cannot render %s: not enough memory", path);
}
