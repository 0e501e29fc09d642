#define _GNU_SOURCE // memmem
// An operator makes one kind of small fault. Each function looks at one token, and adds the mutants that
// begin there.
#include "mutants/operators.h"
#include "mutants/expression.h"
#include "mutants/mutant.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const mutant_operators[] = {
    "barrier",    // a barrier of the block, of a warp or of some warps is left out
    "wait",       // a wait is left out
    "early",      // a wait is over one group too early
    "arrival",    // an arrival or a commit is left out; more arrivals, or fewer bytes, are expected
    "fence",      // a fence is left out
    "parity",     // the wait is for the other parity
    "stage",      // another stage of the ring
    "call",       // another call is left out whose result is not used
    "bound",      // < becomes <=, <= becomes <, likewise > and >=
    "off-by-one", // + 1 and - 1 are left out, a loop begins at 1
    "guard",      // a condition is always true; one of two conditions is left out
    "scale",      // a factor is left out
    "min-max",    // min and max, all and any change places
    "narrow",     // an index of 64 bits has 32
    "pad",        // a pad, an alignment is halved
    NULL};

// ---- Adding -------------------------------------------------------------------------------------

// Adds a mutant that replaces the tokens from first to last by the text.
__attribute__((format(printf, 6, 7))) static void add(mutant_list *mutants, const source *file,
                                                      const char *kind, size_t first, size_t last,
                                                      const char *format, ...) {
  if (first == NO_TOKEN || last == NO_TOKEN) return;
  const token *begin = &file->tokens.items[first], *end = &file->tokens.items[last];
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  size_t line_start = begin->start;
  while (line_start > 0 && file->text[line_start - 1] != '\n') line_start--;
  mutants->items = array_grow(mutants->items, mutants->count, &mutants->capacity, sizeof(mutant));
  char *replacement = array_allocate(strlen(text) + 1, 1);
  strcpy(replacement, text);
  mutants->items[mutants->count++] = (mutant){.kind = kind,
                                              .start = begin->start,
                                              .length = end->start + end->length - begin->start,
                                              .replacement = replacement,
                                              .line = begin->line,
                                              .column = begin->start - line_start + 1};
}

// Returns the text of the source from the first to the last token.
static const char *text_of(const source *file, size_t first, size_t last, int *length) {
  const token *begin = &file->tokens.items[first], *end = &file->tokens.items[last];
  *length = (int)(end->start + end->length - begin->start);
  return file->text + begin->start;
}

static bool is_any(const source *file, size_t index, const char *const *words) {
  for (; *words != NULL; words++)
    if (token_is(file, index, *words)) return true;
  return false;
}

static bool contains(const source *file, size_t index, const char *word) {
  const token *it = &file->tokens.items[index];
  return memmem(file->text + it->start, it->length, word, strlen(word)) != NULL;
}

static bool is_number(const source *file, size_t index) {
  return index < file->tokens.count && file->tokens.items[index].kind == TOKEN_NUMBER;
}

static long number_at(const source *file, size_t index) {
  return is_number(file, index) ? strtol(file->text + file->tokens.items[index].start, NULL, 10)
                                : 0;
}

// ---- Calls --------------------------------------------------------------------------------------

// Returns the operator that leaves out a call of this name.
static const char *operator_of_call(const source *file, size_t name) {
  static const char *const barriers[] = {"__syncthreads",      "__syncwarp",    "row_barrier",
                                         "named_barrier_wait", "wait_for_turn", NULL};
  static const char *const arrivals[] = {"arrive", "commit", "release", "pass_turn"};
  if (is_any(file, name, barriers)) return "barrier";
  static const char *const fences[] = {"barriers_created", "writes_for_wgmma",
                                       "reads_before_copies", NULL};
  if (contains(file, name, "fence") || is_any(file, name, fences)) return "fence";
  for (size_t i = 0; i < sizeof arrivals / sizeof *arrivals; i++)
    if (contains(file, name, arrivals[i])) return "arrival";
  if (contains(file, name, "wait")) return "wait";
  return contains(file, name, "scale") ? "scale" : "call";
}

// Leaves out a statement that is only a call.
static void leave_call_out(const source *file, size_t first, mutant_list *mutants) {
  if (!token_is_name(file, first) || !begins_statement(file, first)) return;
  const size_t end = name_end(file, first);
  size_t open = token_next(file, end);
  if (token_is(file, open, "<") && !spaced_before(file, open)) {
    open = template_end(file, open);
    open = open == NO_TOKEN ? NO_TOKEN : token_next(file, open);
  }
  if (!token_is(file, open, "(") || token_is(file, end, "]")) return;
  static const char *const none[] = {"static_assert", "if",      "for",      "while",
                                     "switch",        "defined", "decltype", NULL};
  const size_t close = token_group_end(file, open);
  if (close == NO_TOKEN || is_any(file, end, none) || !token_is(file, token_next(file, close), ";"))
    return;
  const char *kind = operator_of_call(file, end);
  // A returned value is needed. Only calls that synchronise return none, so these can be left out behind
  // `return`.
  if (token_is(file, token_previous(file, first), "return") && strcmp(kind, "arrival") != 0) return;
  add(mutants, file, kind, first, close, "(void)0");
}

// The arguments of calls that count.
static void change_argument(const source *file, size_t name, mutant_list *mutants) {
  size_t open = token_next(file, name), first, last;
  if (token_is(file, name, "wgmma_wait") && token_is(file, open, "<")) {
    const size_t newest = token_next(file, open);
    if (is_number(file, newest))
      add(mutants, file, "early", newest, newest, "%ld", number_at(file, newest) + 1);
    return;
  }
  if (!token_is(file, open, "(") || !last_argument(file, open, &first, &last)) return;
  if (token_is(file, token_previous(file, first), "...") || first == last)
    if (token_is_name(file, first) && spaced_behind(file, first)) return;
  if (token_is(file, token_previous(file, name), "void")) return; // a definition
  int length;
  const char *text = text_of(file, first, last, &length);
  if (token_is(file, name, "__pipeline_wait_prior"))
    add(mutants, file, "early", first, last, "(%.*s) + 1", length, text);
  if (token_is(file, name, "barrier_create") || token_is(file, name, "barrier_create_all"))
    add(mutants, file, "arrival", first, last, "(%.*s) + 1", length, text);
  if (token_is(file, name, "barrier_arrive_expecting"))
    add(mutants, file, "arrival", first, last, "(%.*s) / 2", length, text);
  if (token_is(file, name, "named_barrier_wait") || token_is(file, name, "named_barrier_arrive"))
    add(mutants, file, "arrival", first, last, "(%.*s) / 2", length, text);
  if (token_is(file, name, "barrier_wait"))
    add(mutants, file, "parity", first, last, "(%.*s) ^ 1", length, text);
}

// ---- Rings --------------------------------------------------------------------------------------

static void change_parity(const source *file, size_t i, mutant_list *mutants) {
  const size_t at = token_next(file, i), last = token_next(file, token_next(file, at));
  if (!token_is(file, i, "parity") || !is_pair(file, at, "^=")) return;
  add(mutants, file, "parity", i, last, "(void)0");
}

// Tells whether a stage stands in a sizeof, where another stage would change nothing, since all have the same
// size.
static bool is_in_sizeof(const source *file, size_t i) {
  while (i != NO_TOKEN && !token_is(file, i, "(") && !token_is(file, i, ";")) {
    i = token_previous(file, i);
    if (token_closes_group(file, i)) i = token_group_start(file, i);
    if (token_is(file, i, "[")) i = token_previous(file, i);
  }
  return token_is(file, i, "(") && token_is(file, token_previous(file, i), "sizeof");
}

static void change_stage(const source *file, size_t i, mutant_list *mutants) {
  const size_t previous = token_previous(file, i), next = token_next(file, i);
  if (token_is(file, i, "stage") && token_is(file, next, "]") && !is_in_sizeof(file, i)) {
    const size_t first = name_start(file, i);
    int length;
    if (first == NO_TOKEN) return;
    const char *text = text_of(file, first, i, &length);
    add(mutants, file, "stage", first, i, "%.*s ? 0 : 1", length, text);
  }
  if (!is_binary(file, i, "%") || !token_is_name(file, previous)) return;
  const size_t last = name_end(file, next);
  if (last == NO_TOKEN || !token_is(file, last, "STAGES")) return;
  int length;
  const char *text = text_of(file, previous, previous, &length);
  add(mutants, file, "stage", previous, previous, "(%.*s + 1)", length, text);
}

// ---- Comparisons, constants ---------------------------------------------------------------------

static void change_bound(const source *file, size_t i, mutant_list *mutants) {
  static const char *const pairs[][2] = {{"<", "<="}, {"<=", "<"}, {">", ">="}, {">=", ">"}};
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
    if (is_binary(file, i, pairs[p][0])) add(mutants, file, "bound", i, i, "%s", pairs[p][1]);
}

static void change_by_one(const source *file, size_t i, mutant_list *mutants) {
  const size_t next = token_next(file, i);
  if ((is_binary(file, i, "+") || is_binary(file, i, "-")) && token_is(file, next, "1"))
    add(mutants, file, "off-by-one", i, next, "%s", "");
  if (!token_is(file, i, "for") || !token_is(file, next, "(")) return;
  const size_t name = token_next(file, token_next(file, next)), equals = token_next(file, name);
  const size_t zero = token_next(file, equals);
  if (token_is(file, equals, "=") && token_is(file, zero, "0"))
    add(mutants, file, "off-by-one", zero, zero, "1");
}

static void change_pad(const source *file, size_t i, mutant_list *mutants) {
  if (!is_number(file, i)) return;
  const size_t previous = token_previous(file, i), before = token_previous(file, previous);
  const long number = number_at(file, i);
  const bool pad =
      token_is(file, previous, "=") && token_is_name(file, before) && contains(file, before, "PAD");
  const bool alignment = token_is(file, previous, "(") &&
                         (token_is(file, before, "alignas") || token_is(file, before, "__align__"));
  const bool grid = number == 1024 && is_binary(file, previous, "+");
  const bool mask = (number == 1023 || number == 127) && is_binary(file, previous, "&");
  if (pad || alignment || grid || mask) add(mutants, file, "pad", i, i, "%ld", number / 2);
}

static void change_width(const source *file, size_t i, mutant_list *mutants) {
  const size_t next = token_next(file, i), previous = token_previous(file, i);
  if (token_is(file, i, "long") && token_is(file, next, "long")) {
    const size_t behind = token_next(file, next);
    if (token_is(file, previous, "(") || token_is(file, token_next(file, behind), "="))
      add(mutants, file, "narrow", i, next, "int");
  }
  if (!token_is(file, i, "size_t")) return;
  const bool cast = token_is(file, previous, "(") && token_is(file, next, ")");
  const bool variable = token_is_name(file, next) && token_is(file, token_next(file, next), "=");
  if (cast || variable) add(mutants, file, "narrow", i, i, "int");
}

static void swap_functions(const source *file, size_t i, mutant_list *mutants) {
  static const char *const pairs[][2] = {
      {"min", "max"}, {"fminf", "fmaxf"}, {"__all_sync", "__any_sync"}};
  if (!token_is(file, token_next(file, i), "(")) return;
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
    for (size_t one = 0; one < 2; one++)
      if (token_is(file, i, pairs[p][one]))
        add(mutants, file, "min-max", i, i, "%s", pairs[p][1 - one]);
}

// ---- Conditions, factors ------------------------------------------------------------------------

static void drop_guard(const source *file, size_t i, mutant_list *mutants) {
  const size_t next = token_next(file, i);
  if (token_is(file, i, "if") && token_is(file, next, "(")) {
    const size_t close = token_group_end(file, next);
    if (close != NO_TOKEN)
      add(mutants, file, "guard", token_next(file, next), token_previous(file, close), "true");
  }
  if (token_is(file, i, "?")) {
    const size_t first = condition_start(file, i, false);
    add(mutants, file, "guard", first, token_previous(file, i), "true");
    add(mutants, file, "guard", first, token_previous(file, i), "false");
  }
  const bool logical = is_pair(file, i, "&&") || is_pair(file, i, "||");
  if (!logical || !spaced_before(file, i) || !spaced_behind(file, next)) return;
  const size_t first = condition_start(file, i, true);
  add(mutants, file, "guard", first, next, "%s", "");
  add(mutants, file, "guard", i, operand_end(file, i), "%s", "");
}

static bool is_factor(const source *file, size_t name) {
  static const char *const factors[] = {"scale",   "scale_log2", "correction", "factor",
                                        "row_sum", "LOG2_E",     "LN_2",       NULL};
  return name != NO_TOKEN && is_any(file, name, factors);
}

// Returns the last word of a name, such as scale of shape.scale, and factor of factor[0].
static size_t last_word(const source *file, size_t last) {
  while (last != NO_TOKEN && token_is(file, last, "]")) {
    last = token_group_start(file, last);
    last = last == NO_TOKEN ? NO_TOKEN : token_previous(file, last);
  }
  return last;
}

static void drop_factor(const source *file, size_t i, mutant_list *mutants) {
  const size_t next = token_next(file, i);
  if (is_pair(file, i, "*=") || is_pair(file, i, "/=")) {
    const size_t first = token_next(file, next);
    if (!is_number(file, first)) // offset /= 2 is the step of a loop
      add(mutants, file, "scale", first, expression_end(file, first), "1");
  }
  if (!is_binary(file, i, "*")) return;
  const size_t left = token_previous(file, i), right = name_end(file, next);
  if (is_factor(file, last_word(file, right))) add(mutants, file, "scale", i, right, "%s", "");
  const size_t first = name_start(file, left);
  if (first != NO_TOKEN && is_factor(file, last_word(file, left)))
    add(mutants, file, "scale", first, i, "%s", "");
}

void operators_apply(const source *file, size_t i, mutant_list *mutants) {
  leave_call_out(file, i, mutants);
  change_argument(file, i, mutants);
  change_parity(file, i, mutants);
  change_stage(file, i, mutants);
  change_bound(file, i, mutants);
  change_by_one(file, i, mutants);
  change_pad(file, i, mutants);
  change_width(file, i, mutants);
  swap_functions(file, i, mutants);
  drop_guard(file, i, mutants);
  drop_factor(file, i, mutants);
}
