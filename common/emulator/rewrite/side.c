#include "emulator/rewrite/side.h"

#include <stdlib.h>
#include <string.h>

// The marker that returns from a file has the line behind the #include.
static void find_include_lines(side *side) {
  const source *file = &side->file;
  size_t open[DEPTH_MAX], depth = 0;
  side->include_lines = array_allocate(file->marker_count + 1, sizeof(size_t));
  for (size_t i = 0; i < file->marker_count; i++) {
    side->include_lines[i] = 0;
    if (file->markers[i].enters && depth < DEPTH_MAX) open[depth++] = i;
    if (file->markers[i].leaves && depth > 0)
      side->include_lines[open[--depth]] = file->markers[i].line;
  }
}

// Goes on from `at` to the next token that is in no preprocessor line, and finds its place.
static void settle(side *side) {
  const source *file = &side->file;
  while (side->at < file->tokens.count && (file->tokens.items[side->at].kind == TOKEN_DIRECTIVE ||
                                           file->tokens.items[side->at].directive != NO_DIRECTIVE))
    side->at++;
  place *place = &side->place;
  const line_marker *marker = NULL;
  for (; side->next_marker < file->marker_count; side->next_marker++) {
    marker = &file->markers[side->next_marker];
    if (marker->directive > side->at) break;
    if (marker->enters && place->depth < DEPTH_MAX)
      place->lines[place->depth++] = side->include_lines[side->next_marker];
    if (marker->leaves && place->depth > 0) place->depth--;
  }
  if (side->at == file->tokens.count) return;
  marker = side->next_marker > 0 ? &file->markers[side->next_marker - 1] : NULL;
  place->lines[place->depth] = source_line(file, marker, side->at);
}

void side_go_to(side *side, size_t index) {
  side->at = index;
  settle(side);
}

side side_open(const char *path, const char *text, size_t length) {
  side made = {.file = source_open_preprocessed(path, text, length)};
  find_include_lines(&made);
  settle(&made);
  return made;
}

void side_close(side *side) {
  free(side->include_lines);
  source_close(&side->file);
}

bool side_ended(const side *side) { return side->at >= side->file.tokens.count; }

// Which of the two places comes first: below 0, 0 or above.
static int compare_places(const side *a, const side *b) {
  if (side_ended(a) || side_ended(b)) return (int)side_ended(a) - (int)side_ended(b);
  for (size_t i = 0; i <= a->place.depth && i <= b->place.depth; i++) {
    if (a->place.lines[i] != b->place.lines[i])
      return a->place.lines[i] < b->place.lines[i] ? -1 : 1;
  }
  return (a->place.depth > b->place.depth) - (a->place.depth < b->place.depth);
}

static bool same_token(const side *a, const side *b) {
  if (side_ended(a) || side_ended(b)) return false;
  const token *of_a = &a->file.tokens.items[a->at], *of_b = &b->file.tokens.items[b->at];
  return of_a->length == of_b->length &&
         memcmp(a->file.text + of_a->start, b->file.text + of_b->start, of_a->length) == 0;
}

static void pass_line(side *side) {
  const place line = side->place;
  while (!side_ended(side) && side->place.depth == line.depth &&
         memcmp(side->place.lines, line.lines, (line.depth + 1) * sizeof *line.lines) == 0)
    side_go_to(side, side->at + 1);
}

bool sides_meet(const side *a, const side *b) {
  return compare_places(a, b) == 0 && same_token(a, b);
}

void sides_pass_difference(side *device, side *host) {
  for (;;) {
    const int order = compare_places(device, host);
    if (order == 0 && (side_ended(device) || same_token(device, host))) return;
    if (order < 0) side_go_to(device, device->at + 1);
    if (order > 0) side_go_to(host, host->at + 1);
    if (order == 0) pass_line(device), pass_line(host);
  }
}
