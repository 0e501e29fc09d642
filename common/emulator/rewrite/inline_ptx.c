#define _GNU_SOURCE // memmem
#include "emulator/rewrite/inline_ptx.h"

#include "emulator/rewrite/ptx_text.h"

#include <stdlib.h>
#include <string.h>

// ---- The statement ------------------------------------------------------------------------------

// Appends the characters of a string literal, without quotes and with its escapes resolved.
static void append_literal(const source *file, size_t index, text_buffer *out) {
  const token *it = &file->tokens.items[index];
  const char *text = file->text + it->start, *end = text + it->length;
  const char *raw = text;
  while (raw < end && *raw != '"') raw++;
  if (raw > text && raw[-1] == 'R') { // R"(...)": to the first parenthesis and from the last
    const char *from = memchr(raw, '(', (size_t)(end - raw));
    const char *to = end;
    while (to > raw && *to != ')') to--;
    if (from != NULL && from < to) text_buffer_append(out, from + 1, (size_t)(to - from - 1));
    return;
  }
  for (text = raw + 1; text < end - 1; text++) {
    char c = *text;
    if (c == '\\' && text + 1 < end - 1) {
      c = *++text;
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == 'r') c = '\r';
      if (c == '\n') continue;
    }
    text_buffer_append(out, &c, 1);
  }
}

// Appends what the literals from `first` on say; returns the token behind the last of them.
static size_t append_literals(const source *file, size_t first, text_buffer *out) {
  size_t i = first;
  for (; i != NO_TOKEN && file->tokens.items[i].kind == TOKEN_STRING; i = token_next(file, i))
    append_literal(file, i, out);
  return i;
}

// Returns the type that holds an operand's register; NULL for a constraint that has none.
static const char *register_type(const char *constraint, size_t length) {
  if (length == 0) return NULL;
  switch (constraint[length - 1]) {
  case 'h': return "unsigned short";
  case 'r':
  case 'f': return "unsigned int";
  case 'l':
  case 'd': return "unsigned long long";
  case 'n': return "long long";
  default: return NULL;
  }
}

typedef struct {
  text_buffer before; // declares registers and fills them
  text_buffer after;  // copies them back
  size_t count;
  bool in_place; // the registers are the variables themselves
} operands;

static void append_number(text_buffer *out, size_t number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%zu", number);
  text_buffer_append_string(out, digits);
}

// Reads [name] "constraint"(expression), ... from `i` on; stands then at the : or ) behind them.
static bool read_operands(source *file, size_t *i, bool outputs, operands *found,
                          error_text *error) {
  if (*i == NO_TOKEN) return true; // the caller finds no end
  while (!token_is(file, *i, ":") && !token_is(file, *i, "::") && !token_is(file, *i, ")")) {
    if (token_is(file, *i, "["))
      return source_fail_at(file, *i, error,
                            "inline PTX with named operands: CUDA has none, so number them, %%0 "
                            "for the first");
    text_buffer constraint = {0};
    const size_t at = *i, open = append_literals(file, *i, &constraint);
    const char *type = register_type(constraint.data, constraint.length);
    const bool keeps = constraint.length > 0 && constraint.data[0] == '+';
    const size_t close = token_is(file, open, "(") ? token_group_end(file, open) : NO_TOKEN;
    text_buffer_free(&constraint);
    if (close == NO_TOKEN || type == NULL)
      return source_fail_at(file, at, error,
                            "inline PTX with an operand that the emulator cannot read: it knows "
                            "\"h\", \"r\", \"l\", \"f\", \"d\" and \"n\"");
    text_buffer *out = &found->before;
    text_buffer_append_string(out, found->in_place ? "auto &&" : type);
    text_buffer_append_string(out, " ptx_operand");
    append_number(out, found->count);
    if (found->in_place) {
      text_buffer_append_string(out, " = ::emulator::ptx::in_place");
      token_append_range(file, open, close, out);
      text_buffer_append_string(out, "; ");
    } else if (outputs && !keeps) {
      text_buffer_append_string(out, " = 0; ");
    } else {
      text_buffer_append_string(out, " = ::emulator::ptx::from<");
      text_buffer_append_string(out, type);
      text_buffer_append_string(out, ">");
      token_append_range(file, open, close, out);
      text_buffer_append_string(out, "; ");
    }
    if (outputs && !found->in_place) {
      text_buffer_append_string(&found->after, " ::emulator::ptx::to(ptx_operand");
      append_number(&found->after, found->count);
      text_buffer_append_string(&found->after, ", ");
      token_append_range(file, token_next(file, open), token_previous(file, close), &found->after);
      text_buffer_append_string(&found->after, ");");
    }
    found->count++;
    *i = token_next(file, close);
    if (token_is(file, *i, ",")) *i = token_next(file, *i);
    if (*i == NO_TOKEN) return source_fail_at(file, at, error, "this asm statement does not end");
  }
  return true;
}

bool inline_ptx_rewrite(source *file, size_t keyword, error_text *error) {
  size_t open = token_next(file, keyword);
  while (token_is_name(file, open)) open = token_next(file, open); // volatile
  const size_t close = token_is(file, open, "(") ? token_group_end(file, open) : NO_TOKEN;
  if (close == NO_TOKEN) return true; // no asm statement; the compiler says what it is
  text_buffer text = {0};
  operands found = {0};
  size_t i = append_literals(file, token_next(file, open), &text);
  // A product uses its registers until the thread waits for it, so a copy of them would not do.
  const char product[] = "wgmma.mma_async";
  found.in_place =
      text.length > 0 && memmem(text.data, text.length, product, strlen(product)) != NULL;
  bool done = true;
  // "::" stands for two colons: no outputs.
  bool outputs = true;
  for (int part = 0; done && i != close && i != NO_TOKEN && part < 2;) {
    const bool both = token_is(file, i, "::");
    if (!both && !token_is(file, i, ":")) {
      done = source_fail_at(file, i, error,
                            "an asm statement that the emulator cannot read: its text must "
                            "be string literals, and no macro");
      break;
    }
    if (both && part == 1) break; // no inputs, and what is clobbered
    part += both ? 2 : 1;
    outputs = part == 1;
    i = token_next(file, i);
    done = read_operands(file, &i, outputs, &found, error);
  }
  text_buffer body = {0};
  error_text reason;
  if (done && !ptx_translate(text.data, text.length, found.count, &body, &reason))
    done = source_fail_at(file, keyword, error, "%s", reason.text);
  if (done) {
    text_buffer whole = {0};
    text_buffer_append_string(&whole, "do { ");
    text_buffer_append(&whole, found.before.data, found.before.length);
    text_buffer_append(&whole, body.data, body.length);
    text_buffer_append(&whole, found.after.data, found.after.length);
    text_buffer_append_string(&whole, " } while (0)");
    text_buffer_append(&whole, "\0", 1);
    for (size_t k = keyword; k != NO_TOKEN && k <= close; k = token_next(file, k))
      edit_replace(file, k, k == keyword ? whole.data : "");
    text_buffer_free(&whole);
    file->has_ptx = true;
  }
  text_buffer_free(&body);
  text_buffer_free(&text);
  text_buffer_free(&found.before);
  text_buffer_free(&found.after);
  return done;
}
