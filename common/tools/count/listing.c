#define _GNU_SOURCE
#include "count/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 13 }; // of a column

static bool only_unknown_lines(const listing *listing) {
  return listing->count == 1 && listing->lines[0].file[0] == '\0';
}

bool listing_take(listing *listing, error_text *error) {
  listing->lines = NULL;
  listing->total = emulator_count_total();
  listing->count = emulator_count_lines(&listing->lines);
  if (listing->count == SIZE_MAX) {
    listing->count = 0;
    return fail(error, "not enough memory for the counts of source lines");
  }
  return !only_unknown_lines(listing) ||
         fail(error,
              "no source line is known: is addr2line installed (Debian's package binutils)?");
}

void listing_free(listing *listing) {
  free(listing->lines);
  listing->lines = NULL;
}

static void print_columns(FILE *out, const listing *listing, const count_values *counts) {
  for (int column = 0; column < COUNT_COLUMNS; column++) {
    if (listing->total.value[column] == 0) continue;
    const uint64_t value = counts ? counts->value[column] : 0;
    // Sectors and wavefronts are shown as "2.50", for each request.
    if (column_is_per_request(column) && counts && counts->value[column - 1] > 0) {
      fprintf(out, "%*.2f", WIDTH, (double)value / (double)counts->value[column - 1]);
    } else if (value > 0) {
      fprintf(out, "%*" PRIu64, WIDTH, value);
    } else {
      fprintf(out, "%*s", WIDTH, "");
    }
  }
}

static void print_titles(FILE *out, const listing *listing) {
  for (int column = 0; column < COUNT_COLUMNS; column++) {
    if (listing->total.value[column] == 0) continue;
    char title[2 * WIDTH];
    snprintf(title, sizeof title, "%s%s", column_is_per_request(column) ? "x " : "",
             column_names[column].title);
    fprintf(out, "%*s", WIDTH, title);
  }
}

// ---- The whole source ---------------------------------------------------------------------------

// `next` is the index of the file's first line that has counts; returns the index behind its last
// line.
static size_t print_file(FILE *out, const listing *listing, size_t next, error_text *error) {
  const char *path = listing->lines[next].file;
  FILE *source = fopen(path, "r");
  if (!source) {
    fail(error,
         "cannot read the kernels' source %s: %s: run this where the lab is; if it has moved, run "
         "make clean first",
         path, strerror(errno));
    return SIZE_MAX;
  }
  fprintf(out, "\n%s\n\n", path);
  print_titles(out, listing);
  fputs("  line\n", out);
  char *text = NULL;
  size_t room = 0;
  for (int number = 1; getline(&text, &room, source) > 0; number++) {
    const emulator_line_counts *line = &listing->lines[next];
    const bool counted =
        next < listing->count && strcmp(line->file, path) == 0 && line->line == number;
    print_columns(out, listing, counted ? &line->counts : NULL);
    text[strcspn(text, "\n")] = '\0';
    fprintf(out, " %5d  %s\n", number, text);
    next += counted;
  }
  free(text);
  fclose(source);
  while (next < listing->count && strcmp(listing->lines[next].file, path) == 0) next++;
  return next;
}

// Bytes between devices, if there are any: one line for each direction.
static void print_links(FILE *out) {
  int devices = 0;
  cudaGetDeviceCount(&devices);
  for (int from = 0; from < devices; from++) {
    for (int to = 0; to < devices; to++) {
      const uint64_t bytes = emulator_link_bytes(from, to);
      if (bytes > 0) fprintf(out, "  bytes from device %d to %d  %13" PRIu64 "\n", from, to, bytes);
    }
  }
}

bool listing_print(FILE *out, const listing *listing, const char *heading, error_text *error) {
  fputs(heading, out);
  print_links(out);
  size_t next = 0;
  while (next < listing->count) {
    if (listing->lines[next].file[0] == '\0') {
      fputs("\nat places that the compiler gives no line\n\n", out);
      print_titles(out, listing);
      fputc('\n', out);
      print_columns(out, listing, &listing->lines[next++].counts);
      fputc('\n', out);
      continue;
    }
    next = print_file(out, listing, next, error);
    if (next == SIZE_MAX) return false;
  }
  return true;
}

// ---- The busiest lines --------------------------------------------------------------------------

static uint64_t weight(const count_values *counts) {
  return counts->value[COUNT_GLOBAL_LOAD_SECTORS] + counts->value[COUNT_GLOBAL_STORE_SECTORS] +
         counts->value[COUNT_SHARED_LOAD_WAVEFRONTS] + counts->value[COUNT_SHARED_STORE_WAVEFRONTS];
}

static int heaviest_first(const void *a, const void *b) {
  const uint64_t left = weight(&(*(const emulator_line_counts *const *)a)->counts);
  const uint64_t right = weight(&(*(const emulator_line_counts *const *)b)->counts);
  return (left < right) - (left > right);
}

// Returns the text of a line of a file without its indentation, or "" when it cannot be read. The
// caller frees it.
static char *line_text(const char *path, int number) {
  char *text = NULL;
  size_t room = 0;
  FILE *source = fopen(path, "r");
  bool found = source != NULL;
  for (int i = 0; i < number && found; i++) found = getline(&text, &room, source) > 0;
  if (source) fclose(source);
  char *out = strdup(found && text ? text + strspn(text, " \t") : "");
  if (out) out[strcspn(out, "\n")] = '\0';
  free(text);
  return out;
}

void listing_print_busiest(FILE *out, const listing *listing, size_t most) {
  const emulator_line_counts **order = calloc(listing->count + 1, sizeof(void *));
  const uint64_t all = weight(&listing->total);
  if (!order || all == 0) {
    free(order);
    return;
  }
  for (size_t i = 0; i < listing->count; i++) order[i] = &listing->lines[i];
  qsort(order, listing->count, sizeof(void *), heaviest_first);
  fputs("   share  sectors and wavefronts  line\n", out);
  for (size_t i = 0; i < listing->count && i < most && weight(&order[i]->counts) > 0; i++) {
    char *text = line_text(order[i]->file, order[i]->line);
    fprintf(out, "  %5.1f%%  %22" PRIu64 "  %s:%d  %s\n",
            100 * (double)weight(&order[i]->counts) / (double)all, weight(&order[i]->counts),
            order[i]->file, order[i]->line, text ? text : "");
    free(text);
  }
  free(order);
}

void listing_print_total(FILE *out, const listing *listing) {
  for (int column = 0; column < COUNT_COLUMNS; column++) {
    fprintf(out, "  %-24s %15" PRIu64, column_names[column].name, listing->total.value[column]);
    if (column_is_per_request(column) && listing->total.value[column - 1] > 0) {
      fprintf(out, "  %6.2f for each request",
              (double)listing->total.value[column] / (double)listing->total.value[column - 1]);
    }
    fputc('\n', out);
  }
  print_links(out);
}
