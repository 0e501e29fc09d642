#include "emulator/rewrite/cluster_dims.h"

#include "emulator/rewrite/kernel_twin.h"

#include <string.h>

static bool same_text(const source *file, size_t left, size_t right) {
  const token *a = &file->tokens.items[left], *b = &file->tokens.items[right];
  return a->length == b->length &&
         memcmp(file->text + a->start, file->text + b->start, a->length) == 0;
}

// Does the declaration in front of the name have the word?
static bool has_word(const source *file, size_t name, const char *word) {
  for (size_t i = token_previous(file, name); i != NO_TOKEN; i = token_previous(file, i)) {
    if (token_is(file, i, word)) return true;
    if (token_is(file, i, ";") || token_is(file, i, "{") || token_is(file, i, "}")) break;
  }
  return false;
}

// Are the parameters that begin with these parentheses the same, token by token?
static bool same_parameters(const source *file, size_t left, size_t right) {
  const size_t end = token_group_end(file, left);
  while (left != NO_TOKEN && right != NO_TOKEN && same_text(file, left, right)) {
    if (left == end) return true;
    left = token_next(file, left);
    right = token_next(file, right);
  }
  return false;
}

// The body of the kernel that is declared with this name, if its definition is in the file and lacks the word; else
// NO_TOKEN. Of several definitions it is the one with the same parameters.
static size_t body_without(const source *file, size_t name) {
  size_t definitions = 0, found = NO_TOKEN;
  for (size_t i = 0; i < file->tokens.count; i++) {
    const size_t open = token_next(file, i);
    if (!same_text(file, i, name) || !token_is(file, open, "(") ||
        !has_word(file, i, "__global__") || !token_is(file, kernel_find_body(file, open), "{"))
      continue;
    const bool same = same_parameters(file, token_next(file, name), open);
    if (definitions++ == 0 || same)
      found = has_word(file, i, "__cluster_dims__") ? NO_TOKEN : kernel_find_body(file, open);
    if (same) return found;
  }
  return definitions == 1 ? found : NO_TOKEN;
}

// Line numbers stay, because the word's own line breaks do.
static void take_away(source *file, size_t word, size_t close) {
  for (size_t i = word; i <= close; i = token_next(file, i)) edit_remove(file, i);
}

// Puts the numbers between `open` and `close` in the body. There are none in `__cluster_dims__()`, which means nothing.
static void write_blocks(source *file, size_t open, size_t close, size_t body) {
  // A kernel may be declared twice.
  if (token_next(file, open) == close || file->edits[body].replaced) return;
  text_buffer text = {0};
  text_buffer_append_string(&text, "{ static constexpr ::emulator::cluster_blocks "
                                   "emulator_cluster_blocks __attribute__((used)) = {");
  token_append_range(file, token_next(file, open), token_previous(file, close), &text);
  text_buffer_append_string(&text, "}; static_assert(::emulator::cluster_has_blocks("
                                   "emulator_cluster_blocks), \"a side of __cluster_dims__ is 0: a "
                                   "cluster has 1 block at least in x, y and z\");");
  text_buffer_append(&text, "", 1);
  edit_replace(file, body, text.data);
  text_buffer_free(&text);
}

bool cluster_dims_rewrite(source *file, size_t word, error_text *error) {
  const size_t open = token_next(file, word);
  const size_t close = token_is(file, open, "(") ? token_group_end(file, open) : NO_TOKEN;
  const size_t name = close != NO_TOKEN ? kernel_find_name(file, close) : NO_TOKEN;
  size_t body = name != NO_TOKEN ? kernel_find_body(file, token_next(file, name)) : NO_TOKEN;
  if (body == NO_TOKEN && file->tokens.items[word].directive != NO_DIRECTIVE) return true;
  if (body == NO_TOKEN)
    return source_fail_at(file, word, error,
                          "no kernel with a body follows this __cluster_dims__: write __global__ "
                          "void __cluster_dims__(2, 1, 1) kernel(...) { ... }, with the braces "
                          "outside of macros");
  if (token_is(file, body, ";")) body = body_without(file, name);
  if (body != NO_TOKEN) write_blocks(file, open, close, body);
  take_away(file, word, close);
  return true;
}
