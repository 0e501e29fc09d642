#include "emulator/rewrite/rewrite.h"

#include "emulator/rewrite/arch_condition.h"
#include "emulator/rewrite/cluster_dims.h"
#include "emulator/rewrite/execution_space.h"
#include "emulator/rewrite/grid_constant.h"
#include "emulator/rewrite/inline_ptx.h"
#include "emulator/rewrite/kernel_twin.h"
#include "emulator/rewrite/launch.h"
#include "emulator/rewrite/scope.h"
#include "emulator/rewrite/shared_array.h"

#include <string.h>

static bool is_in_directive(const source *file, size_t index, size_t directive) {
  return index < file->tokens.count && file->tokens.items[index].directive == directive;
}

static size_t directive_end(const source *file, size_t directive) {
  size_t end = directive + 1;
  while (is_in_directive(file, end, directive)) end++;
  return end;
}

static bool begins_conditional(const source *file, size_t keyword) {
  return token_is(file, keyword, "if") || token_is(file, keyword, "ifdef") ||
         token_is(file, keyword, "ifndef");
}

// Returns the directive that ends the text that an `#if 0`
// line leaves out; that text need not be C++ at all.
static size_t skip_left_out(const source *file, size_t index) {
  size_t depth = 0;
  for (size_t i = index; i < file->tokens.count; i++) {
    if (file->tokens.items[i].kind != TOKEN_DIRECTIVE) continue;
    size_t keyword = token_next(file, i);
    bool ends = token_is(file, keyword, "endif");
    if (depth == 0 && (ends || token_is(file, keyword, "else") || token_is(file, keyword, "elif")))
      return i;
    if (begins_conditional(file, keyword)) depth++;
    if (ends) depth--;
  }
  return file->tokens.count;
}

// Returns the next token to examine behind the directive: a macro's text, otherwise the next line.
static size_t pass_directive(const source *file, size_t directive, scope_tracker *scopes) {
  size_t keyword = token_next(file, directive);
  size_t end = directive_end(file, directive);
  if (token_is(file, keyword, "define")) {
    size_t body = source_macro_body(file, directive);
    return body < end ? body : end;
  }
  scope_conditional(scopes, file, keyword);
  bool leaves_out = token_is(file, keyword, "if") &&
                    token_is(file, token_next(file, keyword), "0") &&
                    token_next(file, keyword) + 1 == end;
  return leaves_out ? skip_left_out(file, end) : end;
}

// Puts an error with a sentence in the place of inline PTX. The compiler sees it only where it would see the PTX, so PTX
// behind #ifdef __CUDACC__ is none.
static void refuse_inline_ptx(source *file, size_t keyword, const char *reason) {
  size_t open = token_next(file, keyword);
  while (token_is_name(file, open) || token_is(file, open, "volatile") ||
         token_is(file, open, "goto") || token_is(file, open, "inline")) {
    open = token_next(file, open);
  }
  const size_t close = token_is(file, open, "(") ? token_group_end(file, open) : NO_TOKEN;
  if (close == NO_TOKEN) return;
  text_buffer sentence = {0};
  text_buffer_append_string(&sentence, "static_assert(false, \"");
  text_buffer_append_escaped(&sentence, reason, strlen(reason));
  text_buffer_append_string(&sentence, "\")");
  text_buffer_append(&sentence, "", 1);
  edit_replace(file, keyword, sentence.data);
  text_buffer_free(&sentence);
  for (size_t i = token_next(file, keyword); i != NO_TOKEN && i <= close; i = token_next(file, i)) {
    edit_replace(file, i, "");
  }
}

// Is there a directive, such as #ifdef, inside of the asm statement? Only the preprocessor knows what it says then.
static bool has_directive(const source *file, size_t keyword) {
  size_t i = keyword;
  while (i != NO_TOKEN && !token_is(file, i, "(")) i = token_next(file, i);
  const size_t close = i != NO_TOKEN ? token_group_end(file, i) : NO_TOKEN;
  if (close == NO_TOKEN) return false;
  for (; i < close; i++)
    if (file->tokens.items[i].directive != NO_DIRECTIVE) return true;
  return false;
}

// Rewrites inline PTX of a source that is not preprocessed. `__asm__` stays: it is g++'s own word for the machine's
// assembler.
static void rewrite_own_ptx(source *file, size_t keyword, bool in_macro, bool in_function) {
  error_text error;
  if (in_macro || !in_function) {
    refuse_inline_ptx(file, keyword,
                      "the emulator reads inline PTX only in functions, and not in macros");
  } else if (has_directive(file, keyword)) {
    refuse_inline_ptx(file, keyword,
                      "the emulator reads no asm statement with a line that begins with # in it");
  } else if (!inline_ptx_rewrite(file, keyword, &error)) {
    const char *reason = strstr(error.text + strlen(file->path), ": "); // behind the line
    refuse_inline_ptx(file, keyword, reason != NULL ? reason + 2 : error.text);
  }
}

// `inline` may stand only once in a declaration, and the emulator's __forceinline__ is one.
static void drop_double_inline(source *file, size_t statement, size_t force) {
  for (size_t i = statement; i != NO_TOKEN; i = token_next(file, i)) {
    if (token_is(file, i, "{") || token_is(file, i, ";") || token_is(file, i, "(")) return;
    if (i != force &&
        (token_is(file, i, "inline") || token_is(file, i, "__inline__") ||
         token_is(file, i, "__inline") || (i < force && token_is(file, i, "__forceinline__")))) {
      edit_replace(file, force, "");
      return;
    }
  }
}

static bool is_asm(const source *file, size_t index) {
  return token_is(file, index, "asm") || (file->preprocessed && (token_is(file, index, "__asm__") ||
                                                                 token_is(file, index, "__asm")));
}

// Rewrites what begins at the token, where that is no C++.
static bool edit_token(source *file, const scope_tracker *scopes, kernel_list *kernels,
                       size_t statement, size_t i, error_text *error) {
  const bool in_macro = file->tokens.items[i].directive != NO_DIRECTIVE;
  const bool in_function = in_macro || scope_is_body(scopes);
  // `operator<<<T>` names a function template; no other << can stand before a <.
  if (token_is(file, i, "<<<") && !token_is(file, token_previous(file, i), "operator"))
    return launch_rewrite(file, i, kernels, error);
  if (token_is(file, i, "__shared__"))
    return shared_array_rewrite(file, statement, i, in_function, error);
  if (token_is(file, i, "__cluster_dims__")) return cluster_dims_rewrite(file, i, error);
  if (token_is(file, i, "__grid_constant__")) grid_constant_rewrite(file, i);
  if (is_asm(file, i)) {
    if (!file->preprocessed)
      rewrite_own_ptx(file, i, in_macro, in_function);
    else if (in_function)
      return inline_ptx_rewrite(file, i, error);
  }
  if (!file->preprocessed) return true;
  if (token_is(file, i, "__global__")) kernel_twin_add(file, statement, i, kernels);
  if (token_is(file, i, "void") && in_function) kernel_name_addresses(file, i, kernels);
  if (token_is(file, i, "__forceinline__")) drop_double_inline(file, statement, i);
  return true;
}

// Warns once a file of a branch that the device has and the emulator leaves out.
static void look_at_condition(const source *file, size_t directive, bool *warned) {
  if (*warned || file->preprocessed || !arch_condition_differs(file, directive)) return;
  *warned = true;
  fprintf(stderr,
          "%s:%zu: warning: the emulator compiles the host's branch of this condition, because it "
          "does not define __CUDA_ARCH__: what is in the device's branch is not tested here\n",
          file->path, file->tokens.items[directive].line);
}

static bool edit(source *file, scope_tracker *scopes, kernel_list *kernels, error_text *error) {
  // First tokens of the current statements; NO_TOKEN between one statement and the next.
  size_t file_statement = NO_TOKEN, macro_statement = NO_TOKEN;
  size_t i = 0;
  bool warned = false;
  while (i < file->tokens.count) {
    if (file->tokens.items[i].kind == TOKEN_DIRECTIVE) {
      look_at_condition(file, i, &warned);
      i = pass_directive(file, i, scopes);
      macro_statement = NO_TOKEN;
      continue;
    }
    bool in_macro = file->tokens.items[i].directive != NO_DIRECTIVE;
    size_t *statement = in_macro ? &macro_statement : &file_statement;
    if (*statement == NO_TOKEN) *statement = i;
    if (!source_is_system(file, i) && !edit_token(file, scopes, kernels, *statement, i, error))
      return false;
    if (!in_macro && token_is(file, i, "{")) scope_open(scopes, file, *statement, i);
    if (!in_macro && token_is(file, i, "}")) scope_close(scopes);
    if (token_is(file, i, ";") || token_is(file, i, "{") || token_is(file, i, "}"))
      *statement = NO_TOKEN;
    i++;
  }
  return true;
}

static bool rewrite(source *file, const char *path, text_buffer *out, error_text *error) {
  scope_tracker scopes = {0};
  kernel_list kernels = {0};
  bool done =
      (file->module || execution_space_check(file, error)) && edit(file, &scopes, &kernels, error);
  if (done) {
    if (file->has_ptx && !file->preprocessed)
      text_buffer_append_string(out, "#include \"detail/ptx.h\"\n");
    text_buffer_append_string(out, "#line 1 \"");
    text_buffer_append_escaped(out, path, strlen(path));
    text_buffer_append_string(out, "\"\n");
    source_apply_edits(file, out);
    text_buffer_append(out, kernels.last_twins.data, kernels.last_twins.length);
  }
  kernel_list_free(&kernels);
  scope_free(&scopes);
  source_close(file);
  return done;
}

bool rewrite_source(const char *path, const char *text, size_t length, text_buffer *out,
                    error_text *error) {
  // A byte order mark is only one at the very beginning of a file.
  if (length == 0) text = "";
  size_t mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  source file = source_open(path, text + mark, length - mark);
  return rewrite(&file, path, out, error);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// Moves the blanks of `<< <` and `>> >` behind the last bracket: nvcc takes these for <<< and >>>, and some formatters
// write them. In `<< <` a launch is meant, since no operand begins with <; for templates >>> is as good as >> >.
static void close_angles(const source *file, char *text) {
  for (size_t i = 0; i + 1 < file->tokens.count; i++) {
    const token *it = &file->tokens.items[i];
    const bool opens = token_is(file, i, "<<") && token_is(file, i + 1, "<"),
               closes = token_is(file, i, ">") && token_is(file, i + 1, ">") && i > 0 &&
                        token_is(file, i - 1, ">") && token_touches(file, i - 1, i);
    if (!opens && !closes) continue;
    char *gap = text + it->start + it->length, *end = text + file->tokens.items[i + 1].start;
    bool blank = true;
    for (char *c = gap; c < end; c++) blank &= is_blank(*c);
    if (!blank) continue;
    memmove(gap + 1, gap, (size_t)(end - gap));
    *gap = opens ? '<' : '>';
  }
}

static bool rewrite_text(const char *path, const char *text, size_t length, bool module,
                         text_buffer *out, error_text *error) {
  text_buffer own = {0};
  text_buffer_append(&own, length > 0 ? text : "", length);
  text_buffer_append(&own, "", 1);
  source file = source_open_preprocessed(path, own.data, length);
  close_angles(&file, own.data);
  source_close(&file);
  file = source_open_preprocessed(path, own.data, length);
  file.module = module;
  const bool done = rewrite(&file, path, out, error);
  text_buffer_free(&own);
  return done;
}

bool rewrite_preprocessed(const char *path, const char *text, size_t length, text_buffer *out,
                          error_text *error) {
  return rewrite_text(path, text, length, false, out, error);
}

bool rewrite_module(const char *path, const char *text, size_t length, text_buffer *out,
                    error_text *error) {
  return rewrite_text(path, text, length, true, out, error);
}
