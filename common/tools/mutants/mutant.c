#include "mutants/mutant.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void mutants_free(mutant_list *mutants) {
  for (size_t i = 0; i < mutants->count; i++) free(mutants->items[i].replacement);
  free(mutants->items);
  *mutants = (mutant_list){0};
}

void mutant_write(const source *file, const mutant *mutant, text_buffer *out) {
  const size_t end = mutant->start + mutant->length;
  text_buffer_append(out, file->text, mutant->start);
  text_buffer_append_string(out, mutant->replacement);
  size_t lines = 0;
  for (size_t i = mutant->start; i < end; i++) lines += file->text[i] == '\n';
  for (const char *at = mutant->replacement; *at != '\0'; at++) lines -= *at == '\n';
  // In the body of a macro a line goes on behind a backslash, which the removed lines had too.
  const bool in_macro =
      memchr(file->text + mutant->start, '\\', mutant->length) != NULL && lines > 0;
  for (size_t i = 0; i < lines; i++) text_buffer_append_string(out, in_macro ? "\\\n" : "\n");
  text_buffer_append(out, file->text + end, file->length - end);
}

// Appends a piece of source without the white space around it, and with one space for each run inside.
static void append_plain(text_buffer *out, const char *text, size_t length) {
  bool blank = false, begun = false;
  for (size_t i = 0; i < length; i++) {
    const bool splice = text[i] == '\\' && i + 1 < length && text[i + 1] == '\n';
    if (splice || isspace((unsigned char)text[i])) {
      blank = begun;
      continue;
    }
    if (blank) text_buffer_append_string(out, " ");
    text_buffer_append(out, text + i, 1);
    blank = false;
    begun = true;
  }
}

void mutant_append_change(const source *file, const mutant *mutant, text_buffer *out) {
  text_buffer_append_string(out, "`");
  append_plain(out, file->text + mutant->start, mutant->length);
  text_buffer_append_string(out, "` -> `");
  append_plain(out, mutant->replacement, strlen(mutant->replacement));
  text_buffer_append_string(out, "`");
}

static void append_plain_key(const source *file, const mutant *mutant, text_buffer *out) {
  const char *slash = strrchr(file->path, '/');
  text_buffer_append_string(out, slash != NULL ? slash + 1 : file->path);
  text_buffer_append_string(out, ": ");
  text_buffer_append_string(out, mutant->kind);
  text_buffer_append_string(out, ": ");
  mutant_append_change(file, mutant, out);
  text_buffer_append_string(out, ": ");
  size_t begin = mutant->start, end = mutant->start;
  while (begin > 0 && file->text[begin - 1] != '\n') begin--;
  while (end < file->length && file->text[end] != '\n') end++;
  while (end > begin && (file->text[end - 1] == '\\' || file->text[end - 1] == ' ')) end--;
  append_plain(out, file->text + begin, end - begin);
}

void mutant_append_key(const source *file, const mutant_list *mutants, size_t index,
                       text_buffer *out) {
  const size_t start = out->length;
  append_plain_key(file, &mutants->items[index], out);
  const size_t length = out->length - start;
  size_t number = 1;
  for (size_t i = 0; i < index; i++) {
    text_buffer other = {0};
    append_plain_key(file, &mutants->items[i], &other);
    number += other.length == length && memcmp(other.data, out->data + start, length) == 0;
    text_buffer_free(&other);
  }
  if (number == 1) return;
  char suffix[32];
  snprintf(suffix, sizeof suffix, " (%zu)", number);
  text_buffer_append_string(out, suffix);
}
