// Where expressions begin and end among the tokens of a source that clang-format has laid out.
#ifndef EXPRESSION_H
#define EXPRESSION_H

#include "emulator/rewrite/source.h"

// Whether the token is preceded by a blank or a line break. clang-format puts one on both sides of a binary
// operator, none in front of the brackets of a template, and none behind the star of a pointer.
bool spaced_before(const source *file, size_t index);
bool spaced_behind(const source *file, size_t index);

// Whether the token is this operator between two operands: one token long.
bool is_binary(const source *file, size_t index, const char *spelling);

// Whether two tokens that touch make this operator, such as && and ==.
bool is_pair(const source *file, size_t index, const char *spelling);

// From the opening bracket of template arguments to the closing one. NO_TOKEN when they do not end before a
// semicolon.
size_t template_end(const source *file, size_t open);

// The last token of the last argument in a group, and its first: f(a, b + c) gives b and c. False when the
// group is empty.
bool last_argument(const source *file, size_t open, size_t *first, size_t *last);

// The last token of the name that begins here, with what is behind it in brackets and behind dots:
// place.stage, row_max[h], tile::STAGES; and the first token of the name that ends here.
size_t name_end(const source *file, size_t first);
size_t name_start(const source *file, size_t last);

// The first token of the condition that ends in front of `at`: the ? of a ?:, or && or || with `operand`
// set, where the condition begins behind the && or || before. And the last token of the operand that begins
// behind && or ||, `at` being its first token.
size_t condition_start(const source *file, size_t at, bool operand);
size_t operand_end(const source *file, size_t at);

// The last token of the expression that begins here: it ends before a comma, a semicolon or the bracket that
// closes what is around it.
size_t expression_end(const source *file, size_t first);

// Whether a statement begins with this token.
bool begins_statement(const source *file, size_t index);

#endif
