// A source file as tokens, with the edits that the rewriter makes at them.
#ifndef SOURCE_H
#define SOURCE_H

#include "emulator/rewrite/lexer.h"
#include "emulator/rewrite/text_buffer.h"
#include "error/error.h"

#include <stdbool.h>

// No token: every function here takes it as an index and answers "no" or NO_TOKEN.
#define NO_TOKEN SIZE_MAX

typedef struct {
  text_buffer before;  // goes in front of the token
  text_buffer instead; // takes the token's place, if `replaced`
  bool replaced;
  bool drop_blanks_after; // the spaces and tabs that follow the token go as well
} token_edit;

// A line `# 12 "file.h" 1 3` of preprocessed text: what follows it comes from there.
typedef struct {
  size_t directive; // index of its #
  size_t line;      // number of the next line, in the file
  size_t path;      // index of the token that names the file, with quotes
  bool enters;      // a file that is included here
  bool leaves;      // one, and returns to the file that includes it
  bool system;      // a header of the system or of the emulator, without kernels
  bool library;     // one of these, or of Thrust or CUB, which have kernels
} line_marker;

typedef struct {
  const char *path;
  const char *text;
  size_t length;
  token_list tokens;
  token_edit *edits; // one for each token
  // Only text that the preprocessor has written has these. In it a launch may call a kernel of any header.
  bool preprocessed;
  bool has_ptx; // which now calls the functions of detail/ptx.h
  bool module;  // whose kernels a program finds by name, when it has loaded it (see kernel_twin.h)
  line_marker *markers;
  size_t marker_count, marker_capacity;
} source;

source source_open(const char *path, const char *text, size_t length);
// The same for text that `g++ -E` has written.
source source_open_preprocessed(const char *path, const char *text, size_t length);
void source_close(source *file);

// Is the token spelled so?
bool token_is(const source *file, size_t index, const char *spelling);

// Is it an identifier and not a keyword that an expression can follow, such as `return`?
bool token_is_name(const source *file, size_t index);

// The neighbour in the same preprocessor line; for a token outside of them, the neighbour outside
// of them. NO_TOKEN where the line or the file ends.
size_t token_next(const source *file, size_t index);
size_t token_previous(const source *file, size_t index);

// Do the two tokens touch, without a blank or comment between them?
bool token_touches(const source *file, size_t left, size_t right);

bool token_opens_group(const source *file, size_t index);  // ( [ {
bool token_closes_group(const source *file, size_t index); // ) ] }

// From an opening bracket to its closing one and back. NO_TOKEN when it has none.
size_t token_group_end(const source *file, size_t open);
size_t token_group_start(const source *file, size_t close);

// The > that closes the < at `open`; NO_TOKEN when there is none in this statement.
size_t token_angle_end(const source *file, size_t open);

// First token of the text that a #define puts in place of its macro, which may be one past its
// last token; `directive` is the index of its #.
size_t source_macro_body(const source *file, size_t directive);
bool token_is_macro_parameter(const source *file, size_t index);

void token_append(const source *file, size_t index, text_buffer *out);

// Appends the tokens first..last, each run of white space and comments made one space.
void token_append_range(const source *file, size_t first, size_t last, text_buffer *out);

void edit_insert_before(source *file, size_t index, const char *text);
void edit_replace(source *file, size_t index, const char *text);
void edit_remove(source *file, size_t index); // and the blanks behind it

// Appends the text with its edits made; gaps between tokens are copied byte for byte.
void source_apply_edits(const source *file, text_buffer *out);

// The last marker before the token; NULL when there is none, as in text that is not preprocessed.
const line_marker *source_marker(const source *file, size_t index);

// The token's line in the file that the marker names; without one, its line in the text.
size_t source_line(const source *file, const line_marker *marker, size_t index);

// Does the token come from a header of the system or of the emulator?
bool source_is_system(const source *file, size_t index);

// The same, or from a header of Thrust or CUB?
bool source_is_library(const source *file, size_t index);

// Writes "path:line: sentence", with the token's line, and returns false.
__attribute__((format(printf, 4, 5))) bool
source_fail_at(const source *file, size_t index, error_text *error, const char *format, ...);

#endif
