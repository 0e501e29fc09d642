#include "book/manifest.h"

#include <stdlib.h>
#include <string.h>

// Ends the word at the next tab, and returns what follows, or NULL behind the last one.
static char *next_word(char *word) {
  char *tab = strchr(word, '\t');
  if (!tab) return NULL;
  *tab = '\0';
  return tab + 1;
}

bool manifest_read(const text_buffer *text, manifest *list, error_text *error) {
  *list = (manifest){.text = array_allocate(text->length + 1, 1)};
  if (text->length) memcpy(list->text, text->data, text->length);
  list->text[text->length] = '\0';
  size_t room = 0;
  char *line = list->text;
  for (size_t number = 1; *line; number++) {
    char *end = strchr(line, '\n');
    if (end) *end = '\0';
    list->entries = array_grow(list->entries, list->count, &room, sizeof *list->entries);
    manifest_entry *entry = &list->entries[list->count++];
    *entry = (manifest_entry){.kind = line};
    for (int i = 0; i < ENTRY_WORDS; i++) entry->word[i] = "";
    int words = 0;
    for (char *word = next_word(line); word; word = next_word(word)) {
      if (words == ENTRY_WORDS) {
        return fail(error, "line %zu of the manifest has more than %d words behind its first",
                    number, ENTRY_WORDS);
      }
      entry->word[words++] = word;
    }
    line = end ? end + 1 : line + strlen(line);
  }
  return true;
}

void manifest_free(manifest *list) {
  free(list->text);
  free(list->entries);
  *list = (manifest){0};
}
