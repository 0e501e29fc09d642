#include "emulator/rewrite/launch.h"

#include <string.h>

// Goes from the > that closes template arguments back to their <. A << among them is a shift.
static size_t template_start(const source *file, size_t close) {
  size_t depth = 0;
  for (size_t i = close; i != NO_TOKEN; i = token_previous(file, i)) {
    if (token_closes_group(file, i)) {
      i = token_group_start(file, i);
      continue;
    }
    if (token_opens_group(file, i) || token_is(file, i, ";") || token_is(file, i, "<<<")) break;
    if (token_is(file, i, ">")) depth++;
    if (token_is(file, i, "<") && --depth == 0) return i;
  }
  return NO_TOKEN;
}

// Returns the first token of the name, call, subscript or parenthesised
// expression that ends at `last`, without the object of which it is a member.
static size_t operand_start(const source *file, size_t last) {
  size_t i = last;
  while (token_is(file, i, ")") || token_is(file, i, "]")) {
    bool subscript = token_is(file, i, "]");
    i = token_group_start(file, i);
    size_t callee = token_previous(file, i);
    bool has_callee =
        token_is_name(file, callee) || token_is(file, callee, ">") || token_is(file, callee, "]");
    // In `if (ready) (kernel)<<<...` the text before (kernel) is not a callee.
    if (!subscript && !has_callee) return i;
    i = callee;
  }
  if (token_is(file, i, ">")) i = token_previous(file, template_start(file, i));
  return token_is_name(file, i) ? i : NO_TOKEN;
}

// Returns the first token of the kernel expression that ends at `last`, such as `kernel<D>`,
// `lab::kernel`, `set.kernel` or `(choose(D))`, and NO_TOKEN when there is none.
static size_t kernel_start(const source *file, size_t last) {
  for (;;) {
    size_t first = operand_start(file, last);
    size_t before = token_previous(file, first);
    if (token_is(file, before, "template")) before = token_previous(file, before);
    if (token_is(file, before, ".") || token_is(file, before, "->") ||
        token_is(file, before, "##")) {
      last = token_previous(file, before);
    } else if (token_is(file, before, "::")) {
      last = token_previous(file, before);
      if (!token_is_name(file, last) && !token_is(file, last, ">")) return before; // ::kernel
    } else {
      return first;
    }
  }
}

// Returns how many > stand side by side, from this one on.
static size_t closing_run(const source *file, size_t index) {
  size_t count = 0;
  while (token_is(file, index + count, ">") &&
         (count == 0 || token_touches(file, index + count - 1, index + count)))
    count++;
  return count;
}

typedef struct {
  size_t close; // first of the three > tokens, or NO_TOKEN
  // Commas that certainly separate launch arguments, and those that may separate template arguments.
  size_t commas;
  size_t doubtful_commas;
  bool has_empty;
  // A directive or __VA_ARGS__ is among them, so that only the compiler knows their number.
  bool count_is_unknown;
} launch_arguments;

// Finds the >>> that ends the launch. `open_angles` counts the < since <<<: it cannot be known here
// whether they open templates or compare, so a run of > closes as many as it can cover; a run that
// is longer than that by itself ends the launch.
static launch_arguments find_arguments(const source *file, size_t open) {
  launch_arguments found = {.close = NO_TOKEN};
  size_t open_angles = 0;
  size_t last = open;
  for (size_t i = token_next(file, open); i != NO_TOKEN; last = i, i = token_next(file, i)) {
    if (file->tokens.items[i].directive != file->tokens.items[i - 1].directive ||
        token_is(file, i, "__VA_ARGS__"))
      found.count_is_unknown = true;
    if (token_is(file, i, ">")) {
      size_t run = closing_run(file, i);
      if (run >= 3 && run > open_angles) {
        found.has_empty |= last == open || (run == 3 && token_is(file, last, ","));
        found.close = i + run - 3;
        return found;
      }
      open_angles -= run < open_angles ? run : open_angles;
      i += run - 1;
    } else if (token_is(file, i, "<")) {
      open_angles++;
    } else if (token_is(file, i, ",")) {
      found.has_empty |= last == open || token_is(file, last, ",");
      if (open_angles == 0)
        found.commas++;
      else
        found.doubtful_commas++;
    } else if (token_opens_group(file, i)) {
      i = token_group_end(file, i);
      if (i == NO_TOKEN) break;
    } else if (token_closes_group(file, i) || token_is(file, i, ";") || token_is(file, i, "<<<")) {
      break;
    }
  }
  return found;
}

// The kernel's name as a string literal. Inside a macro, `kernel_##type<D>` with a parameter `type`
// becomes "kernel_" #type "<D>".
static void append_name(const source *file, size_t first, size_t last, text_buffer *out) {
  bool quoted = false, pasted = false;
  for (size_t i = first; i != NO_TOKEN && i <= last; i = token_next(file, i)) {
    bool parameter = token_is_macro_parameter(file, i);
    bool paste = token_is(file, i, "##");
    bool space =
        i != first && !paste && !pasted && !token_touches(file, token_previous(file, i), i);
    if (space || !(parameter || paste)) {
      if (!quoted) text_buffer_append_string(out, i == first ? "\"" : " \"");
      quoted = true;
    }
    if (space) text_buffer_append(out, " ", 1);
    if (parameter) {
      text_buffer_append_string(out, quoted ? "\" #" : i == first ? "#" : " #");
      token_append(file, i, out);
      quoted = false;
    } else if (!paste) {
      const token *it = &file->tokens.items[i];
      text_buffer_append_escaped(out, file->text + it->start, it->length);
    }
    pasted = paste;
  }
  if (quoted) text_buffer_append(out, "\"", 1);
}

static bool check_arguments(const source *file, size_t open, launch_arguments found,
                            error_text *error) {
  if (found.close == NO_TOKEN)
    return source_fail_at(file, open, error,
                          "this <<< has no >>>: write kernel<<<grid, block>>>(arguments), with "
                          "parentheses around a launch argument that contains < or >");
  if (!found.count_is_unknown) {
    size_t least = found.commas + 1, most = least + found.doubtful_commas;
    if (most < 2 || least > 4)
      return source_fail_at(
          file, open, error,
          "a launch takes 2 to 4 arguments between <<< and >>> (grid, block, bytes of "
          "dynamic shared memory, stream), not %zu",
          found.has_empty && most == 1 ? (size_t)0 : least);
    if (found.has_empty)
      return source_fail_at(
          file, open, error,
          "a launch argument between <<< and >>> is empty: write its value or remove "
          "the comma");
  }
  size_t last = found.close + 2;
  size_t behind = token_next(file, last);
  // A macro may end here and leave the kernel's arguments to the place where it is used.
  bool macro_ends = behind == NO_TOKEN && file->tokens.items[last].directive != NO_DIRECTIVE;
  if (!token_is(file, behind, "(") && !macro_ends)
    return source_fail_at(
        file, last, error,
        "the kernel's arguments must follow >>> in parentheses: write >>>() when it "
        "takes none");
  return true;
}

static bool same_text(const source *file, size_t left, size_t right) {
  const token *a = &file->tokens.items[left], *b = &file->tokens.items[right];
  return a->length == b->length &&
         memcmp(file->text + a->start, file->text + b->start, a->length) == 0;
}

// Does the file declare a kernel of this name as a template? nvcc deduces the arguments of such a kernel. g++ would say
// at length that it cannot convert an overloaded function.
static bool is_template_kernel(const source *file, size_t name) {
  for (size_t start = 0; start < file->tokens.count; start++) {
    if (!token_is(file, start, "template") || !token_is(file, token_next(file, start), "<"))
      continue;
    bool kernel = false;
    for (size_t i = start; i != NO_TOKEN; i = token_next(file, i)) {
      if (token_is(file, i, "{") || token_is(file, i, ";")) break;
      if (token_is(file, i, "__global__")) kernel = true;
      if (kernel && same_text(file, i, name) && token_is(file, token_next(file, i), "("))
        return true;
      if (token_opens_group(file, i)) i = token_group_end(file, i);
    }
  }
  return false;
}

// The kernel's own name in the expression first..last, without namespaces and template arguments.
static size_t own_name(const source *file, size_t last) {
  return token_is(file, last, ">") ? token_previous(file, template_start(file, last)) : last;
}

static void append_twin(const source *file, size_t first, size_t name, size_t last,
                        text_buffer *out) {
  if (first != name) token_append_range(file, first, token_previous(file, name), out);
  text_buffer_append_string(out, "emulator_twin_");
  token_append_range(file, name, last, out);
}

// A lambda is another type wherever it is written, so an argument that is one must stand only once.
static bool has_lambda(const source *file, size_t open, size_t close) {
  for (size_t i = token_next(file, open); i < close; i = token_next(file, i)) {
    const size_t before = token_previous(file, i);
    if (token_is(file, i, "[") && (before == open || token_is(file, before, ","))) return true;
    if (token_opens_group(file, i)) i = token_group_end(file, i);
  }
  return false;
}

// Opens the launch of a kernel that has a twin: writes what stands before the kernel's name in the lambda that calls
// it. `arguments` is the ( of the kernel's arguments.
static void begin_deduced(source *file, size_t first, size_t name, size_t last, size_t arguments) {
  text_buffer *before = &file->edits[first].before;
  const size_t close = token_group_end(file, arguments);
  if (has_lambda(file, arguments, close)) {
    text_buffer_append_string(
        before, "::emulator::deduce_later([=](auto &&...emulator_arguments) -> decltype(");
    append_twin(file, first, name, last, before);
    text_buffer_append_string(
        before,
        "(static_cast<decltype(emulator_arguments)>(emulator_arguments)...)) { return {}; }, ");
  } else {
    text_buffer_append_string(before, "::emulator::deduce<decltype(");
    append_twin(file, first, name, last, before);
    token_append_range(file, arguments, close, before);
    text_buffer_append_string(before, ")>(");
  }
  text_buffer_append_string(before, "[=](auto &...emulator_arguments) { ");
}

bool launch_rewrite(source *file, size_t open, const kernel_list *kernels, error_text *error) {
  size_t last = token_previous(file, open);
  size_t first = kernel_start(file, last);
  size_t directive = file->tokens.items[open].directive;
  // In `#define RUN (kernel)<<<...` the macro's name is not part of the expression.
  if (directive != NO_DIRECTIVE && first < source_macro_body(file, directive))
    first = source_macro_body(file, directive);
  if (first >= open)
    return source_fail_at(
        file, open, error,
        "no kernel stands before this <<<: write kernel<<<grid, block>>>(arguments)");
  if (token_is(file, token_previous(file, first), "<"))
    return source_fail_at(
        file, open, error,
        "cannot tell where the kernel's template arguments begin: put parentheses "
        "around a comparison among them");
  if (!file->preprocessed && first == last && is_template_kernel(file, first)) {
    const token *name = &file->tokens.items[first];
    return source_fail_at(file, open, error,
                          "%.*s is a template, and the emulator cannot deduce its arguments as "
                          "nvcc does: write them out, "
                          "as in %.*s<float><<<grid, block>>>(arguments)",
                          (int)name->length, file->text + name->start, (int)name->length,
                          file->text + name->start);
  }
  launch_arguments found = find_arguments(file, open);
  if (!check_arguments(file, open, found, error)) return false;

  const size_t name = own_name(file, last);
  const size_t arguments = token_next(file, found.close + 2);
  const bool deduced = file->preprocessed && kernel_has_twin(file, kernels, name) &&
                       token_group_end(file, arguments) != NO_TOKEN;
  if (deduced)
    begin_deduced(file, first, name, last, arguments);
  else
    edit_insert_before(file, first, "::emulator::launcher(");
  text_buffer *separator = &file->edits[open].instead;
  edit_replace(file, open, deduced ? "(emulator_arguments...); }, " : ", ");
  append_name(file, first, last, separator);
  text_buffer_append_string(separator, ", ");
  edit_replace(file, found.close, ")");
  edit_replace(file, found.close + 1, "");
  edit_replace(file, found.close + 2, "");
  return true;
}
