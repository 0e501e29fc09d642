#include "emulator/rewrite/ptx_text.h"

#include "emulator/rewrite/ptx_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *at, *end;
  size_t operands;
  text_buffer *out;
  text_buffer *labels; // their names with commas between
  error_text *error;
} reader;

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static void skip_blanks(reader *in) {
  while (in->at < in->end) {
    if (isspace((unsigned char)*in->at)) {
      in->at++;
    } else if (in->end - in->at > 1 && in->at[0] == '/' && in->at[1] == '/') {
      while (in->at < in->end && *in->at != '\n') in->at++;
    } else if (in->end - in->at > 1 && in->at[0] == '/' && in->at[1] == '*') {
      const char *close = strstr(in->at + 2, "*/");
      in->at = close != NULL && close < in->end ? close + 2 : in->end;
    } else {
      return;
    }
  }
}

static bool next_is(reader *in, char c) {
  skip_blanks(in);
  if (in->at >= in->end || *in->at != c) return false;
  in->at++;
  return true;
}

// ---- Operands -----------------------------------------------------------------------------------

// %0, a number, %tid.x, or the name of a register.
static bool write_simple(reader *in) {
  skip_blanks(in);
  const char *start = in->at;
  while (in->at < in->end && *in->at == '%' && in->end - in->at > 1 && in->at[1] == '%') {
    in->at++;
    start = in->at;
  }
  if (in->at < in->end && (*in->at == '-' || *in->at == '!')) {
    text_buffer_append(in->out, in->at++, 1);
    return write_simple(in);
  }
  while (in->at < in->end && (is_word(*in->at) || *in->at == '.')) in->at++;
  size_t length = (size_t)(in->at - start);
  if (length == 0)
    return fail(in->error, "inline PTX that the emulator cannot read near \"%.*s\"",
                (int)(in->end - start < 30 ? in->end - start : 30), start);
  if (start[0] == '%' && length > 1 && isdigit((unsigned char)start[1])) {
    if (strtoul(start + 1, NULL, 10) >= in->operands)
      return fail(in->error, "inline PTX names operand %.*s, and the statement has %zu",
                  (int)length, start, in->operands);
    text_buffer_append_string(in->out, "ptx_operand");
    text_buffer_append(in->out, start + 1, length - 1);
  } else if (length == 10 && start[0] == '0' && tolower(start[1]) == 'f') { // bits of a float
    text_buffer_append_string(in->out, "0x");
    text_buffer_append(in->out, start + 2, 8);
    text_buffer_append_string(in->out, "u");
  } else if (length == 18 && start[0] == '0' && tolower(start[1]) == 'd') {
    text_buffer_append_string(in->out, "0x");
    text_buffer_append(in->out, start + 2, 16);
    text_buffer_append_string(in->out, "ull");
  } else if (isdigit((unsigned char)start[0])) {
    if (start[length - 1] == 'U') length--;
    text_buffer_append(in->out, start, length);
  } else if (start[0] == '%') {
    text_buffer_append_string(in->out, "::emulator::ptx::special_register");
    ptx_write_word(in->out, start, length);
    text_buffer_append_string(in->out, "()");
  } else if (length == 1 && *start == '_') {
    text_buffer_append_string(in->out, "::emulator::ptx::sink");
  } else {
    text_buffer_append_string(in->out, "ptx_register_");
    ptx_write_word(in->out, start, length);
  }
  return true;
}

// The rest of {a, b}.
static bool write_vector(reader *in) {
  for (;;) {
    if (!write_simple(in)) return false;
    if (next_is(in, '}')) return true;
    if (!next_is(in, ','))
      return fail(in->error, "inline PTX with a vector that the emulator cannot read");
    text_buffer_append_string(in->out, ", ");
  }
}

// The rest of [address + 16], or of [tensor map, {column, row}].
static bool write_address(reader *in) {
  text_buffer_append_string(in->out, "(");
  if (!write_simple(in)) return false;
  while (next_is(in, '+')) {
    text_buffer_append_string(in->out, " + ");
    if (!write_simple(in)) return false;
  }
  text_buffer_append_string(in->out, ")");
  if (next_is(in, ',')) {
    text_buffer_append_string(in->out, ", ");
    if (!next_is(in, '{'))
      return fail(in->error, "inline PTX with an address that the emulator cannot read");
    if (!write_vector(in)) return false;
  }
  return next_is(in, ']') ||
         fail(in->error, "inline PTX with an address that the emulator cannot read");
}

// One operand: simple, an address, or {a, b}. The parts of the last two become operands of their own.
static bool write_operand(reader *in) {
  if (next_is(in, '[')) return write_address(in);
  if (next_is(in, '{')) return write_vector(in);
  if (!write_simple(in)) return false;
  if (next_is(in, '|')) { // d|p: two results
    text_buffer_append_string(in->out, ", ");
    return write_simple(in);
  }
  return true;
}

// ---- Statements ---------------------------------------------------------------------------------

static void write_label(text_buffer *out, const char *name, size_t length) {
  text_buffer_append_string(out, "ptx_label_");
  ptx_write_word(out, name, length);
}

// Reads `label:` if that is next. A label is known in its asm statement alone, so that the statement may be in a function
// more than once.
static bool is_label(reader *in) {
  const char *name = in->at, *at = name;
  while (at < in->end && is_word(*at)) at++;
  const size_t length = (size_t)(at - name);
  while (at < in->end && isspace((unsigned char)*at)) at++;
  if (length == 0 || at >= in->end || *at != ':') return false;
  in->at = at + 1;
  if (in->labels->length > 0) text_buffer_append_string(in->labels, ", ");
  write_label(in->labels, name, length);
  write_label(in->out, name, length);
  text_buffer_append_string(in->out, ": ; ");
  return true;
}

// The rest of bra label;
static bool write_jump(reader *in) {
  const char *name = in->at;
  while (in->at < in->end && is_word(*in->at)) in->at++;
  const size_t length = (size_t)(in->at - name);
  if (length == 0) return fail(in->error, "inline PTX with a branch that the emulator cannot read");
  text_buffer_append_string(in->out, "goto ");
  write_label(in->out, name, length);
  text_buffer_append_string(in->out, "; ");
  return next_is(in, ';') || in->at >= in->end ||
         fail(in->error, "inline PTX with a branch that the emulator cannot read");
}

static bool write_call(reader *in) {
  skip_blanks(in);
  const char *name = in->at;
  while (in->at < in->end && (is_word(*in->at) || *in->at == '.' || *in->at == ':')) in->at++;
  const char *end = in->at;
  skip_blanks(in);
  const size_t length = (size_t)(end - name);
  if ((length == 3 && memcmp(name, "bra", 3) == 0) ||
      (length == 7 && memcmp(name, "bra.uni", 7) == 0))
    return write_jump(in);
  const bool unpacks =
      in->at < in->end && *in->at == '{' && end - name > 3 && memcmp(name, "mov", 3) == 0;
  if (!ptx_write_name(name, end, unpacks, in->out, in->error)) return false;
  text_buffer_append_string(in->out, "(");
  for (bool first = true; !next_is(in, ';'); first = false) {
    if (in->at >= in->end) break; // the last semicolon may be missing
    if (!first) {
      if (!next_is(in, ','))
        return fail(in->error, "inline PTX that the emulator cannot read behind %.*s",
                    (int)(end - name), name);
      text_buffer_append_string(in->out, ", ");
    }
    if (!write_operand(in)) return false;
  }
  text_buffer_append_string(in->out, "); ");
  return true;
}

// .reg .b32 a, b<4>;
static bool write_declaration(reader *in) {
  skip_blanks(in);
  const char *type = in->at;
  while (in->at < in->end && (is_word(*in->at) || *in->at == '.')) in->at++;
  size_t length = (size_t)(in->at - type);
  if (length < 2 || !ptx_is_type(type + 1, length - 1))
    return fail(in->error,
                "inline PTX that declares a register of type %.*s, which the emulator "
                "cannot read",
                (int)length, type);
  do {
    skip_blanks(in);
    const char *name = in->at;
    while (in->at < in->end && is_word(*in->at)) in->at++;
    const size_t name_length = (size_t)(in->at - name);
    unsigned long count = 0;
    if (next_is(in, '<')) {
      char *behind;
      count = strtoul(in->at, &behind, 10);
      in->at = behind;
      if (!next_is(in, '>') || count > 256)
        return fail(in->error, "inline PTX with registers that the emulator cannot read");
    }
    for (unsigned long i = 0; i < (count > 0 ? count : 1); i++) {
      text_buffer_append_string(in->out, "::emulator::ptx::register_of<::emulator::ptx::");
      text_buffer_append(in->out, type + 1, length - 1);
      text_buffer_append_string(in->out, "> ptx_register_");
      ptx_write_word(in->out, name, name_length);
      char digits[24] = "";
      if (count > 0) snprintf(digits, sizeof digits, "%lu", i);
      text_buffer_append_string(in->out, digits);
      text_buffer_append_string(in->out, "; "); // without a value, so that a branch may pass it
    }
  } while (next_is(in, ','));
  return next_is(in, ';') || fail(in->error, "inline PTX with a declaration that does not end");
}

static bool write_statement(reader *in) {
  if (next_is(in, '{')) {
    text_buffer_append_string(in->out, "{ ");
    return true;
  }
  if (next_is(in, '}')) {
    text_buffer_append_string(in->out, "} ");
    return true;
  }
  if (next_is(in, ';') || is_label(in)) return true;
  if (in->end - in->at > 4 && memcmp(in->at, ".reg", 4) == 0) {
    in->at += 4;
    return write_declaration(in);
  }
  if (next_is(in, '@')) {
    text_buffer_append_string(in->out, "if (");
    if (!write_simple(in)) return false;
    text_buffer_append_string(in->out, ") ");
  }
  return write_call(in);
}

bool ptx_translate(const char *text, size_t length, size_t operands, text_buffer *out,
                   error_text *error) {
  text_buffer copy = {0}; // ends in zero, for strtoul and strstr
  text_buffer_append(&copy, text, length);
  text_buffer_append(&copy, "", 1);
  for (char *number;
       (number = strstr(copy.data, "%=")) != NULL;) // of the statement, in the names of labels
    memcpy(number, "__", 2);
  text_buffer body = {0}, labels = {0};
  reader in = {copy.data, copy.data + length, operands, &body, &labels, error};
  bool done = true;
  for (;;) {
    skip_blanks(&in);
    if (!done || in.at >= in.end) break;
    done = write_statement(&in);
  }
  if (labels.length > 0) {
    text_buffer_append_string(out, "{ __label__ ");
    text_buffer_append(out, labels.data, labels.length);
    text_buffer_append_string(out, "; ");
  }
  text_buffer_append(out, body.data, body.length);
  if (labels.length > 0) text_buffer_append_string(out, "} ");
  text_buffer_free(&copy);
  text_buffer_free(&body);
  text_buffer_free(&labels);
  return done;
}
