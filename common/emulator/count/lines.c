// The sums by source line.
#define _GNU_SOURCE
#include "tally.h"

#include "links.h"
#include "places.h"

#include <stdlib.h>
#include <string.h>

// ---- Names of files, kept for good --------------------------------------------------------------

static struct name {
  struct name *next;
  char text[];
} * names;

// NULL when memory has run out.
static const char *keep(const char *text) {
  for (const struct name *name = names; name != NULL; name = name->next) {
    if (strcmp(name->text, text) == 0) return name->text;
  }
  struct name *name = malloc(sizeof *name + strlen(text) + 1);
  if (name == NULL) return NULL;
  strcpy(name->text, text);
  name->next = names;
  names = name;
  return name->text;
}

// ---- Lines --------------------------------------------------------------------------------------

typedef struct {
  uint32_t *place; // as places.h numbers them
  emulator_line_counts *line;
  size_t count, room;
} line_list;

static void count_entry(const tally_entry *entry, void *context) {
  (void)entry;
  ++*(size_t *)context;
}

static void add_line(const tally_entry *entry, void *context) {
  line_list *list = context;
  const emulator_site site = {
      .operation = "", .file = entry->where.file, .line = entry->where.line};
  list->place[list->count] =
      entry->where.code != NULL ? place_of_code(entry->where.code) : place_of_site(&site);
  list->line[list->count++].counts = entry->counts;
}

static bool name_lines(const line_list *list) {
  place_text *texts = calloc(list->count, sizeof *texts);
  if (texts == NULL) return false;
  places_describe(list->place, list->count, texts);
  bool good = true;
  for (size_t i = 0; i < list->count; i++) {
    list->line[i].file = keep(texts[i].file);
    list->line[i].line = texts[i].line;
    good = good && list->line[i].file != NULL;
  }
  free(texts);
  return good;
}

static int by_line(const void *a, const void *b) {
  const emulator_line_counts *left = a, *right = b;
  const int files = strcmp(left->file, right->file);
  return files != 0 ? files : (left->line > right->line) - (left->line < right->line);
}

static void add_counts(count_values *sum, const count_values *more) {
  for (int column = 0; column < COUNT_COLUMNS; column++) sum->value[column] += more->value[column];
}

// Sorts the entries and merges all entries of a line. Returns how many lines there are.
static size_t merge(emulator_line_counts *lines, size_t count) {
  qsort(lines, count, sizeof *lines, by_line);
  size_t last = 0;
  for (size_t i = 1; i < count; i++) {
    if (by_line(&lines[last], &lines[i]) == 0) {
      add_counts(&lines[last].counts, &lines[i].counts);
    } else {
      lines[++last] = lines[i];
    }
  }
  return last + 1;
}

size_t emulator_count_lines(emulator_line_counts **lines) {
  *lines = NULL;
  line_list list = {0};
  tally_each(count_entry, &list.room);
  if (list.room == 0) return 0;
  list.place = calloc(list.room, sizeof *list.place);
  list.line = calloc(list.room, sizeof *list.line);
  bool good = list.place != NULL && list.line != NULL;
  if (good) {
    tally_each(add_line, &list);
    good = name_lines(&list);
  }
  free(list.place);
  if (!good) {
    free(list.line);
    return SIZE_MAX;
  }
  *lines = list.line;
  return merge(list.line, list.count);
}

// ---- Sums ---------------------------------------------------------------------------------------

static void add_entry(const tally_entry *entry, void *context) {
  add_counts(context, &entry->counts);
}

count_values emulator_count_total(void) {
  count_values total = {0};
  tally_each(add_entry, &total);
  return total;
}

void emulator_count_reset(void) {
  tally_reset();
  links_reset();
}
