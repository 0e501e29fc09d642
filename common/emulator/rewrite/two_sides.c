#include "emulator/rewrite/two_sides.h"

#include "emulator/rewrite/scope.h"
#include "emulator/rewrite/side.h"

#include <stdlib.h>
#include <string.h>

// ---- The functions around a difference ----------------------------------------------------------

// A { that both texts have.
typedef struct {
  size_t device, host; // tokens
  size_t statement;    // the first token of its declaration, in the device's text
  bool body;           // of a function or a block
} brace;

typedef struct {
  side device, host;
  scope_tracker scopes;
  brace *braces;
  size_t depth, capacity;
  size_t statement; // NO_TOKEN between two
  size_t copied;    // bytes of the device's text that are done
  bool warned;
  text_buffer *out;
} join;

static bool says(const source *file, size_t first, size_t end, const char *word) {
  for (size_t i = first; i < end; i++)
    if (token_is(file, i, word)) return true;
  return false;
}

static bool heads(const join *join, const brace *brace, const char *word) {
  return says(&join->device.file, brace->statement, brace->device, word);
}

// The brace of the body that has two forms: that of the outermost function, or of a lambda for the device in a
// function of the host. NULL outside of functions.
static const brace *body_around(const join *join) {
  const brace *found = NULL;
  for (size_t i = 0; i < join->depth; i++) {
    const brace *brace = &join->braces[i];
    if (!brace->body) continue;
    if (found == NULL) found = brace;
    if (heads(join, brace, "__device__") || heads(join, brace, "__global__")) return brace;
  }
  return found;
}

// Follows the device's tokens; `host` is the same one in the host's text, where it has it.
static void track(join *join, size_t i, size_t host) {
  const source *file = &join->device.file;
  if (join->statement == NO_TOKEN) join->statement = i;
  if (token_is(file, i, "{")) {
    scope_open(&join->scopes, file, join->statement, i);
    join->braces = array_grow(join->braces, join->depth, &join->capacity, sizeof(brace));
    join->braces[join->depth++] = (brace){.device = i,
                                          .host = host,
                                          .statement = join->statement,
                                          .body = scope_is_body(&join->scopes)};
  } else if (token_is(file, i, "}") && join->depth > 0) {
    scope_close(&join->scopes);
    join->depth--;
  }
  const size_t before = token_previous(file, i);
  const bool label = token_is(file, i, ":") &&
                     (token_is(file, before, "public") || token_is(file, before, "private") ||
                      token_is(file, before, "protected"));
  if (label || token_is(file, i, "{") || token_is(file, i, "}") || token_is(file, i, ";"))
    join->statement = NO_TOKEN;
}

static void walk_over(join *join) {
  track(join, join->device.at, join->host.at);
  side_go_to(&join->device, join->device.at + 1);
  side_go_to(&join->host, join->host.at + 1);
}

// ---- Writing ------------------------------------------------------------------------------------

// Says that what follows comes from the token's line.
static void append_marker(const source *file, size_t index, text_buffer *out) {
  const line_marker *marker = source_marker(file, index);
  if (marker == NULL) return;
  char text[32];
  snprintf(text, sizeof text, "\n# %zu ", source_line(file, marker, index));
  text_buffer_append_string(out, text);
  token_append(file, marker->path, out);
  text_buffer_append_string(out, "\n");
}

static void append_text(const source *file, size_t first, size_t last, text_buffer *out) {
  append_marker(file, first, out);
  const token *from = &file->tokens.items[first], *to = &file->tokens.items[last];
  text_buffer_append(out, file->text + from->start, to->start + to->length - from->start);
}

static void copy_to(join *join, size_t bytes) {
  text_buffer_append(join->out, join->device.file.text + join->copied, bytes - join->copied);
  join->copied = bytes;
}

static size_t start_of(const source *file, size_t index) {
  return index < file->tokens.count ? file->tokens.items[index].start : file->length;
}

// Writes both forms of the body. False when one has no end, as in text that is no C++.
static bool join_body(join *join, const brace *around, bool constant) {
  const source *device = &join->device.file, *host = &join->host.file;
  const size_t device_end = token_group_end(device, around->device),
               host_end = token_group_end(host, around->host);
  if (device_end == NO_TOKEN || host_end == NO_TOKEN) return false;
  text_buffer *out = join->out;
  copy_to(join, start_of(device, around->device));
  text_buffer_append_string(out, "{ if (");
  if (constant) text_buffer_append_string(out, "!__builtin_is_constant_evaluated() && ");
  text_buffer_append_string(out, "::emulator::in_kernel())");
  append_text(device, around->device, device_end, out);
  text_buffer_append_string(out, " else");
  append_text(host, around->host, host_end, out);
  append_marker(device, device_end, out);
  text_buffer_append_string(out, "}");
  join->copied = start_of(device, device_end) + 1;
  for (const size_t left = (size_t)(around - join->braces); join->depth > left; join->depth--)
    scope_close(&join->scopes);
  join->statement = NO_TOKEN;
  side_go_to(&join->device, device_end + 1);
  side_go_to(&join->host, host_end + 1);
  return true;
}

// ---- Outside of functions -----------------------------------------------------------------------

// Returns the end of the declaration that begins at the token, or `end`.
static size_t declaration_end(const source *file, size_t first, size_t end) {
  bool parameters = false;
  for (size_t i = first; i < end; i = token_next(file, i)) {
    const bool brace = token_is(file, i, "{"),
               scope =
                   brace && (token_is(file, first, "namespace") || token_is(file, first, "extern"));
    if (token_is(file, i, ";")) return i + 1;
    parameters |= token_is(file, i, "(");
    if (!token_opens_group(file, i)) continue;
    i = token_group_end(file, i);
    if (i >= end) break;
    if (brace && token_is(file, token_next(file, i), ";")) return token_next(file, i) + 1;
    if (brace && (parameters || scope)) return i + 1;
  }
  return end;
}

// The word before the first bracket, `=` or `;`, which is what a function, type or variable is called.
static size_t declared_name(const source *file, size_t first, size_t end) {
  size_t name = NO_TOKEN;
  for (size_t i = first; i < end; i = token_next(file, i)) {
    if (token_opens_group(file, i) || token_is(file, i, "=") || token_is(file, i, ";")) break;
    if (file->tokens.items[i].kind == TOKEN_IDENTIFIER) name = i;
  }
  return name;
}

static size_t first_token(const source *file, size_t index, size_t end) {
  while (index < end && (file->tokens.items[index].kind == TOKEN_DIRECTIVE ||
                         file->tokens.items[index].directive != NO_DIRECTIVE))
    index++;
  return index;
}

// Does the device declare the name between these tokens?
static bool device_declares(const source *device, size_t first, size_t end, const source *host,
                            size_t name) {
  if (name == NO_TOKEN) return false;
  const token *wanted = &host->tokens.items[name];
  for (size_t at = first_token(device, first, end); at < end;) {
    const size_t behind = declaration_end(device, at, end), own = declared_name(device, at, behind);
    if (own != NO_TOKEN && device->tokens.items[own].length == wanted->length &&
        memcmp(device->text + device->tokens.items[own].start, host->text + wanted->start,
               wanted->length) == 0)
      return true;
    at = first_token(device, behind, end);
  }
  return false;
}

static void warn_of_host_form(join *join, size_t first) {
  const source *host = &join->host.file;
  const line_marker *marker = source_marker(host, first);
  if (join->warned || marker == NULL) return;
  join->warned = true;
  const token *path = &host->tokens.items[marker->path];
  fprintf(stderr,
          "%.*s:%zu: warning: only the device's form of this code is compiled, and the host's is "
          "left out: the two differ by __CUDA_ARCH__ outside of a function's body\n",
          (int)path->length - 2, host->text + path->start + 1, source_line(host, marker, first));
}

// Adds what only the host declares between these tokens and the present ones. Functions of the device alone are of no
// use to it. Within a declaration, as in the arguments of __launch_bounds__, the device's form stays.
static void join_declarations(join *join, size_t device_from, size_t host_from) {
  const source *device = &join->device.file, *host = &join->host.file;
  if (join->statement != NO_TOKEN) return;
  bool copied = false;
  size_t behind;
  for (size_t at = first_token(host, host_from, join->host.at); at < join->host.at;
       at = first_token(host, behind, join->host.at)) {
    behind = declaration_end(host, at, join->host.at);
    if (says(host, at, behind, "__global__") ||
        (says(host, at, behind, "__device__") && !says(host, at, behind, "__host__")))
      continue;
    if (device_declares(device, device_from, join->device.at, host,
                        declared_name(host, at, behind))) {
      warn_of_host_form(join, at);
      continue;
    }
    if (!copied) copy_to(join, start_of(device, join->device.at));
    copied = true;
    append_text(host, at, behind - 1, join->out);
  }
  if (!copied) return;
  text_buffer_append_string(join->out, "\n");
  if (!side_ended(&join->device)) append_marker(device, join->device.at, join->out);
}

static void join_difference(join *join) {
  const source *device = &join->device.file;
  const size_t device_from = join->device.at, host_from = join->host.at;
  const bool system = !side_ended(&join->device) && source_is_system(device, device_from);
  const brace *around = system ? NULL : body_around(join);
  const bool constant = around != NULL && heads(join, around, "constexpr"),
             of_device = around != NULL &&
                         (heads(join, around, "__device__") || heads(join, around, "__global__")),
             of_both = constant || (of_device && heads(join, around, "__host__"));
  if (of_both && join_body(join, around, constant)) return;
  sides_pass_difference(&join->device, &join->host);
  if (!system && around == NULL) {
    join_declarations(join, device_from, host_from);
  } else if (!system && !of_device) { // the host's tokens in place of the device's
    copy_to(join, start_of(device, device_from));
    join->copied = start_of(device, join->device.at);
    if (host_from < join->host.at)
      append_text(&join->host.file, host_from, join->host.at - 1, join->out);
    if (!side_ended(&join->device)) append_marker(device, join->device.at, join->out);
  }
  for (size_t i = device_from; i < join->device.at; i++)
    if (device->tokens.items[i].directive == NO_DIRECTIVE) track(join, i, NO_TOKEN);
}

void two_sides_join(const char *path, preprocessed_text device, preprocessed_text host,
                    text_buffer *out) {
  join join = {.device = side_open(path, device.text, device.length),
               .host = side_open(path, host.text, host.length),
               .statement = NO_TOKEN,
               .out = out};
  while (!side_ended(&join.device) || !side_ended(&join.host)) {
    if (sides_meet(&join.device, &join.host))
      walk_over(&join);
    else
      join_difference(&join);
  }
  copy_to(&join, device.length);
  side_close(&join.device);
  side_close(&join.host);
  scope_free(&join.scopes);
  free(join.braces);
}
