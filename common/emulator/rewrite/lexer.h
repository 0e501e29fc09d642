// Splits C++ source text into preprocessing tokens (ISO C++17, [lex.pptoken]), far enough to find
// kernel launches: white space and comments are the gaps between tokens, and text that is no valid
// token becomes a punctuator of one byte, for the compiler to complain about.
//
// Left out because no CUDA source needs them: digraphs, trigraphs, and a backslash-newline in the
// middle of an identifier, number or operator (it separates tokens here).
#ifndef LEXER_H
#define LEXER_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
  TOKEN_IDENTIFIER, // keywords as well
  TOKEN_NUMBER,
  TOKEN_STRING, // with its prefix and quotes; raw strings as well
  TOKEN_CHARACTER,
  TOKEN_PUNCTUATOR, // one byte, or one of <<< << <=> <= >= -> :: ##
  TOKEN_DIRECTIVE   // the # that begins a preprocessor line
} token_kind;

#define NO_DIRECTIVE SIZE_MAX

typedef struct {
  token_kind kind;
  size_t start; // byte offset in the text
  size_t length;
  size_t line;      // of the first byte, from 1
  size_t directive; // index of the TOKEN_DIRECTIVE that begins this token's line, or NO_DIRECTIVE
} token;

typedef struct {
  token *items;
  size_t count;
  size_t capacity;
} token_list;

// Appends the tokens of the text to the list. `>` is always a token of its own, so that `>>>` can
// close templates as well as launches.
void lexer_split(const char *text, size_t length, token_list *tokens);

#endif
