#define _GNU_SOURCE // memmem
#include "emulator/rewrite/source.h"

#include <stdlib.h>
#include <string.h>

source source_open(const char *path, const char *text, size_t length) {
  source file = {.path = path, .text = text, .length = length};
  lexer_split(text, length, &file.tokens);
  file.edits = array_allocate(file.tokens.count, sizeof(token_edit));
  return file;
}

// Thrust and CUB are headers with kernels, which a package may have put among those of the system.
static bool has_kernels(const source *file, size_t path) {
  static const char *const folders[] = {"/thrust/", "/cub/"};
  const token *it = &file->tokens.items[path];
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
    if (memmem(file->text + it->start, it->length, folders[i], strlen(folders[i]))) return true;
  return false;
}

// The directive's tokens are `#`, the line's number, the path in quotes and the flags; flag 3 is a system header.
static void read_marker(source *file, size_t directive) {
  const size_t number = directive + 1, path = directive + 2;
  if (path >= file->tokens.count || file->tokens.items[path].directive != directive ||
      file->tokens.items[number].kind != TOKEN_NUMBER ||
      file->tokens.items[path].kind != TOKEN_STRING)
    return;
  line_marker marker = {.directive = directive, .path = path};
  marker.line = strtoul(file->text + file->tokens.items[number].start, NULL, 10);
  for (size_t i = path + 1; i < file->tokens.count && file->tokens.items[i].directive == directive;
       i++) {
    marker.enters |= token_is(file, i, "1");
    marker.leaves |= token_is(file, i, "2");
    marker.system |= token_is(file, i, "3") && !has_kernels(file, path);
    marker.library |= token_is(file, i, "3") || has_kernels(file, path);
  }
  file->markers =
      array_grow(file->markers, file->marker_count, &file->marker_capacity, sizeof(line_marker));
  file->markers[file->marker_count++] = marker;
}

source source_open_preprocessed(const char *path, const char *text, size_t length) {
  source file = source_open(path, text, length);
  file.preprocessed = true;
  for (size_t i = 0; i < file.tokens.count; i++)
    if (file.tokens.items[i].kind == TOKEN_DIRECTIVE) read_marker(&file, i);
  return file;
}

const line_marker *source_marker(const source *file, size_t index) {
  size_t low = 0, high = file->marker_count; // the answer is markers[low - 1]
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (file->markers[middle].directive <= index)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? &file->markers[low - 1] : NULL;
}

size_t source_line(const source *file, const line_marker *marker, size_t index) {
  const size_t line = file->tokens.items[index].line;
  return marker == NULL ? line : marker->line + line - file->tokens.items[marker->path].line - 1;
}

bool source_is_system(const source *file, size_t index) {
  const line_marker *marker = source_marker(file, index);
  return marker != NULL && marker->system;
}

bool source_is_library(const source *file, size_t index) {
  const line_marker *marker = source_marker(file, index);
  return marker != NULL && marker->library;
}

void source_close(source *file) {
  free(file->markers);
  for (size_t i = 0; i < file->tokens.count; i++) {
    text_buffer_free(&file->edits[i].before);
    text_buffer_free(&file->edits[i].instead);
  }
  free(file->edits);
  free(file->tokens.items);
}

bool token_is(const source *file, size_t index, const char *spelling) {
  if (index >= file->tokens.count) return false;
  const token *it = &file->tokens.items[index];
  return it->length == strlen(spelling) &&
         memcmp(file->text + it->start, spelling, it->length) == 0;
}

bool token_is_name(const source *file, size_t index) {
  static const char *const keywords[] = {"return", "else",      "do",       "case",
                                         "throw",  "co_return", "co_yield", "co_await",
                                         "and",    "or",        "not",      "operator"};
  if (index >= file->tokens.count || file->tokens.items[index].kind != TOKEN_IDENTIFIER)
    return false;
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (token_is(file, index, keywords[i])) return false;
  return true;
}

static size_t directive_of(const source *file, size_t index) {
  return file->tokens.items[index].directive;
}

size_t token_next(const source *file, size_t index) {
  if (index >= file->tokens.count) return NO_TOKEN;
  size_t directive = directive_of(file, index);
  for (size_t i = index + 1; i < file->tokens.count; i++) {
    if (directive_of(file, i) == directive) return i;
    if (directive != NO_DIRECTIVE) break;
  }
  return NO_TOKEN;
}

size_t token_previous(const source *file, size_t index) {
  if (index >= file->tokens.count) return NO_TOKEN;
  size_t directive = directive_of(file, index);
  for (size_t i = index; i-- > 0;) {
    if (directive_of(file, i) == directive) return i;
    if (directive != NO_DIRECTIVE) break;
  }
  return NO_TOKEN;
}

bool token_touches(const source *file, size_t left, size_t right) {
  if (left >= file->tokens.count || right >= file->tokens.count) return false;
  const token *it = &file->tokens.items[left];
  return it->start + it->length == file->tokens.items[right].start;
}

bool token_opens_group(const source *file, size_t index) {
  return token_is(file, index, "(") || token_is(file, index, "[") || token_is(file, index, "{");
}

bool token_closes_group(const source *file, size_t index) {
  return token_is(file, index, ")") || token_is(file, index, "]") || token_is(file, index, "}");
}

size_t token_group_end(const source *file, size_t open) {
  size_t depth = 0;
  for (size_t i = open; i != NO_TOKEN; i = token_next(file, i)) {
    if (token_opens_group(file, i)) depth++;
    if (token_closes_group(file, i) && --depth == 0) return i;
  }
  return NO_TOKEN;
}

size_t token_group_start(const source *file, size_t close) {
  size_t depth = 0;
  for (size_t i = close; i != NO_TOKEN; i = token_previous(file, i)) {
    if (token_closes_group(file, i)) depth++;
    if (token_opens_group(file, i) && --depth == 0) return i;
  }
  return NO_TOKEN;
}

size_t token_angle_end(const source *file, size_t open) {
  size_t depth = 0;
  for (size_t i = open; i != NO_TOKEN; i = token_next(file, i)) {
    if (token_is(file, i, "<")) depth++;
    if (token_is(file, i, ">") && --depth == 0) return i;
    if (token_is(file, i, ";") || token_is(file, i, "{")) break;
  }
  return NO_TOKEN;
}

size_t source_macro_body(const source *file, size_t directive) {
  size_t name = directive + 2; // behind # and define
  size_t body = name + 1;
  // A parenthesis that touches the name opens the parameters; behind a blank it is the text.
  if (!token_is(file, body, "(") || !token_touches(file, name, body)) return body;
  size_t close = token_group_end(file, body);
  return close == NO_TOKEN ? body : close + 1;
}

bool token_is_macro_parameter(const source *file, size_t index) {
  size_t directive = directive_of(file, index);
  if (directive == NO_DIRECTIVE || file->tokens.items[index].kind != TOKEN_IDENTIFIER) return false;
  const token *it = &file->tokens.items[index];
  size_t body = source_macro_body(file, directive);
  for (size_t i = directive + 3; i < body; i++) {
    const token *parameter = &file->tokens.items[i];
    if (parameter->length == it->length &&
        memcmp(file->text + parameter->start, file->text + it->start, it->length) == 0)
      return true;
  }
  return false;
}

void token_append(const source *file, size_t index, text_buffer *out) {
  const token *it = &file->tokens.items[index];
  text_buffer_append(out, file->text + it->start, it->length);
}

void token_append_range(const source *file, size_t first, size_t last, text_buffer *out) {
  for (size_t i = first; i != NO_TOKEN && i <= last; i = token_next(file, i)) {
    if (i != first && !token_touches(file, token_previous(file, i), i))
      text_buffer_append(out, " ", 1);
    token_append(file, i, out);
  }
}

void edit_insert_before(source *file, size_t index, const char *text) {
  text_buffer_append_string(&file->edits[index].before, text);
}

void edit_replace(source *file, size_t index, const char *text) {
  file->edits[index].replaced = true;
  text_buffer_append_string(&file->edits[index].instead, text);
}

void edit_remove(source *file, size_t index) {
  file->edits[index].replaced = true;
  file->edits[index].drop_blanks_after = true;
}

void source_apply_edits(const source *file, text_buffer *out) {
  size_t copied = 0; // bytes of the text that are done
  for (size_t i = 0; i < file->tokens.count; i++) {
    const token *it = &file->tokens.items[i];
    const token_edit *edit = &file->edits[i];
    text_buffer_append(out, file->text + copied, it->start - copied);
    const bool colons = out->length > 0 && out->data[out->length - 1] == ':' &&
                        edit->before.length > 0 && edit->before.data[0] == ':';
    if (colons) text_buffer_append_string(out, " "); // "case 1:" and "::emulator" are two tokens
    text_buffer_append(out, edit->before.data, edit->before.length);
    if (edit->replaced) {
      text_buffer_append(out, edit->instead.data, edit->instead.length);
      // A raw string may hold line breaks, and those behind it keep their numbers.
      for (size_t k = it->start; k < it->start + it->length; k++)
        if (file->text[k] == '\n') text_buffer_append(out, "\n", 1);
    } else {
      token_append(file, i, out);
    }
    copied = it->start + it->length;
    while (edit->drop_blanks_after && copied < file->length &&
           (file->text[copied] == ' ' || file->text[copied] == '\t'))
      copied++;
  }
  text_buffer_append(out, file->text + copied, file->length - copied);
}

bool source_fail_at(const source *file, size_t index, error_text *error, const char *format, ...) {
  char sentence[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  const line_marker *marker = source_marker(file, index);
  const size_t line = source_line(file, marker, index);
  if (marker == NULL) return fail(error, "%s:%zu: %s", file->path, line, sentence);
  const token *path = &file->tokens.items[marker->path];
  return fail(error, "%.*s:%zu: %s", (int)path->length - 2, file->text + path->start + 1, line,
              sentence);
}
