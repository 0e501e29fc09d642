#include "emulator/rewrite/kernel_twin.h"

#include "emulator/rewrite/auto_parameters.h"
#include "emulator/rewrite/template_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kernel_list_free(kernel_list *kernels) {
  free(kernels->names);
  text_buffer_free(&kernels->last_twins);
}

static const kernel_name *find_kernel(const source *file, const kernel_list *kernels, size_t name,
                                      bool with_twin) {
  if (name >= file->tokens.count) return NULL;
  const token *wanted = &file->tokens.items[name];
  for (size_t i = 0; i < kernels->count; i++) {
    const token *known = &file->tokens.items[kernels->names[i].name];
    if (known->length == wanted->length && (!with_twin || kernels->names[i].has_twin) &&
        memcmp(file->text + known->start, file->text + wanted->start, wanted->length) == 0)
      return &kernels->names[i];
  }
  return NULL;
}

bool kernel_has_twin(const source *file, const kernel_list *kernels, size_t name) {
  return find_kernel(file, kernels, name, true) != NULL;
}

static void add_name(kernel_list *kernels, size_t name, bool has_twin) {
  kernels->names =
      array_grow(kernels->names, kernels->count, &kernels->capacity, sizeof *kernels->names);
  kernels->names[kernels->count++] = (kernel_name){name, has_twin};
}

void kernel_name_addresses(source *file, size_t cast, const kernel_list *kernels) {
  size_t open = token_previous(file, cast), close = token_next(file, token_next(file, cast));
  if (token_is(file, open, "const")) open = token_previous(file, open);
  if (!token_is(file, open, "(") || !token_is(file, token_next(file, cast), "*") ||
      !token_is(file, close, ")"))
    return;
  size_t first = token_next(file, close);
  const size_t ampersand = token_is(file, first, "&") ? first : NO_TOKEN;
  if (ampersand != NO_TOKEN) first = token_next(file, first);
  if (find_kernel(file, kernels, first, false) == NULL) return;
  size_t last = first;
  if (token_is(file, token_next(file, first), "<"))
    last = token_angle_end(file, token_next(file, first));
  const size_t behind = token_next(file, last);
  if (behind == NO_TOKEN || token_is(file, behind, "(")) return;
  if (ampersand != NO_TOKEN) edit_replace(file, ampersand, "");
  edit_insert_before(file, first, "::emulator::kernel_address(");
  text_buffer text = {0}, name = {0};
  token_append_range(file, first, last, &text);
  text_buffer_append_string(&name, ", \"");
  text_buffer_append_escaped(&name, text.data, text.length);
  text_buffer_append_string(&name, "\")");
  text_buffer_append(&file->edits[behind].before, name.data, name.length);
  text_buffer_free(&text);
  text_buffer_free(&name);
}

size_t kernel_find_name(const source *file, size_t global) {
  static const char *const attributes[] = {"__launch_bounds__", "__attribute__",  "__maxnreg__",
                                           "__cluster_dims__",  "__block_size__", "alignas",
                                           "__align__",         "__attribute",    "decltype"};
  for (size_t i = token_next(file, global); i != NO_TOKEN; i = token_next(file, i)) {
    if (token_is(file, i, ";") || token_is(file, i, "{") || token_is(file, i, "}")) break;
    if (!token_is_name(file, i) || !token_is(file, token_next(file, i), "(")) continue;
    bool attribute = false;
    for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++)
      attribute |= token_is(file, i, attributes[k]);
    if (!attribute) return i;
    i = token_group_end(file, token_next(file, i));
    if (i == NO_TOKEN) break;
  }
  return NO_TOKEN;
}

size_t kernel_find_body(const source *file, size_t open) {
  size_t i = token_next(file, token_group_end(file, open));
  for (;;) {
    if (token_is(file, i, "noexcept") || token_is(file, i, "__attribute__")) {
      i = token_next(file, i);
      if (token_is(file, i, "(")) i = token_next(file, token_group_end(file, i));
    } else if (token_is(file, i, "[")) {
      i = token_next(file, token_group_end(file, i));
    } else {
      break;
    }
  }
  return token_is(file, i, "{") || token_is(file, i, ";") ? i : NO_TOKEN;
}

// Is there a = among the parameters, and not inside a parameter's own brackets?
static bool has_defaults(const source *file, size_t open, size_t close) {
  for (size_t i = token_next(file, open); i < close; i = token_next(file, i)) {
    if (token_is(file, i, "=")) return true;
    if (token_opens_group(file, i)) i = token_group_end(file, i);
  }
  return false;
}

// Appends ( ... ) without default arguments, which a function's type cannot have.
static void append_parameters(const source *file, size_t open, size_t close, text_buffer *out) {
  size_t angles = 0;
  bool in_default = false;
  for (size_t i = open; i != NO_TOKEN && i <= close; i = token_next(file, i)) {
    if (token_is(file, i, "<")) angles++;
    if (token_is(file, i, ">") && angles > 0) angles--;
    if (angles == 0 && token_is(file, i, "=")) in_default = true;
    if ((angles == 0 && token_is(file, i, ",")) || i == close) in_default = false;
    size_t last = i;
    if (i != open && token_opens_group(file, i)) last = token_group_end(file, i);
    if (last == NO_TOKEN) return;
    if (!in_default) {
      // Tokens that touch stay together, as those of A... and of N == 2 do.
      if (i == open || !token_touches(file, token_previous(file, i), i))
        text_buffer_append_string(out, " ");
      token_append_range(file, i, last, out);
    }
    i = last;
  }
}

static bool same_name(const source *file, size_t left, size_t right) {
  const token *a = &file->tokens.items[left], *b = &file->tokens.items[right];
  return a->length == b->length &&
         memcmp(file->text + a->start, file->text + b->start, a->length) == 0;
}

static size_t count_parameters(const source *file, size_t open, size_t close) {
  size_t count = 1;
  for (size_t i = token_next(file, open); i < close; i = token_next(file, i)) {
    if (token_is(file, i, ",")) count++;
    if (token_opens_group(file, i)) i = token_group_end(file, i);
  }
  return count;
}

// Does the text have another function of this name, whose parameters end at `close`? A host function may have the name
// of a kernel. Of those that are only declared, such as kernels of headers, the number of parameters tells them apart.
static bool is_overloaded(const source *file, size_t name, size_t close) {
  const size_t parameters = count_parameters(file, token_next(file, name), close);
  size_t definitions = 0;
  for (size_t i = 0; i < file->tokens.count; i++) {
    if (!same_name(file, i, name)) continue;
    const size_t open = token_next(file, i);
    if (!token_is(file, open, "(")) continue;
    const size_t end = token_group_end(file, open), behind = token_next(file, end);
    definitions += token_is(file, behind, "{");
    if (token_is(file, behind, ";") && token_is(file, token_previous(file, i), "void") &&
        count_parameters(file, open, end) != parameters)
      return true;
  }
  return definitions > 1;
}

// Does the kernel whose parameters end at `close` launch itself?
static bool launches_itself(const source *file, size_t name, size_t close) {
  const size_t body = token_next(file, close);
  if (!token_is(file, body, "{")) return false;
  const size_t end = token_group_end(file, body);
  if (end == NO_TOKEN) return false;
  for (size_t i = body; i < end; i++) {
    const size_t behind = token_next(file, i);
    if (same_name(file, i, name) && (token_is(file, behind, "<<<") || token_is(file, behind, "<")))
      return true;
  }
  return false;
}

// Inserts the text behind the function whose parameters end at `close`.
static void insert_behind(source *file, size_t close, const text_buffer *text,
                          kernel_list *kernels) {
  size_t end = token_next(file, close);
  if (token_is(file, end, "{")) end = token_group_end(file, end);
  const size_t behind = token_next(file, end);
  if (behind != NO_TOKEN) {
    text_buffer_append(&file->edits[behind].before, text->data, text->length);
  } else {
    text_buffer_append_string(&kernels->last_twins, "\n");
    text_buffer_append(&kernels->last_twins, text->data, text->length);
    text_buffer_append_string(&kernels->last_twins, "\n");
  }
}

// Tells the emulator the parameters of a kernel of a module.
static void add_to_module(source *file, size_t name, size_t open, size_t close,
                          kernel_list *kernels) {
  if (!token_is(file, token_next(file, close), "{")) return; // only declared here
  text_buffer text = {0};
  char number[32];
  snprintf(number, sizeof number, "%zu", name);
  text_buffer_append_string(
      &text, " __attribute__((used)) static const void *const emulator_module_kernel_");
  text_buffer_append_string(&text, number);
  text_buffer_append_string(&text, " = ::emulator::kernel_address(static_cast<void (*)");
  append_parameters(file, open, close, &text);
  text_buffer_append_string(&text, ">(&");
  token_append(file, name, &text);
  text_buffer_append_string(&text, "), \"");
  token_append(file, name, &text);
  text_buffer_append_string(&text, "\"); ");
  insert_behind(file, close, &text, kernels);
  text_buffer_free(&text);
}

typedef struct {
  size_t statement, header_end; // of `template <...>`; header_end is NO_TOKEN where there is none
  size_t name, open, close;     // of the kernel and its parameters
} twin_parts;

// `types` are the parameters without default arguments, `arguments` the names of the template's parameters.
static void append_twin(const source *file, twin_parts parts, const text_buffer *types,
                        text_buffer *arguments, text_buffer *twin) {
  text_buffer declared = {0}, named_types = {0}, parameters = {0}, named = {0}, unused = {0};
  auto_parameters_name(types, &named_types, &declared, arguments);
  token_append_range(file, parts.open, parts.close, &parameters);
  auto_parameters_name(&parameters, &named, &unused, &unused);
  if (parts.header_end != NO_TOKEN) {
    token_append_range(file, parts.statement, token_previous(file, parts.header_end), twin);
  } else if (declared.length > 0) {
    text_buffer_append_string(twin, "template <");
  }
  if (parts.header_end != NO_TOKEN && declared.length > 0) text_buffer_append_string(twin, ", ");
  text_buffer_append(twin, declared.data, declared.length);
  if (arguments->length > 0) text_buffer_append_string(twin, ">");
  if (token_is(file, parts.statement, "static")) text_buffer_append_string(twin, " static");
  text_buffer_append_string(twin, " ::emulator::kernel_constant<static_cast<void (*)");
  text_buffer_append(twin, named_types.data, named_types.length);
  text_buffer_append_string(twin, ">(&");
  token_append(file, parts.name, twin);
  if (arguments->length > 0) {
    text_buffer_append_string(twin, "<");
    text_buffer_append(twin, arguments->data, arguments->length);
    text_buffer_append_string(twin, ">");
  }
  text_buffer_append_string(twin, ")> emulator_twin_");
  token_append(file, parts.name, twin);
  text_buffer_append(twin, named.data, named.length);
  text_buffer_append_string(twin, "; ");
  text_buffer_free(&declared);
  text_buffer_free(&named_types);
  text_buffer_free(&parameters);
  text_buffer_free(&named);
  text_buffer_free(&unused);
}

void kernel_twin_add(source *file, size_t statement, size_t global, kernel_list *kernels) {
  const size_t name = kernel_find_name(file, global);
  const size_t open = token_next(file, name);
  const size_t close = name == NO_TOKEN ? NO_TOKEN : token_group_end(file, open);
  if (close == NO_TOKEN) return;
  const size_t angle = token_next(file, statement);
  const bool has_header = token_is(file, statement, "template") && token_is(file, angle, "<");
  const bool specialises = has_header && token_is(file, token_next(file, angle), ">");
  text_buffer types = {0}, arguments = {0}, twin = {0};
  append_parameters(file, open, close, &types);
  const bool is_template = has_header || auto_parameters_are_in(&types);
  if (file->module && !is_template) add_to_module(file, name, open, close, kernels);
  const bool has_twin = !specialises && (is_template || has_defaults(file, open, close) ||
                                         is_overloaded(file, name, close));
  const size_t header_end =
      has_twin && has_header ? template_append_names(file, angle, &arguments) : NO_TOKEN;
  if (has_twin && (!has_header || header_end != NO_TOKEN)) {
    append_twin(file, (twin_parts){statement, header_end, name, open, close}, &types, &arguments,
                &twin);
    // A kernel that launches itself needs the twin ahead of its body, and there the twin needs a declaration of the
    // kernel.
    if (launches_itself(file, name, close) &&
        !(has_header && has_defaults(file, angle, header_end))) {
      text_buffer *before = &file->edits[statement].before;
      token_append_range(file, statement, name, before);
      text_buffer_append(before, types.data, types.length);
      text_buffer_append_string(before, "; ");
      text_buffer_append(before, twin.data, twin.length);
    } else {
      insert_behind(file, close, &twin, kernels);
    }
  }
  if (!has_twin || twin.length > 0) add_name(kernels, name, has_twin);
  text_buffer_free(&types);
  text_buffer_free(&arguments);
  text_buffer_free(&twin);
}
