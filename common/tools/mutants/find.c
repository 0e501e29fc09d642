// Finds all mutants of a source, and leaves out the places where none may begin.
#include "mutants/expression.h"
#include "mutants/mutant.h"
#include "mutants/operators.h"

#include <stdlib.h>
#include <string.h>

// Tells whether the lines from this directive up to its #else or #endif are for nvcc alone.
static bool begins_nvcc(const source *file, size_t directive) {
  return token_is(file, directive + 1, "ifdef") && token_is(file, directive + 2, "__CUDACC__");
}

// Tells whether the emulator always takes the lines from this directive up to its #else: #ifndef __CUDACC__, or an #if
// for which it is enough that __CUDACC__ is not defined.
static bool begins_emulator(const source *file, size_t directive) {
  if (token_is(file, directive + 1, "ifndef")) return token_is(file, directive + 2, "__CUDACC__");
  if (!token_is(file, directive + 1, "if")) return false;
  bool names_nvcc = false;
  for (size_t i = directive + 2;
       i < file->tokens.count && file->tokens.items[i].directive == directive; i++) {
    if (is_pair(file, i, "&&")) return false;
    if (token_is(file, i, "!") && token_is(file, i + 1, "defined") &&
        token_is(file, i + 3, "__CUDACC__"))
      names_nvcc = true;
  }
  return names_nvcc;
}

// Returns the #else or #endif behind which the emulator's part goes on.
static size_t skip_nvcc(const source *file, size_t directive) {
  size_t depth = 0;
  for (size_t i = directive; i < file->tokens.count; i++) {
    if (file->tokens.items[i].kind != TOKEN_DIRECTIVE) continue;
    const bool opens = token_is(file, i + 1, "if") || token_is(file, i + 1, "ifdef") ||
                       token_is(file, i + 1, "ifndef");
    if (opens && i != directive) depth++;
    if (depth == 0 && i != directive &&
        (token_is(file, i + 1, "else") || token_is(file, i + 1, "endif")))
      return i;
    if (token_is(file, i + 1, "endif")) depth--;
  }
  return file->tokens.count;
}

// Returns the first token from here on at which mutants may begin.
static size_t skip(const source *file, size_t i, bool *in_emulator) {
  const token *it = &file->tokens.items[i];
  if (it->kind == TOKEN_DIRECTIVE) {
    if (begins_nvcc(file, i)) return skip_nvcc(file, i);
    if (begins_emulator(file, i)) *in_emulator = true;
    if (token_is(file, i + 1, "endif")) *in_emulator = false;
    if (*in_emulator && token_is(file, i + 1, "else")) {
      *in_emulator = false;
      return skip_nvcc(file, i);
    }
    if (token_is(file, i + 1, "define")) return source_macro_body(file, i);
    size_t end = i + 1;
    while (end < file->tokens.count && file->tokens.items[end].directive == i) end++;
    return end;
  }
  if (token_is(file, i, "static_assert")) {
    const size_t close = token_group_end(file, token_next(file, i));
    return close == NO_TOKEN ? i : close + 1;
  }
  return i;
}

static int by_place(const void *a, const void *b) {
  const mutant *left = a, *right = b;
  if (left->start != right->start) return left->start < right->start ? -1 : 1;
  if (left->length != right->length) return left->length < right->length ? -1 : 1;
  return strcmp(left->replacement, right->replacement);
}

void mutants_find(const source *file, mutant_list *mutants) {
  bool in_emulator = false; // behind begins_emulator
  for (size_t i = 0; i < file->tokens.count;) {
    const size_t next = skip(file, i, &in_emulator);
    if (next != i) {
      i = next;
      continue;
    }
    operators_apply(file, i, mutants);
    i++;
  }
  if (mutants->count > 0) qsort(mutants->items, mutants->count, sizeof(mutant), by_place);
}
