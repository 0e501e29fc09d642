#include "emulator/rewrite/execution_space.h"

#include "emulator/rewrite/kernel_twin.h"
#include "emulator/rewrite/scope.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// Where functions of a name run, one bit for each kind. A name with several kinds, or with UNKNOWN, is not checked.
enum { HOST = 1, DEVICE = 2, KERNEL = 4, UNKNOWN = 8 };

typedef struct {
  const char *text; // not terminated
  size_t length;
  unsigned kinds;
} declared_name;

typedef struct {
  size_t parameters; // token (
  size_t body, end;  // tokens { and }
  unsigned kind;
} defined_function;

typedef struct {
  declared_name *names; // sorted, each once, after the collection
  size_t count, capacity;
  defined_function *functions;
  size_t function_count, function_capacity;
} collection;

// --- what the text declares

// The > that closes the < at `open`; NO_TOKEN when there is none in this statement.
static size_t angle_end(const source *file, size_t open) {
  size_t depth = 0;
  for (size_t i = open; i != NO_TOKEN; i = token_next(file, i)) {
    if (token_is(file, i, "<")) depth++;
    if (token_is(file, i, ">") && --depth == 0) return i;
    if (token_is(file, i, ";") || token_is(file, i, "{")) break;
  }
  return NO_TOKEN;
}

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

// Of the function whose declaration begins at `first` and whose name is the token `name`. 0 if it is no such declaration.
static unsigned read_kind(const source *file, size_t first, size_t name) {
  static const char *const others[] = {"=",      "using",    "typedef", "friend",
                                       "return", "operator", "else",    "::"};
  static const char *const unknown[] = {"constexpr", "consteval", "__host__", "__attribute__"};
  bool host = false, device = false, kernel = false, certain = true;
  for (size_t i = first; i != NO_TOKEN && i < name; i = token_next(file, i)) {
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
      const bool qualifies_type = token_is(file, i, "::") && token_next(file, i) != name;
      if (token_is(file, i, others[k]) && !qualifies_type) return 0;
    }
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
      certain &= k == 2 || !token_is(file, i, unknown[k]);
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

// Looks at the declaration from `statement` to its { or ; at `end`.
static void collect_declaration(const source *file, size_t statement, size_t end,
                                collection *found) {
  size_t first = statement;
  while (token_is(file, first, "template") && token_is(file, token_next(file, first), "<")) {
    first = token_next(file, angle_end(file, token_next(file, first)));
  }
  if (first == NO_TOKEN || first >= end) return;
  const size_t name = kernel_find_name(file, first);
  if (name == NO_TOKEN || name >= end) return;
  unsigned kind = read_kind(file, first, name);
  if (kind == 0) return;
  if (source_is_library(file, name) || has_directive(file, statement, end)) kind = UNKNOWN;
  const token *it = &file->tokens.items[name];
  found->names = array_grow(found->names, found->count, &found->capacity, sizeof *found->names);
  found->names[found->count++] = (declared_name){file->text + it->start, it->length, kind};
  const size_t body_end = token_is(file, end, "{") ? token_group_end(file, end) : NO_TOKEN;
  if (body_end == NO_TOKEN || kind == UNKNOWN || has_directive(file, end, body_end)) return;
  found->functions = array_grow(found->functions, found->function_count, &found->function_capacity,
                                sizeof *found->functions);
  found->functions[found->function_count++] =
      (defined_function){token_next(file, name), end, body_end, kind};
}

static int compare_names(const void *left, const void *right) {
  const declared_name *a = left, *b = right;
  const int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
  return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static void sort_names(collection *found) {
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

// Reads the declarations outside of functions and classes. Returns false if the brackets do not match.
static bool collect(const source *file, collection *found) {
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

// --- calls

static unsigned find_kind(const source *file, const collection *found, size_t name) {
  const token *it = &file->tokens.items[name];
  const declared_name wanted = {file->text + it->start, it->length, 0};
  const declared_name *known =
      bsearch(&wanted, found->names, found->count, sizeof wanted, compare_names);
  return known == NULL ? 0 : known->kinds;
}

// Is there something else of this name in the function, such as a parameter or a lambda? Then a type stands before it.
static bool is_redeclared(const source *file, const defined_function *function, size_t name) {
  const token *wanted = &file->tokens.items[name];
  for (size_t i = function->parameters; i < function->end; i++) {
    const token *it = &file->tokens.items[i];
    if (it->length != wanted->length ||
        memcmp(file->text + it->start, file->text + wanted->start, it->length) != 0)
      continue;
    const size_t before = token_previous(file, i), behind = token_next(file, i);
    const bool called =
        token_is(file, behind, "(") || token_is(file, behind, "<") || token_is(file, behind, "<<<");
    if (token_is_name(file, before) || !called) return true;
  }
  return false;
}

// Does the name belong to an object, a class or a namespace, or is it only asked for its type?
static bool is_qualified(const source *file, size_t name) {
  const size_t before = token_previous(file, name);
  const size_t asks = token_is(file, before, "(") ? token_previous(file, before) : NO_TOKEN;
  return token_is(file, before, ".") || token_is(file, before, "->") ||
         token_is(file, before, "::") || token_is(file, asks, "decltype") ||
         token_is(file, asks, "sizeof") || token_is(file, asks, "noexcept");
}

// What is wrong with a use of the name in a function of the kind `where`, behind the name itself; NULL for nothing.
static const char *refuse(unsigned kind, unsigned where, bool launched) {
  if (launched && kind != KERNEL)
    return "is launched and is no kernel: write __global__ in front of it, or call it without "
           "<<<...>>>";
  if (!launched && kind == KERNEL)
    return "is a kernel and is called like a function: launch it with <<<grid, block>>> behind "
           "its name";
  if (kind == HOST && where != HOST)
    return "is a function of the host, and a kernel or a function of the device cannot call it: "
           "write __device__ in front of it";
  if (kind == DEVICE && where == HOST)
    return "is a function of the device, and a function of the host cannot call it: write "
           "__host__ __device__ in front of it, or call it in a kernel";
  return NULL;
}

static bool check_function(const source *file, const collection *found,
                           const defined_function *function, error_text *error) {
  // A lambda of the host's code may be one for the device.
  for (size_t i = function->body; i < function->end; i++)
    if (token_is(file, i, "__device__") || token_is(file, i, "__host__")) return true;
  for (size_t i = function->body; i < function->end; i++) {
    if (file->tokens.items[i].directive != NO_DIRECTIVE || !token_is_name(file, i)) continue;
    const unsigned kind = find_kind(file, found, i);
    if (kind != HOST && kind != DEVICE && kind != KERNEL) continue;
    size_t behind = token_next(file, i);
    const bool has_arguments = token_is(file, behind, "<"); // of a template
    if (has_arguments) behind = token_next(file, angle_end(file, behind));
    const bool launched = token_is(file, behind, "<<<");
    if ((!launched && !token_is(file, behind, "(")) || is_qualified(file, i)) continue;
    // A header may have a kernel of the name of the host's function that launches it.
    if (launched && has_arguments && !file->preprocessed) continue;
    const char *sentence = refuse(kind, function->kind, launched);
    if (sentence == NULL || is_redeclared(file, function, i)) continue;
    const token *it = &file->tokens.items[i];
    return source_fail_at(file, i, error, "%.*s %s", (int)it->length, file->text + it->start,
                          sentence);
  }
  return true;
}

bool execution_space_check(const source *file, error_text *error) {
  collection found = {0};
  bool good = true;
  if (collect(file, &found))
    for (size_t i = 0; i < found.function_count && good; i++)
      good = check_function(file, &found, &found.functions[i], error);
  free(found.names);
  free(found.functions);
  return good;
}
