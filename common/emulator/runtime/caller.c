#define _GNU_SOURCE
#include "caller.h"

#include "code_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *to) {
  caller_chain *found = to;
  int interrupted = 0; // else the address is the one behind a call
  const uintptr_t code = _Unwind_GetIPInfo(context, &interrupted);
  if (code == 0 || found->count == CALLER_CALLS) return _URC_END_OF_STACK;
  found->code[found->count++] = (const void *)(code - (interrupted == 0));
  return _URC_NO_REASON;
}

void caller_take(caller_chain *chain) {
  chain->count = 0;
  _Unwind_Backtrace(take, chain);
}

// The lines of the program among them, as "FILE:LINE". Each instruction may belong to an inlined function and to its
// caller, which code_line.h gives as a sentence.
typedef struct {
  char place[2 * CALLER_CALLS][CALLER_TEXT];
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
static const char *choose(const places *found, int line) {
  if (found->count < 2 || atoi(strrchr(found->place[0], ':') + 1) != line) return NULL;
  for (size_t i = 1; i < found->count; i++)
    if (!same_file(found->place[0], found->place[i])) return found->place[i];
  return found->place[1];
}

void caller_of(const emulator_site *site, char text[CALLER_TEXT]) {
  caller_chain chain;
  caller_take(&chain);
  caller_of_chain(&chain, site->line, text);
}

void caller_of_chain(const caller_chain *chain, int line, char text[CALLER_TEXT]) {
  text[0] = '\0';
  // On the heap, because a thread's stack is small.
  code_line *lines = calloc(CALLER_CALLS, sizeof *lines);
  places *found = calloc(1, sizeof *found);
  if (lines != NULL && found != NULL) {
    code_lines_find(chain->code, chain->count, lines);
    for (size_t i = 0; i < chain->count; i++) add_places(found, &lines[i]);
    const char *place = choose(found, line);
    if (place != NULL) snprintf(text, CALLER_TEXT, "%s%.230s", called_from, place);
  }
  free(found);
  free(lines);
}

uintptr_t caller_in_program(const caller_chain *chain, uintptr_t instruction) {
  code_line line;
  code_line_find((const void *)instruction, &line);
  if (line.line > 0 && (code_line_of_program(&line) || code_line_of_library(&line)))
    return instruction;
  // In a handler the calls before the instruction are those of the handler.
  size_t first = 0;
  while (first < chain->count && (uintptr_t)chain->code[first] != instruction) first++;
  for (size_t i = first + 1; i < chain->count; i++) {
    code_line_find(chain->code[i], &line);
    if (line.line > 0 && code_line_of_program(&line)) return (uintptr_t)chain->code[i];
  }
  return instruction;
}
