#include "mutants/expression.h"

#include <string.h>

bool spaced_before(const source *file, size_t index) {
  const size_t previous = token_previous(file, index);
  return previous != NO_TOKEN && !token_touches(file, previous, index);
}

bool spaced_behind(const source *file, size_t index) {
  const size_t next = token_next(file, index);
  return next != NO_TOKEN && !token_touches(file, index, next);
}

bool is_binary(const source *file, size_t index, const char *spelling) {
  return token_is(file, index, spelling) && spaced_before(file, index) &&
         spaced_behind(file, index) && !token_is(file, token_previous(file, index), "template");
}

bool is_pair(const source *file, size_t index, const char *spelling) {
  const size_t next = token_next(file, index);
  const char first[] = {spelling[0], '\0'}, second[] = {spelling[1], '\0'};
  return token_is(file, index, first) && token_is(file, next, second) &&
         token_touches(file, index, next);
}

size_t template_end(const source *file, size_t open) {
  size_t depth = 0;
  for (size_t i = open; i != NO_TOKEN && !token_is(file, i, ";"); i = token_next(file, i)) {
    if (token_opens_group(file, i)) i = token_group_end(file, i);
    if (i == NO_TOKEN) break;
    depth += token_is(file, i, "<");
    if (token_is(file, i, ">") && --depth == 0) return i;
  }
  return NO_TOKEN;
}

static size_t template_start(const source *file, size_t close) {
  size_t depth = 0;
  for (size_t i = close; i != NO_TOKEN && !token_is(file, i, ";"); i = token_previous(file, i)) {
    depth += token_is(file, i, ">");
    if (token_is(file, i, "<") && --depth == 0) return i;
  }
  return NO_TOKEN;
}

size_t expression_end(const source *file, size_t first) {
  size_t last = NO_TOKEN;
  for (size_t i = first; i != NO_TOKEN; i = token_next(file, i)) {
    if (token_is(file, i, ",") || token_is(file, i, ";") || token_closes_group(file, i)) break;
    if (token_opens_group(file, i)) i = token_group_end(file, i);
    last = i;
  }
  return last;
}

bool last_argument(const source *file, size_t open, size_t *first, size_t *last) {
  const size_t close = token_group_end(file, open);
  if (close == NO_TOKEN || token_next(file, open) == close) return false;
  *first = token_next(file, open);
  *last = token_previous(file, close);
  for (size_t i = *first; i != close && i != NO_TOKEN; i = token_next(file, i)) {
    if (token_opens_group(file, i)) i = token_group_end(file, i);
    if (token_is(file, i, ",")) *first = token_next(file, i);
  }
  return true;
}

static bool joins_names(const source *file, size_t index) {
  return token_is(file, index, ".") || token_is(file, index, "->") || token_is(file, index, "::");
}

size_t name_end(const source *file, size_t first) {
  size_t last = first;
  for (size_t next = token_next(file, last); next != NO_TOKEN; next = token_next(file, last)) {
    if (joins_names(file, next) && token_is_name(file, token_next(file, next))) {
      last = token_next(file, next);
    } else if (token_is(file, next, "[") && token_group_end(file, next) != NO_TOKEN) {
      last = token_group_end(file, next);
    } else {
      break;
    }
  }
  return last;
}

size_t name_start(const source *file, size_t last) {
  size_t first = last;
  while (first != NO_TOKEN && token_is(file, first, "]")) {
    first = token_group_start(file, first);
    first = first == NO_TOKEN ? NO_TOKEN : token_previous(file, first);
  }
  if (!token_is_name(file, first)) return NO_TOKEN;
  const size_t before = token_previous(file, first);
  if (!joins_names(file, before)) return first;
  return name_start(file, token_previous(file, before));
}

// = and += are, == and != are not.
static bool assigns(const source *file, size_t index) {
  if (!token_is(file, index, "=")) return false;
  const size_t previous = token_previous(file, index), next = token_next(file, index);
  const bool after = token_touches(file, previous, index) &&
                     (token_is(file, previous, "=") || token_is(file, previous, "!"));
  return !after && !(token_touches(file, index, next) && token_is(file, next, "="));
}

// Tells whether the condition of a ?: must end at this token.
static bool limits_condition(const source *file, size_t index) {
  static const char *const limits[] = {"?", ":", ",", ";", "return"};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (token_is(file, index, limits[i])) return true;
  return assigns(file, index);
}

static bool is_logical(const source *file, size_t index) {
  return is_pair(file, index, "&&") || is_pair(file, index, "||");
}

size_t condition_start(const source *file, size_t at, bool operand) {
  size_t first = NO_TOKEN;
  for (size_t i = token_previous(file, at); i != NO_TOKEN; i = token_previous(file, i)) {
    if (token_opens_group(file, i) || token_is(file, i, "}") || limits_condition(file, i)) break;
    if (operand && is_logical(file, token_previous(file, i))) break;
    if (token_closes_group(file, i)) i = token_group_start(file, i);
    if (token_is(file, i, ">") && !spaced_before(file, i)) i = template_start(file, i);
    if (i == NO_TOKEN) break;
    first = i;
  }
  return first;
}

size_t operand_end(const source *file, size_t at) {
  size_t last = NO_TOKEN;
  const size_t second = token_next(file, at);
  for (size_t i = token_next(file, second); i != NO_TOKEN; i = token_next(file, i)) {
    if (token_closes_group(file, i) || limits_condition(file, i) || is_logical(file, i)) break;
    if (token_opens_group(file, i)) i = token_group_end(file, i);
    last = i;
  }
  return last;
}

bool begins_statement(const source *file, size_t index) {
  static const char *const before[] = {";", "{", "}", ")", "else", "return"};
  const size_t previous = token_previous(file, index);
  for (size_t i = 0; i < sizeof before / sizeof *before; i++)
    if (token_is(file, previous, before[i])) return true;
  return false;
}
