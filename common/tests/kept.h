// For tests that compare a text in a struct that a function returns: f(x).text. Such a struct is gone at the end of its
// expression (C17, 6.2.4), and the macros of Criterion 2.4 look at the text only after that.
#ifndef KEPT_H
#define KEPT_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// Returns a copy of the text that lasts until eight later ones are kept.
static inline const char *kept(const char *text) {
  enum { COPIES = 8 };
  static char *copies[COPIES];
  static int next;
  const size_t bytes = strlen(text) + 1;
  char **copy = &copies[next++ % COPIES];
  *copy = realloc(*copy, bytes);
  cr_assert(*copy != NULL);
  return memcpy(*copy, text, bytes);
}

#endif
