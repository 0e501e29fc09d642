#include "emulator/rewrite/declared_names.h"

#include "emulator/rewrite/kernel_twin.h"
#include "emulator/rewrite/scope.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// May the identifier be a macro that holds the word __device__? Preprocessed text has none.
static bool may_be_macro(const source *file, size_t index) {
  const token *it = &file->tokens.items[index];
  if (file->preprocessed || it->kind != TOKEN_IDENTIFIER) return false;
  const char *text = file->text + it->start;
  bool capitals = it->length > 1 && text[0] != '_';
  for (size_t i = 0; i < it->length; i++) capitals &= !islower((unsigned char)text[i]);
  if (capitals) return true;
  for (size_t i = 0; i + 2 < file->tokens.count; i++) {
    if (file->tokens.items[i].kind != TOKEN_DIRECTIVE || !token_is(file, i + 1, "define")) continue;
    const token *macro = &file->tokens.items[i + 2];
    if (macro->length == it->length && memcmp(file->text + macro->start, text, it->length) == 0)
      return true;
  }
  return false;
}

// Returns the kind of the function whose declaration begins at `first` and whose name is the token `name`; 0 if this is no
// declaration of a function outside of classes.
static unsigned read_kind(const source *file, size_t first, size_t name) {
  static const char *const others[] = {"=",      "using",    "typedef", "friend",
                                       "return", "operator", "else",    "::"};
  static const char *const unknown[] = {"constexpr", "consteval", "__attribute__"};
  bool host = false, device = false, kernel = false, certain = true;
  for (size_t i = first; i != NO_TOKEN && i < name; i = token_next(file, i)) {
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
      const bool qualifies_type = token_is(file, i, "::") && token_next(file, i) != name;
      if (token_is(file, i, others[k]) && !qualifies_type) return 0;
    }
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
      certain &= !token_is(file, i, unknown[k]);
    host |= token_is(file, i, "__host__");
    device |= token_is(file, i, "__device__");
    kernel |= token_is(file, i, "__global__");
    certain &= !may_be_macro(file, i);
  }
  if (!certain || (host && device)) return UNKNOWN;
  return kernel ? KERNEL : device ? DEVICE : HOST;
}

// Is there a line such as #if between the two? In preprocessed text these lines only name files.
static bool has_directive(const source *file, size_t first, size_t last) {
  for (size_t i = first; i < last && !file->preprocessed; i++)
    if (file->tokens.items[i].kind == TOKEN_DIRECTIVE && !token_is(file, i + 1, "pragma"))
      return true;
  return false;
}

static void add_name(const source *file, size_t name, unsigned kind, declared_names *found) {
  const token *it = &file->tokens.items[name];
  found->names = array_grow(found->names, found->count, &found->capacity, sizeof *found->names);
  found->names[found->count++] = (declared_name){file->text + it->start, it->length, kind};
}

// Returns the name of the variable of the host that is declared from `first` to `end`; NO_TOKEN where something else is.
// Code of the device may read constants, because the compiler knows their values.
static size_t variable_name(const source *file, size_t first, size_t end) {
  static const char *const others[] = {"const",      "constexpr", "__device__", "__constant__",
                                       "__shared__", "using",     "typedef",    "class",
                                       "struct",     "union",     "enum",       "namespace",
                                       "template",   "operator",  "(",          "__managed__"};
  size_t name = NO_TOKEN;
  for (size_t i = first; i != NO_TOKEN && i < end; i = token_next(file, i)) {
    if (token_is(file, i, "=") || token_is(file, i, "[")) break;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
      if (token_is(file, i, others[k])) return NO_TOKEN;
    if (may_be_macro(file, i) && name == NO_TOKEN) return NO_TOKEN;
    name = i;
  }
  const bool has_type = name != NO_TOKEN && name != first;
  return has_type && token_is_name(file, name) && !token_is(file, token_previous(file, name), "::")
             ? name
             : NO_TOKEN;
}

// Adds the name, and the function if it has a body, that is declared from `statement` to its { or ; at `end`.
static void collect_declaration(const source *file, size_t statement, size_t end,
                                declared_names *found) {
  size_t first = statement;
  while (token_is(file, first, "template") && token_is(file, token_next(file, first), "<")) {
    first = token_next(file, token_angle_end(file, token_next(file, first)));
  }
  if (first == NO_TOKEN || first >= end) return;
  const size_t name = kernel_find_name(file, first);
  unsigned kind = name == NO_TOKEN || name >= end ? 0 : read_kind(file, first, name);
  const bool certain = !source_is_library(file, first) && !has_directive(file, statement, end);
  if (kind == 0) {
    const size_t variable = variable_name(file, statement, end);
    if (variable != NO_TOKEN) add_name(file, variable, certain ? VARIABLE : UNKNOWN, found);
    return;
  }
  if (!certain) kind = UNKNOWN;
  add_name(file, name, kind, found);
  const size_t body_end = token_is(file, end, "{") ? token_group_end(file, end) : NO_TOKEN;
  if (body_end == NO_TOKEN || kind == UNKNOWN || has_directive(file, end, body_end)) return;
  found->functions = array_grow(found->functions, found->function_count, &found->function_capacity,
                                sizeof *found->functions);
  found->functions[found->function_count++] = (defined_function){statement, end, body_end, kind};
}

static int compare_names(const void *left, const void *right) {
  const declared_name *a = left, *b = right;
  const int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
  return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static void sort_names(declared_names *found) {
  if (found->count == 0) return;
  qsort(found->names, found->count, sizeof *found->names, compare_names);
  size_t kept = 0;
  for (size_t i = 1; i < found->count; i++) {
    if (compare_names(&found->names[kept], &found->names[i]) == 0)
      found->names[kept].kinds |= found->names[i].kinds;
    else
      found->names[++kept] = found->names[i];
  }
  found->count = kept + 1;
}

// Is the { at `brace` that of a namespace, whose declarations are read as well?
static bool opens_namespace(const source *file, size_t statement, size_t brace) {
  scope_tracker scopes = {0};
  scope_open(&scopes, file, statement, brace);
  const bool space = scopes.scopes[0].kind == SCOPE_NAMESPACE;
  scope_free(&scopes);
  return space;
}

bool declared_names_collect(const source *file, declared_names *found) {
  size_t statement = NO_TOKEN, depth = 0;
  for (size_t i = 0; i < file->tokens.count; i++) {
    const token *it = &file->tokens.items[i];
    if (it->kind == TOKEN_DIRECTIVE || it->directive != NO_DIRECTIVE) continue;
    if (statement == NO_TOKEN) statement = i;
    const bool opens = token_is(file, i, "{");
    if (!opens && !token_is(file, i, ";") && !token_is(file, i, "}")) continue;
    if (token_is(file, i, "}")) {
      if (depth-- == 0) return false;
    } else if (opens && opens_namespace(file, statement, i)) {
      depth++;
    } else {
      collect_declaration(file, statement, i, found);
      if (opens) i = token_group_end(file, i);
      if (i == NO_TOKEN) return false;
    }
    statement = NO_TOKEN;
  }
  sort_names(found);
  return depth == 0;
}

// Returns the kind of a name that CUDA itself declares for the device; 0 for all others. These are the frequent ones.
static unsigned own_kind(const source *file, size_t name) {
  static const char *const functions[] = {
      "__syncthreads",    "__syncwarp",      "__shfl_sync",   "__shfl_up_sync",
      "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync", "__any_sync",
      "__all_sync",       "__activemask",    "__threadfence", "__threadfence_block"};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (token_is(file, name, functions[i])) return DEVICE;
  return token_is(file, name, "threadIdx") || token_is(file, name, "blockIdx") ? THREAD : 0;
}

unsigned declared_names_kind(const source *file, const declared_names *found, size_t name) {
  const unsigned own = own_kind(file, name);
  if (own != 0) return own;
  const token *it = &file->tokens.items[name];
  const declared_name wanted = {file->text + it->start, it->length, 0};
  const declared_name *known =
      bsearch(&wanted, found->names, found->count, sizeof wanted, compare_names);
  return known == NULL ? 0 : known->kinds;
}

void declared_names_free(declared_names *found) {
  free(found->names);
  free(found->functions);
}
