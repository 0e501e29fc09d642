// Finds where expressions begin and end among the tokens of a source that clang-format has laid out.
#ifndef EXPRESSION_H
#define EXPRESSION_H

#include "emulator/rewrite/source.h"

// They tell whether a blank or a line break stands in front of the token, or behind it. clang-format puts one
// on both sides of a binary operator, none in front of the brackets of a template, and none behind the star
// of a pointer.
bool spaced_before(const source *file, size_t index);
bool spaced_behind(const source *file, size_t index);

// Tells whether the token is this operator between two operands. The operator is one token long.
bool is_binary(const source *file, size_t index, const char *spelling);

// Tells whether two tokens without a blank between them make this operator, such as && and ==.
bool is_pair(const source *file, size_t index, const char *spelling);

// Returns the closing bracket of template arguments for the opening one, or NO_TOKEN when they do not end
// before a semicolon.
size_t template_end(const source *file, size_t open);

// Finds the first and the last token of the last argument in a group; f(a, b + c) gives b and c. Returns
// false when the group is empty.
bool last_argument(const source *file, size_t open, size_t *first, size_t *last);

// They return the last token of the name that begins here, and the first token of the name that ends here. A
// name includes brackets and dots, such as place.stage, row_max[h] and tile::STAGES.
size_t name_end(const source *file, size_t first);
size_t name_start(const source *file, size_t last);

// condition_start returns the first token of the condition that ends in front of `at`, which is the ? of a
// ?:, or && or || with `operand` set. In the second case the condition begins behind the && or || before.
// operand_end returns the last token of the operand that begins behind && or ||, with `at` as its first
// token.
size_t condition_start(const source *file, size_t at, bool operand);
size_t operand_end(const source *file, size_t at);

// Returns the last token of the expression that begins here. It ends before a comma, a semicolon or the
// closing bracket around it.
size_t expression_end(const source *file, size_t first);

// Tells whether a statement begins with this token.
bool begins_statement(const source *file, size_t index);

#endif
