#include "mutants/reasons.h"

#include <stdlib.h>
#include <string.h>

void reasons_free(reason_list *reasons) {
  for (size_t i = 0; i < reasons->count; i++) {
    free(reasons->items[i].key);
    free(reasons->items[i].reason);
  }
  free(reasons->items);
  free(reasons->path);
  *reasons = (reason_list){0};
}

static char *copy_of(const char *text, size_t length) {
  char *copy = array_allocate(length + 1, 1);
  memcpy(copy, text, length);
  return copy;
}

static bool add_key(reason_list *reasons, const char *key, size_t length, size_t line,
                    error_text *error) {
  for (size_t i = 0; i < reasons->count; i++) {
    const reason *other = &reasons->items[i];
    if (strlen(other->key) == length && memcmp(other->key, key, length) == 0)
      return fail(error,
                  "%s:%zu: this mutant has its reason in line %zu already: keep one of the two",
                  reasons->path, line, other->line);
  }
  reasons->items = array_grow(reasons->items, reasons->count, &reasons->capacity, sizeof(reason));
  reasons->items[reasons->count++] =
      (reason){.key = copy_of(key, length), .reason = copy_of("", 0), .line = line};
  return true;
}

static bool add_words(reason_list *reasons, const char *words, size_t length, size_t line,
                      error_text *error) {
  if (reasons->count == 0)
    return fail(error,
                "%s:%zu: a reason without a mutant: its key comes first, on a line that begins "
                "without a blank",
                reasons->path, line);
  reason *last = &reasons->items[reasons->count - 1];
  const size_t before = strlen(last->reason);
  char *joined = array_allocate(before + 1 + length + 1, 1);
  memcpy(joined, last->reason, before);
  if (before > 0) strcat(joined, " ");
  strncat(joined, words, length);
  free(last->reason);
  last->reason = joined;
  return true;
}

static bool has_reason(const reason_list *reasons, error_text *error) {
  const reason *last = reasons->count > 0 ? &reasons->items[reasons->count - 1] : NULL;
  return last == NULL || last->reason[0] != '\0' ||
         fail(error,
              "%s:%zu: this mutant has no reason: say in the next line, behind a blank, why it is "
              "no "
              "fault",
              reasons->path, last->line);
}

bool reasons_read(reason_list *reasons, const char *path, const char *text, size_t length,
                  error_text *error) {
  *reasons = (reason_list){.path = copy_of(path, strlen(path))};
  size_t line = 1;
  for (size_t start = 0; start < length; line++) {
    const char *newline = memchr(text + start, '\n', length - start);
    size_t end = newline != NULL ? (size_t)(newline - text) : length;
    const size_t next = end + 1;
    while (end > start && (text[end - 1] == ' ' || text[end - 1] == '\r')) end--;
    size_t first = start;
    while (first < end && (text[first] == ' ' || text[first] == '\t')) first++;
    if (first < end && text[start] != '#') {
      const char *words = text + first;
      const bool key = first == start;
      if (key && !has_reason(reasons, error)) return false;
      if (!(key ? add_key : add_words)(reasons, words, end - first, line, error)) return false;
    }
    start = next;
  }
  return has_reason(reasons, error);
}

const char *reasons_find(reason_list *reasons, const char *key) {
  for (size_t i = 0; i < reasons->count; i++) {
    if (strcmp(reasons->items[i].key, key) != 0) continue;
    reasons->items[i].used = true;
    return reasons->items[i].reason;
  }
  return NULL;
}

bool reasons_all_used(const reason_list *reasons, error_text *error) {
  for (size_t i = 0; i < reasons->count; i++)
    if (!reasons->items[i].used)
      return fail(
          error,
          "%s:%zu: there is no such mutant any more: take the entry out, or give it the key that "
          "the changed line has: %.600s",
          reasons->path, reasons->items[i].line, reasons->items[i].key);
  return true;
}
