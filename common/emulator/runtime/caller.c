#define _GNU_SOURCE
#include "caller.h"

#include "code_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

// The instructions behind the calls that have led here, the innermost first.
enum { CALLS_MAX = 12 };
typedef struct {
  const void *code[CALLS_MAX];
  size_t count;
} calls;

static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *to) {
  calls *found = to;
  const uintptr_t behind = _Unwind_GetIP(context);
  if (behind == 0 || found->count == CALLS_MAX) return _URC_END_OF_STACK;
  found->code[found->count++] = (const void *)(behind - 1);
  return _URC_NO_REASON;
}

// The lines of the program among them, as "FILE:LINE". Each instruction may belong to an inlined function and to its
// caller, which code_line.h gives as a sentence.
typedef struct {
  char place[2 * CALLS_MAX][CALLER_TEXT];
  size_t count;
} places;

static const char called_from[] = "called from ";

static void add_places(places *found, const code_line *line) {
  if (line->line == 0 || !code_line_of_program(line)) return;
  snprintf(found->place[found->count++], CALLER_TEXT, "%.200s:%d", line->file, line->line);
  if (line->caller[0] == '\0') return;
  snprintf(found->place[found->count++], CALLER_TEXT, "%.230s",
           line->caller + sizeof called_from - 1);
}

static bool same_file(const char *place, const char *other) {
  const char *colon = strrchr(place, ':');
  return strncmp(place, other, (size_t)(colon - place) + 1) == 0;
}

// The first place must be the site itself: then the compiler has left out no function in between.
static const char *choose(const places *found, const emulator_site *site) {
  if (found->count < 2 || atoi(strrchr(found->place[0], ':') + 1) != site->line) return NULL;
  for (size_t i = 1; i < found->count; i++)
    if (!same_file(found->place[0], found->place[i])) return found->place[i];
  return found->place[1];
}

void caller_of(const emulator_site *site, char text[CALLER_TEXT]) {
  text[0] = '\0';
  calls calls = {.count = 0};
  _Unwind_Backtrace(take, &calls);
  // On the heap, because a thread's stack is small.
  code_line *lines = calloc(CALLS_MAX, sizeof *lines);
  places *found = calloc(1, sizeof *found);
  if (lines != NULL && found != NULL) {
    code_lines_find(calls.code, calls.count, lines);
    for (size_t i = 0; i < calls.count; i++) add_places(found, &lines[i]);
    const char *place = choose(found, site);
    if (place != NULL) snprintf(text, CALLER_TEXT, "%s%.230s", called_from, place);
  }
  free(found);
  free(lines);
}
