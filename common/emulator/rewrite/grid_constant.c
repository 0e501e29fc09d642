#include "emulator/rewrite/grid_constant.h"

#include "emulator/rewrite/kernel_twin.h"

// The ( of the parameters that the token is among; NO_TOKEN where it is in other brackets, or in none.
static size_t parameters_around(const source *file, size_t index) {
  for (size_t i = token_previous(file, index); i != NO_TOKEN; i = token_previous(file, i)) {
    if (token_closes_group(file, i))
      i = token_group_start(file, i);
    else if (token_opens_group(file, i))
      return token_is(file, i, "(") ? i : NO_TOKEN;
  }
  return NO_TOKEN;
}

// The last token of the parameter's declaration, before its default argument.
static size_t declaration_end(const source *file, size_t word) {
  size_t last = word, angles = 0;
  for (size_t i = token_next(file, word); i != NO_TOKEN; i = token_next(file, i)) {
    if (token_is(file, i, "<")) angles++;
    if (token_is(file, i, ">") && angles > 0) angles--;
    if (token_closes_group(file, i)) break;
    if (angles == 0 && (token_is(file, i, ",") || token_is(file, i, "="))) break;
    if (token_opens_group(file, i)) i = token_group_end(file, i);
    last = i;
  }
  return last;
}

// Can a type end with the token, so that a name behind it is the parameter's? Behind `unsigned` it may be `int`; but then
// the parameter is a number, and it does not matter.
static bool ends_type(const source *file, size_t index) {
  static const char *const words[] = {"typename", "struct",   "class", "enum", "union",
                                      "signed",   "unsigned", "short", "long"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (token_is(file, index, words[i])) return false;
  return token_is_name(file, index) || token_is(file, index, ">") || token_is(file, index, ")") ||
         token_is(file, index, ".");
}

// The parameter's name; NO_TOKEN where it has none, as in `const __grid_constant__ T`.
static size_t name_of(const source *file, size_t word) {
  const size_t last = declaration_end(file, word);
  if (last == word) return NO_TOKEN;
  size_t before = token_previous(file, last);
  while (token_is(file, before, "const") || token_is(file, before, "__grid_constant__"))
    before = token_previous(file, before);
  return token_is_name(file, last) && ends_type(file, before) ? last : NO_TOKEN;
}

// The { or ; behind the parameters; the { may be the argument of a macro, as in `void k(...) ON_HOPPER({ ... })`.
static size_t body_of(const source *file, size_t open) {
  const size_t body = kernel_find_body(file, open);
  const size_t macro = token_next(file, token_group_end(file, open));
  const size_t argument = token_next(file, token_next(file, macro));
  const bool is_argument = token_is_name(file, macro) && token_is(file, argument, "{") &&
                           token_is(file, token_previous(file, argument), "(");
  return body == NO_TOKEN && is_argument ? argument : body;
}

void grid_constant_rewrite(source *file, size_t word) {
  const size_t open = parameters_around(file, word);
  const size_t body = open != NO_TOKEN ? body_of(file, open) : NO_TOKEN;
  if (body == NO_TOKEN) return;
  const size_t name = name_of(file, word);
  edit_remove(file, word);
  if (name == NO_TOKEN || !token_is(file, body, "{")) return;
  if (!file->edits[body].replaced) edit_replace(file, body, "{");
  text_buffer *text = &file->edits[body].instead;
  text_buffer_append_string(text, " ::emulator::grid_constant(");
  token_append(file, name, text);
  text_buffer_append_string(text, token_is(file, token_previous(file, name), ".") ? "...);" : ");");
}
