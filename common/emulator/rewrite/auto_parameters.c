#include "emulator/rewrite/auto_parameters.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char word[] = "auto";
enum { WORD_BYTES = sizeof word - 1 };

static bool is_part_of_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Where the next auto at or behind `from` begins; the length of the text when there is none.
static size_t find(const text_buffer *text, size_t from) {
  for (size_t i = from; i + WORD_BYTES <= text->length; i++) {
    if (memcmp(text->data + i, word, WORD_BYTES) != 0) continue;
    const bool begins = i == 0 || !is_part_of_name(text->data[i - 1]);
    const size_t end = i + WORD_BYTES;
    if (begins && (end == text->length || !is_part_of_name(text->data[end]))) return i;
  }
  return text->length;
}

bool auto_parameters_are_in(const text_buffer *parameters) {
  return find(parameters, 0) < parameters->length;
}

// Is the parameter whose type is at `from` a pack, as in `auto &&...xs`?
static bool is_pack(const text_buffer *text, size_t from) {
  for (size_t i = from; i < text->length && text->data[i] != ',' && text->data[i] != ')'; i++) {
    if (text->data[i] == '.') return true;
  }
  return false;
}

static void append_one(text_buffer *list, const char *before, const char *name,
                       const char *behind) {
  if (list->length > 0) text_buffer_append_string(list, ", ");
  text_buffer_append_string(list, before);
  text_buffer_append_string(list, name);
  text_buffer_append_string(list, behind);
}

void auto_parameters_name(const text_buffer *parameters, text_buffer *named, text_buffer *declared,
                          text_buffer *arguments) {
  size_t from = 0;
  for (unsigned number = 0;; number++) {
    const size_t at = find(parameters, from);
    text_buffer_append(named, parameters->data + from, at - from);
    if (at == parameters->length) return;
    char name[32];
    snprintf(name, sizeof name, "emulator_auto_%u", number);
    from = at + WORD_BYTES;
    const bool pack = is_pack(parameters, from);
    text_buffer_append_string(named, name);
    append_one(declared, pack ? "typename... " : "typename ", name, "");
    append_one(arguments, "", name, pack ? "..." : "");
  }
}
