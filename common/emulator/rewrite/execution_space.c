#include "emulator/rewrite/execution_space.h"

#include "emulator/rewrite/declared_names.h"

#include <string.h>

// Does the token behind a comma continue a declaration, as in `int *a, n;`? Then its statement begins with a type.
static bool continues_declaration(const source *file, size_t name) {
  size_t first = name;
  for (size_t i = token_previous(file, name); i != NO_TOKEN; i = token_previous(file, i)) {
    if (token_is(file, i, ";") || token_opens_group(file, i)) break;
    if (token_closes_group(file, i)) {
      const size_t open = token_group_start(file, i);
      if (token_is(file, i, "}") && !token_is(file, token_previous(file, open), "=")) break;
      i = open;
    }
    first = i;
  }
  const size_t second = token_next(file, first);
  return token_is_name(file, first) &&
         (token_is_name(file, second) || token_is(file, second, "*") ||
          token_is(file, second, "&") || token_is(file, second, "<") ||
          token_is(file, second, "::"));
}

// May the token be the name in a declaration of another thing? What stands before it is a type then, or a part of one.
static bool may_declare(const source *file, size_t name, bool variable) {
  static const char *const ends[] = {"*", "&", ">", "]"};
  const size_t before = token_previous(file, name), behind = token_next(file, name);
  if (token_is_name(file, before)) return true;
  if (!variable) // a function that is not called
    return !token_is(file, behind, "(") && !token_is(file, behind, "<") &&
           !token_is(file, behind, "<<<");
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
    if (token_is(file, before, ends[k])) return true;
  return (token_is(file, before, "[") && token_is(file, behind, ",")) ||
         (token_is(file, before, ",") && continues_declaration(file, name));
}

// Is there something else of this name in the function or its template, such as a parameter or a lambda?
static bool is_redeclared(const source *file, const defined_function *function, size_t name,
                          bool variable) {
  const token *wanted = &file->tokens.items[name];
  for (size_t i = function->statement; i < function->end; i++) {
    const token *it = &file->tokens.items[i];
    if (it->length == wanted->length &&
        memcmp(file->text + it->start, file->text + wanted->start, it->length) == 0 &&
        may_declare(file, i, variable))
      return true;
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

// Returns the words that say what is wrong with a use of the name in a function of the kind `where`; the name itself
// comes in front of them. Returns NULL when nothing is wrong.
static const char *refuse(unsigned kind, unsigned where, bool launched) {
  if (launched && kind != KERNEL)
    return "is launched and is no kernel: write __global__ in front of it, or call it without "
           "<<<...>>>";
  if (!launched && kind == KERNEL)
    return "is a kernel and is called like a function: launch it with <<<grid, block>>> behind "
           "its name";
  if (kind == THREAD && where == HOST)
    return "belongs to a thread of a kernel, and a function of the host runs in none: write "
           "__device__ in front of the function, or __global__ if it is a kernel";
  if (kind == VARIABLE && where != HOST)
    return "is a variable of the host, which a kernel or a function of the device does not have: "
           "pass it as an argument, or make it a constant with constexpr";
  if (kind == HOST && where != HOST)
    return "is a function of the host, and a kernel or a function of the device cannot call it: "
           "write __device__ in front of it";
  if (kind == DEVICE && where == HOST)
    return "is a function of the device, and a function of the host cannot call it: write "
           "__host__ __device__ in front of it, or call it in a kernel";
  return NULL;
}

static bool check_function(const source *file, const declared_names *found,
                           const defined_function *function, error_text *error) {
  // A lambda of the host's code may be one for the device.
  for (size_t i = function->body; i < function->end; i++)
    if (token_is(file, i, "__device__") || token_is(file, i, "__host__")) return true;
  for (size_t i = function->body; i < function->end; i++) {
    if (file->tokens.items[i].directive != NO_DIRECTIVE || !token_is_name(file, i)) continue;
    const unsigned kind = declared_names_kind(file, found, i);
    const bool variable = kind == VARIABLE || kind == THREAD;
    if ((!variable && kind != HOST && kind != DEVICE && kind != KERNEL) || is_qualified(file, i))
      continue;
    size_t behind = token_next(file, i);
    const bool has_arguments = !variable && token_is(file, behind, "<"); // of a template
    if (has_arguments) behind = token_next(file, token_angle_end(file, behind));
    const bool launched = !variable && token_is(file, behind, "<<<");
    if (!variable && !launched && !token_is(file, behind, "(")) continue;
    // A header may have a kernel of the name of the host's function that launches it.
    if (launched && has_arguments && !file->preprocessed) continue;
    const char *sentence = refuse(kind, function->kind, launched);
    if (sentence == NULL || is_redeclared(file, function, i, variable)) continue;
    const token *it = &file->tokens.items[i];
    return source_fail_at(file, i, error, "%.*s %s", (int)it->length, file->text + it->start,
                          sentence);
  }
  return true;
}

bool execution_space_check(const source *file, error_text *error) {
  declared_names found = {0};
  bool good = true;
  if (declared_names_collect(file, &found))
    for (size_t i = 0; i < found.function_count && good; i++)
      good = check_function(file, &found, &found.functions[i], error);
  declared_names_free(&found);
  return good;
}
