#include "emulator/rewrite/lexer.h"

#include "emulator/rewrite/text_buffer.h"

#include <stdbool.h>
#include <string.h>

typedef struct {
  const char *bytes;
  size_t length;
} source_text;

// Returns the byte at a position, or zero past the end.
static char at(source_text text, size_t position) {
  return position < text.length ? text.bytes[position] : '\0';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Every byte of a character outside ASCII counts as a letter.
static bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         (unsigned char)c >= 0x80;
}

// A backslash at the end of a line joins the next line to it. Compilers allow blanks behind it.
static size_t splice_length(source_text text, size_t start) {
  if (at(text, start) != '\\') return 0;
  size_t end = start + 1;
  while (at(text, end) == ' ' || at(text, end) == '\t' || at(text, end) == '\r') end++;
  return at(text, end) == '\n' ? end + 1 - start : 0;
}

static size_t line_comment_length(source_text text, size_t start) {
  size_t end = start;
  while (end < text.length && text.bytes[end] != '\n') {
    size_t splice = splice_length(text, end);
    end += splice > 0 ? splice : 1;
  }
  return end - start;
}

static size_t block_comment_length(source_text text, size_t start) {
  for (size_t end = start + 2; end + 1 < text.length; end++)
    if (text.bytes[end] == '*' && text.bytes[end + 1] == '/') return end + 2 - start;
  return text.length - start;
}

// Length of the blank, splice or comment at `start`; 0 when there is none. A line break outside
// them is not a gap: it ends a preprocessor line.
static size_t gap_length(source_text text, size_t start) {
  char c = at(text, start);
  if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') return 1;
  if (c == '/' && at(text, start + 1) == '/') return line_comment_length(text, start);
  if (c == '/' && at(text, start + 1) == '*') return block_comment_length(text, start);
  return splice_length(text, start);
}

static size_t name_length(source_text text, size_t start) {
  size_t end = start;
  while (end < text.length && is_name_character(text.bytes[end])) end++;
  return end - start;
}

// Returns the length of a preprocessing number: 0x1F, 1'000'000u, 1.5e-3f, .5
static size_t number_length(source_text text, size_t start) {
  size_t end = start + 1;
  while (end < text.length) {
    char c = text.bytes[end];
    char next = at(text, end + 1);
    bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
    if (exponent && (next == '+' || next == '-'))
      end += 2;
    else if (c == '\'' && is_name_character(next))
      end += 2;
    else if (c == '.' || is_name_character(c))
      end++;
    else
      break;
  }
  return end - start;
}

// A string or character literal from its opening quote; 0 when the line ends before it does.
static size_t quoted_length(source_text text, size_t start) {
  char quote = text.bytes[start];
  size_t end = start + 1;
  while (end < text.length && text.bytes[end] != '\n') {
    if (text.bytes[end] == quote) return end + 1 - start;
    size_t splice = splice_length(text, end);
    if (splice > 0)
      end += splice;
    else
      end += text.bytes[end] == '\\' ? 2 : 1;
  }
  return 0;
}

// A raw string from its opening quote, "delimiter( ... )delimiter"; 0 when it does not begin so.
static size_t raw_string_length(source_text text, size_t start) {
  const char *delimiter = text.bytes + start + 1;
  size_t length = 0;
  while (start + 1 + length < text.length && strchr(" ()\\\t\v\f\n\r\"", delimiter[length]) == NULL)
    length++;
  if (at(text, start + 1 + length) != '(') return 0;
  for (size_t end = start + 2 + length; end + 1 + length < text.length; end++)
    if (text.bytes[end] == ')' && memcmp(text.bytes + end + 1, delimiter, length) == 0 &&
        text.bytes[end + 1 + length] == '"')
      return end + 2 + length - start;
  return text.length - start;
}

static bool is_one_of(const char *word, size_t length, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0) return true;
  return false;
}

// A name, or the literal it is the prefix of: R"(...)", u8"...", L'...'.
static size_t name_or_literal_length(source_text text, size_t start, token_kind *kind) {
  static const char *const raw_prefixes[] = {"R", "LR", "uR", "UR", "u8R"};
  static const char *const prefixes[] = {"L", "u", "U", "u8"};
  const char *name = text.bytes + start;
  size_t length = name_length(text, start);
  char quote = at(text, start + length);
  size_t literal = 0;
  if (quote == '"' && is_one_of(name, length, raw_prefixes, 5))
    literal = raw_string_length(text, start + length);
  else if ((quote == '"' || quote == '\'') && is_one_of(name, length, prefixes, 4))
    literal = quoted_length(text, start + length);
  *kind = TOKEN_IDENTIFIER;
  if (literal > 0) *kind = quote == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
  return length + literal;
}

static size_t punctuator_length(source_text text, size_t start) {
  static const char *const punctuators[] = {"<<<", "<=>", "<<", "<=", ">=", "->", "::", "##"};
  for (size_t i = 0; i < sizeof punctuators / sizeof *punctuators; i++) {
    size_t length = strlen(punctuators[i]);
    if (start + length <= text.length && memcmp(text.bytes + start, punctuators[i], length) == 0)
      return length;
  }
  return 1;
}

static size_t token_length(source_text text, size_t start, token_kind *kind) {
  char c = text.bytes[start];
  if (is_digit(c) || (c == '.' && is_digit(at(text, start + 1)))) {
    *kind = TOKEN_NUMBER;
    return number_length(text, start);
  }
  if (is_name_character(c)) return name_or_literal_length(text, start, kind);
  if (c == '"' || c == '\'') {
    size_t length = quoted_length(text, start);
    *kind = c == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
    if (length > 0) return length;
  }
  *kind = TOKEN_PUNCTUATOR;
  return punctuator_length(text, start);
}

static size_t count_lines(source_text text, size_t start, size_t length) {
  size_t lines = 0;
  for (size_t i = start; i < start + length; i++) lines += text.bytes[i] == '\n';
  return lines;
}

void lexer_split(const char *bytes, size_t length, token_list *tokens) {
  source_text text = {bytes, length};
  size_t position = 0, line = 1;
  size_t directive = NO_DIRECTIVE;
  bool line_is_empty = true; // so far, but for gaps
  while (position < length) {
    if (bytes[position] == '\n') {
      position++;
      line++;
      line_is_empty = true;
      directive = NO_DIRECTIVE;
      continue;
    }
    size_t size = gap_length(text, position);
    if (size == 0) {
      token_kind kind;
      size = token_length(text, position, &kind);
      if (line_is_empty && bytes[position] == '#') {
        kind = TOKEN_DIRECTIVE;
        size = 1;
        directive = tokens->count;
      }
      line_is_empty = false;
      tokens->items = array_grow(tokens->items, tokens->count, &tokens->capacity, sizeof(token));
      tokens->items[tokens->count++] = (token){kind, position, size, line, directive};
    }
    line += count_lines(text, position, size);
    position += size;
  }
}
