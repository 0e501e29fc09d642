#include "emulator/rewrite/shared_array.h"

// Skips `case 0:` and `again:` in front of the declaration.
static size_t behind_labels(const source *file, size_t statement, size_t shared) {
  size_t first = statement;
  for (size_t i = statement; i < shared; i = token_next(file, i))
    if (token_is(file, i, ":")) first = token_next(file, i);
  return first;
}

static bool is_extern(const source *file, size_t first) {
  for (size_t i = first; i != NO_TOKEN && !token_is(file, i, ";"); i = token_next(file, i)) {
    if (token_is(file, i, "extern")) return true;
    if (token_is(file, i, "{") || token_is(file, i, "}")) break;
  }
  return false;
}

// Last token of the attribute or storage class that begins here, NO_TOKEN when none does.
static size_t specifier_end(const source *file, size_t index) {
  size_t behind = token_next(file, index);
  if (token_is(file, index, "extern") || token_is(file, index, "static") ||
      token_is(file, index, "__shared__"))
    return index;
  if (token_is(file, index, "alignas") || token_is(file, index, "__align__") ||
      token_is(file, index, "__attribute__"))
    return token_is(file, behind, "(") ? token_group_end(file, behind) : NO_TOKEN;
  if (token_is(file, index, "[") && token_is(file, behind, "["))
    return token_group_end(file, index);
  return NO_TOKEN;
}

// Appends the alignment that a specifier asks for, __align__(16), alignas(float4) or the aligned(16) of an
// attribute, to those that are there. They become template arguments, so none may hold a > of its own.
static void take_alignment(const source *file, size_t index, text_buffer *alignments) {
  size_t word = index;
  if (token_is(file, index, "__attribute__")) {
    const size_t end = specifier_end(file, index);
    while (word < end && !token_is(file, word, "aligned") && !token_is(file, word, "__aligned__"))
      word = token_next(file, word);
    if (word >= end) return;
  } else if (!token_is(file, index, "alignas") && !token_is(file, index, "__align__")) {
    return;
  }
  const size_t open = token_next(file, word), close = token_group_end(file, open);
  if (!token_is(file, open, "(") || close == NO_TOKEN || token_next(file, open) == close) return;
  if (alignments->length > 0) text_buffer_append_string(alignments, ", ");
  token_append_range(file, token_next(file, open), token_previous(file, close), alignments);
}

static void remove_tokens(source *file, size_t first, size_t last) {
  for (size_t i = first; i != NO_TOKEN && i <= last; i = token_next(file, i)) edit_remove(file, i);
}

typedef struct {
  text_buffer type;       // white space collapsed
  text_buffer alignments; // that it asks for, with commas between
  size_t name;
  size_t brackets_end; // last ] of name[] or name[][32]
} declaration;

// Takes the token as the name, and what was taken so before as part of the type.
static void keep(const source *file, size_t index, declaration *found) {
  if (found->name != NO_TOKEN) {
    token_append(file, found->name, &found->type);
    if (!token_touches(file, found->name, index)) text_buffer_append(&found->type, " ", 1);
  }
  found->name = index;
}

// Takes [], [32] and so on, from the first [ on, and removes the attributes behind them.
static bool take_brackets(source *file, size_t open, declaration *found) {
  size_t i = open;
  while (token_is(file, i, "[") && !token_is(file, token_next(file, i), "[")) {
    found->brackets_end = token_group_end(file, i);
    if (found->brackets_end == NO_TOKEN) return false;
    i = token_next(file, found->brackets_end);
  }
  for (size_t end; (end = specifier_end(file, i)) != NO_TOKEN; i = token_next(file, end)) {
    take_alignment(file, i, &found->alignments);
    remove_tokens(file, i, end);
  }
  // A macro may leave the semicolon to where it is used.
  return i == NO_TOKEN || token_is(file, i, ";");
}

// Reads type and name of the declaration that begins at `first`, and returns the token behind them; NO_TOKEN if it finds
// no end. With `removes` it takes the specifiers out of the source.
static size_t read_declaration(source *file, size_t first, bool removes, declaration *found) {
  size_t angles = 0, i = first;
  found->name = NO_TOKEN;
  for (; i != NO_TOKEN; i = token_next(file, i)) {
    size_t end = specifier_end(file, i);
    if (end != NO_TOKEN) {
      take_alignment(file, i, &found->alignments);
      if (removes) remove_tokens(file, i, end);
      i = end;
      continue;
    }
    if (angles == 0 && (token_opens_group(file, i) || token_closes_group(file, i) ||
                        token_is(file, i, ";") || token_is(file, i, ",") || token_is(file, i, "=")))
      break;
    if (token_is(file, i, "<")) angles++;
    if (token_is(file, i, ">") && angles > 0) angles--;
    // A > in parentheses closes no template, so they are taken whole.
    end = token_opens_group(file, i) ? token_group_end(file, i) : i;
    if (end == NO_TOKEN) return NO_TOKEN;
    for (; i != end; i = token_next(file, i)) keep(file, i, found);
    keep(file, end, found);
  }
  return i;
}

// Reads a declaration of dynamic shared memory.
static bool take_declaration(source *file, size_t first, declaration *found) {
  const size_t i = read_declaration(file, first, true, found);
  if (!token_is_name(file, found->name) || found->type.length == 0 || !token_is(file, i, "[") ||
      !token_is(file, token_next(file, i), "]"))
    return false;
  return take_brackets(file, i, found);
}

static void append_alignments(const declaration *found, text_buffer *out) {
  if (found->alignments.length == 0) return;
  text_buffer_append_string(out, "<");
  text_buffer_append(out, found->alignments.data, found->alignments.length);
  text_buffer_append_string(out, ">");
}

// T (&name)[] = *reinterpret_cast<T (*)[]>(...)
static void write_reference(source *file, const declaration *found) {
  text_buffer *name = &file->edits[found->name].instead;
  edit_replace(file, found->name, "(&");
  token_append(file, found->name, name);
  text_buffer_append_string(name, ")");
  text_buffer *end = &file->edits[found->brackets_end].instead;
  edit_replace(file, found->brackets_end, "] = *reinterpret_cast<");
  text_buffer_append(end, found->type.data, found->type.length);
  text_buffer_append_string(end, " (*)");
  token_append_range(file, token_next(file, found->name), found->brackets_end, end);
  text_buffer_append_string(end, ">(::emulator::dynamic_shared_memory");
  append_alignments(found, end);
  text_buffer_append_string(end, "())");
}

// Outside of functions no block runs yet that a reference could lead to, so the name is that of an object, which
// finds the block's memory at each use.
static void write_object(source *file, size_t first, const declaration *found) {
  text_buffer *name = &file->edits[found->name].instead;
  const size_t open = token_next(file, found->name);
  const size_t behind = token_next(file, token_group_end(file, open)); // [32] of name[][32]
  edit_replace(file, found->name, "[[maybe_unused]] static const ::emulator::dynamic_array<");
  text_buffer_append(name, found->type.data, found->type.length);
  if (behind <= found->brackets_end) token_append_range(file, behind, found->brackets_end, name);
  text_buffer_append_string(name, "> ");
  token_append(file, found->name, name);
  text_buffer_append_string(name, "{}");
  if (found->alignments.length > 0) {
    text_buffer_append_string(name, "; [[maybe_unused]] static void *(*const emulator_aligned_");
    token_append(file, found->name, name);
    text_buffer_append_string(name, ")() = &::emulator::dynamic_shared_memory");
    append_alignments(found, name);
  }
  remove_tokens(file, first, token_previous(file, found->name));
  remove_tokens(file, open, found->brackets_end);
}

// g++ takes no alignas between the words that __shared__ stands for. An attribute of 128 bytes is among these, which
// is more than any type asks for; a number may be larger.
static void replace_alignas(source *file, size_t shared) {
  for (size_t i = shared; i != NO_TOKEN && !token_is(file, i, ";"); i = token_next(file, i)) {
    const size_t open = token_next(file, i), number = token_next(file, open);
    if (token_opens_group(file, i)) return;
    if (!token_is(file, i, "alignas") || !token_is(file, open, "(")) continue;
    const size_t close = token_group_end(file, open);
    if (close == NO_TOKEN) return;
    if (file->tokens.items[number].kind == TOKEN_NUMBER && token_next(file, number) == close) {
      edit_replace(file, i, "__attribute__((aligned(");
      edit_replace(file, open, "");
      edit_replace(file, close, ")))");
    } else {
      remove_tokens(file, i, close);
    }
    i = close;
  }
}

// g++ lets the attribute of a variable make its alignment smaller than that of its type, outside of templates. So
// the type's own stands beside the 128 bytes that __shared__ asks for.
static void keep_type_alignment(source *file, size_t first, size_t shared) {
  declaration found = {0};
  const size_t behind = read_declaration(file, first, false, &found);
  const bool declares = token_is(file, behind, "[") || token_is(file, behind, ";") ||
                        token_is(file, behind, ",") || token_is(file, behind, "=");
  if (declares && token_is_name(file, found.name) && found.type.length > 0) { // else union name {
    text_buffer *word = &file->edits[shared].instead;
    edit_replace(file, shared, "__shared__ __attribute__((aligned(alignof(");
    text_buffer_append(word, found.type.data, found.type.length);
    text_buffer_append_string(word, "))))");
  }
  text_buffer_free(&found.type);
  text_buffer_free(&found.alignments);
}

static bool rewrite_dynamic(source *file, size_t first, size_t shared, bool in_function,
                            error_text *error) {
  if (!in_function && !file->preprocessed)
    return source_fail_at(
        file, shared, error,
        "an extern __shared__ array outside a function: declare it inside the kernel "
        "that uses it, and pass a pointer to the functions that the kernel calls");
  declaration found = {0};
  if (!take_declaration(file, first, &found)) {
    text_buffer_free(&found.type);
    text_buffer_free(&found.alignments);
    return source_fail_at(
        file, shared, error,
        "an extern __shared__ declaration the lab cannot read: write one array without "
        "a size, `extern __shared__ float name[];`, one a statement");
  }
  while (found.type.length > 0 && found.type.data[found.type.length - 1] == ' ')
    found.type.length--;

  if (in_function)
    write_reference(file, &found);
  else
    write_object(file, first, &found);
  text_buffer_free(&found.type);
  text_buffer_free(&found.alignments);
  return true;
}

// Does the declaration have brackets without a number?
static bool is_unsized(const source *file, size_t first) {
  for (size_t i = first; i != NO_TOKEN && !token_is(file, i, ";"); i = token_next(file, i))
    if (token_is(file, i, "[") && token_is(file, token_next(file, i), "]")) return true;
  return false;
}

// The = of the initial value of the variable; NO_TOKEN where it has none.
static size_t initial_value(const source *file, size_t shared) {
  for (size_t i = shared; i != NO_TOKEN && !token_is(file, i, ";"); i = token_next(file, i)) {
    const size_t before = token_previous(file, i), behind = token_next(file, i);
    const bool compares =
        token_is(file, behind, "=") || token_is(file, before, "=") || token_is(file, before, "!");
    if (token_is(file, i, "=") && !compares) return i;
    if (token_opens_group(file, i)) i = token_group_end(file, i);
  }
  return NO_TOKEN;
}

bool shared_array_rewrite(source *file, size_t statement, size_t shared, bool in_function,
                          error_text *error) {
  if (file->edits[shared].replaced) return true; // done with an earlier __shared__ beside it
  const size_t value = initial_value(file, shared);
  if (value != NO_TOKEN)
    return source_fail_at(
        file, value, error,
        "a __shared__ variable cannot have an initial value: let a thread store it, and let the "
        "block meet at __syncthreads() before other threads read it");
  size_t first = behind_labels(file, statement, shared);
  const bool dynamic = is_extern(file, first);
  if (dynamic && (!file->preprocessed || is_unsized(file, first)))
    return rewrite_dynamic(file, first, shared, in_function, error);
  // nvcc takes what is extern and has a size for an ordinary shared variable, and warns.
  for (size_t i = first; dynamic && i != NO_TOKEN && !token_is(file, i, ";");
       i = token_next(file, i))
    if (token_is(file, i, "extern")) edit_remove(file, i);
  if (file->preprocessed) {
    replace_alignas(file, shared);
    keep_type_alignment(file, first, shared);
  }
  return true;
}
