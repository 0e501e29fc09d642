#include "emulator/rewrite/template_names.h"

// Is it the first token in the parentheses of (*F), (&F) or (*...Fs)? Then the parameter is a pointer or a reference to a
// function or an array, and its name stands in them.
static bool points(const source *file, size_t first) {
  return token_is(file, first, "*") || token_is(file, first, "&");
}

size_t template_append_names(const source *file, size_t open, text_buffer *out) {
  size_t name = NO_TOKEN, depth = 0;
  bool pack = false;
  bool named = false; // and a function's parameters or a default follow, which hold no name
  for (size_t i = token_next(file, open); i != NO_TOKEN; i = token_next(file, i)) {
    const bool ends = depth == 0 && token_is(file, i, ">");
    if (ends || (depth == 0 && token_is(file, i, ","))) {
      if (name == NO_TOKEN) return NO_TOKEN;
      token_append(file, name, out);
      text_buffer_append_string(out, pack ? "..." : "");
      if (ends) return i;
      text_buffer_append_string(out, ", ");
      name = NO_TOKEN;
      pack = named = false;
      continue;
    }
    if (token_is(file, i, "<")) depth++;
    if (token_is(file, i, ">")) depth--;
    if (token_is(file, i, "=")) named = true;
    if (token_is(file, i, ".")) pack = true;
    if (depth == 0 && !named && token_is_name(file, i)) name = i;
    if (token_opens_group(file, i)) {
      const size_t end = token_group_end(file, i);
      if (end == NO_TOKEN) break;
      if (depth == 0 && !named && points(file, token_next(file, i))) {
        name = token_previous(file, end);
        pack = token_is(file, token_previous(file, name), ".");
        named = true;
      }
      i = end;
    }
  }
  return NO_TOKEN;
}
