#include "emulator/rewrite/arch_condition.h"

#include <stdlib.h>

enum { DEVICE_ARCH = 900 }; // of the GPU that the emulator imitates unless it is told otherwise

// A value that depends on a macro that is not known here is not known either.
typedef struct {
  bool known;
  long number;
} value;

typedef struct {
  const source *file;
  size_t at; // NO_TOKEN at the end of the line
  bool device;
} reader;

static value known(long number) { return (value){.known = true, .number = number}; }

static bool take(reader *in, const char *spelling) {
  if (!token_is(in->file, in->at, spelling)) return false;
  in->at = token_next(in->file, in->at);
  return true;
}

// Two tokens that touch, as in &&.
static bool take_two(reader *in, const char *first, const char *second) {
  const size_t next = token_next(in->file, in->at);
  if (!token_is(in->file, in->at, first) || !token_is(in->file, next, second)) return false;
  in->at = token_next(in->file, next);
  return true;
}

static value is_defined(reader *in) {
  const bool own = token_is(in->file, in->at, "__CUDA_ARCH__");
  if (in->at != NO_TOKEN) in->at = token_next(in->file, in->at);
  return own ? known(in->device) : (value){0};
}

static value read_or(reader *in);

static value read_operand(reader *in) {
  if (take(in, "!")) {
    const value operand = read_operand(in);
    return operand.known ? known(!operand.number) : operand;
  }
  if (take(in, "(")) {
    const value inside = read_or(in);
    take(in, ")");
    return inside;
  }
  if (take(in, "defined")) {
    const bool bracket = take(in, "(");
    const value result = is_defined(in);
    if (bracket) take(in, ")");
    return result;
  }
  if (take(in, "__CUDA_ARCH__")) return known(in->device ? DEVICE_ARCH : 0);
  if (in->at == NO_TOKEN) return (value){0};
  const token *it = &in->file->tokens.items[in->at];
  const bool number = it->kind == TOKEN_NUMBER;
  const long read = number ? strtol(in->file->text + it->start, NULL, 0) : 0;
  in->at = token_next(in->file, in->at);
  return (value){.known = number, .number = read};
}

static value read_comparison(reader *in) {
  const value left = read_operand(in);
  enum { LESS = 1, EQUAL = 2, GREATER = 4 } wanted;
  if (take(in, "<="))
    wanted = LESS | EQUAL;
  else if (take(in, ">="))
    wanted = GREATER | EQUAL;
  else if (take_two(in, "=", "="))
    wanted = EQUAL;
  else if (take_two(in, "!", "="))
    wanted = LESS | GREATER;
  else if (take(in, "<"))
    wanted = LESS;
  else if (take(in, ">"))
    wanted = GREATER;
  else
    return left;
  const value right = read_operand(in);
  const unsigned is = left.number < right.number    ? LESS
                      : left.number == right.number ? EQUAL
                                                    : GREATER;
  return (value){.known = left.known && right.known, .number = (is & (unsigned)wanted) != 0};
}

// One side can decide alone: 0 for and, 1 for or.
static value join(value left, value right, bool decides) {
  if (left.known && (left.number != 0) == decides) return known(decides);
  if (right.known && (right.number != 0) == decides) return known(decides);
  return (value){.known = left.known && right.known, .number = !decides};
}

static value read_and(reader *in) {
  value left = read_comparison(in);
  while (take_two(in, "&", "&")) left = join(left, read_comparison(in), false);
  return left;
}

static value read_or(reader *in) {
  value left = read_and(in);
  while (take_two(in, "|", "|")) left = join(left, read_and(in), true);
  return left;
}

// A rest of the line that was not read, such as arithmetic, makes the value unknown.
static value read_condition(const source *file, size_t keyword, bool device) {
  reader in = {.file = file, .at = token_next(file, keyword), .device = device};
  const bool names = token_is(file, keyword, "ifdef") || token_is(file, keyword, "ifndef");
  value result = names ? is_defined(&in) : read_or(&in);
  if (in.at != NO_TOKEN) result.known = false;
  return result;
}

bool arch_condition_differs(const source *file, size_t directive) {
  const size_t keyword = token_next(file, directive);
  if (!token_is(file, keyword, "if") && !token_is(file, keyword, "elif") &&
      !token_is(file, keyword, "ifdef") && !token_is(file, keyword, "ifndef"))
    return false;
  const value host = read_condition(file, keyword, false),
              device = read_condition(file, keyword, true);
  return host.known && device.known && (host.number != 0) != (device.number != 0);
}
