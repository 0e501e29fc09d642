#include "emulator/rewrite/scope.h"

#include <stdlib.h>

// Does the class, struct, union or enum keyword at `key` head the definition that opens at `brace`,
// and not merely name a type, as in `struct point middle(int x) {`?
static bool heads_class(const source *file, size_t key, size_t brace) {
  size_t i = token_next(file, key);
  // Attributes before the name: [[nodiscard]], __align__(16).
  for (;;) {
    size_t behind = token_next(file, i);
    if (token_is(file, i, "["))
      i = token_next(file, token_group_end(file, i));
    else if (token_is(file, behind, "("))
      i = token_next(file, token_group_end(file, behind));
    else
      break;
  }
  // The name, which a specialisation follows with template arguments.
  size_t angles = 0;
  for (; i < brace; i = token_next(file, i)) {
    if (token_is(file, i, "<")) angles++;
    if (token_is(file, i, ">") && angles > 0) angles--;
    if (angles > 0 || token_is(file, i, ">") || token_is(file, i, "::")) continue;
    size_t behind = token_next(file, i);
    if (!token_is(file, behind, "::") && !token_is(file, behind, "<")) break;
  }
  if (i < brace && !token_is(file, i, ":")) i = token_next(file, i);
  return i == brace || token_is(file, i, ":") || token_is(file, i, "final");
}

static scope_kind classify(const source *file, size_t statement, size_t brace) {
  size_t before = token_previous(file, brace);
  if (before != NO_TOKEN && file->tokens.items[before].kind == TOKEN_STRING &&
      token_is(file, token_previous(file, before), "extern"))
    return SCOPE_NAMESPACE;
  for (size_t i = statement; i < brace; i++) {
    if (file->tokens.items[i].directive != NO_DIRECTIVE) continue;
    if (token_is(file, i, "(")) { // parameters and conditions head nothing
      size_t end = token_group_end(file, i);
      if (end > brace) break;
      i = end;
    }
    if (token_is(file, i, "namespace")) return SCOPE_NAMESPACE;
    bool key = token_is(file, i, "class") || token_is(file, i, "struct") ||
               token_is(file, i, "union") || token_is(file, i, "enum");
    if (key && heads_class(file, i, brace)) return SCOPE_CLASS;
  }
  return SCOPE_BODY;
}

void scope_open(scope_tracker *tracker, const source *file, size_t statement, size_t brace) {
  tracker->scopes = array_grow(tracker->scopes, tracker->count, &tracker->capacity, sizeof(scope));
  tracker->scopes[tracker->count++] =
      (scope){.kind = classify(file, statement, brace), .outer = tracker->current};
  tracker->current = tracker->count;
}

void scope_close(scope_tracker *tracker) {
  if (tracker->current > 0) tracker->current = tracker->scopes[tracker->current - 1].outer;
}

void scope_conditional(scope_tracker *tracker, const source *file, size_t keyword) {
  if (token_is(file, keyword, "if") || token_is(file, keyword, "ifdef") ||
      token_is(file, keyword, "ifndef")) {
    tracker->conditionals = array_grow(tracker->conditionals, tracker->conditional_depth,
                                       &tracker->conditional_capacity, sizeof(conditional));
    tracker->conditionals[tracker->conditional_depth++] =
        (conditional){.scope_before = tracker->current};
    return;
  }
  if (tracker->conditional_depth == 0)
    return; // a stray #else or #endif is the compiler's to report
  conditional *innermost = &tracker->conditionals[tracker->conditional_depth - 1];
  if (token_is(file, keyword, "else") || token_is(file, keyword, "elif")) {
    tracker->current = innermost->scope_before;
    innermost->has_else |= token_is(file, keyword, "else");
  } else if (token_is(file, keyword, "endif")) {
    // Branches of sound code leave the same scopes open, and a missing #else is an empty branch.
    if (!innermost->has_else) tracker->current = innermost->scope_before;
    tracker->conditional_depth--;
  }
}

bool scope_is_body(const scope_tracker *tracker) {
  return tracker->current > 0 && tracker->scopes[tracker->current - 1].kind == SCOPE_BODY;
}

void scope_free(scope_tracker *tracker) {
  free(tracker->scopes);
  free(tracker->conditionals);
}
