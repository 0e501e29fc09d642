// Finds the source line of an instruction, for reports.
#ifndef CODE_LINE_H
#define CODE_LINE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  char function[96];  // without parameters; empty when it is not known
  char file[256];     // empty when it is not known
  int line;           // 0 when it is not known
  char operation[64]; // of a library call: "wmma::load_matrix_sync()"; else empty
  char caller
      [256]; // "called from FILE:LINE" where the function was inlined into another; else empty
  bool caller_in_header;
  bool in_conversion; // whether the instruction seems to be in a conversion of halves
  char origin
      [256]; // the same of the first line outside of headers, where that caller is in a header
} code_line;

// Looks up the instructions that contain these addresses (NULL for none). The lines come
// from addr2line, which reads the debug information; if the code belongs to a stand-in
// header, the line of its caller is given. Fields that are not known stay empty.
void code_lines_find(const void *const *codes, size_t count, code_line *lines);

// Looks up one instruction. The compiler gives some instructions no line; then it is the line of the instruction
// before them in the same function.
void code_line_find(const void *code, code_line *line);

// Whether the line, and all lines that it was inlined into, belong to Thrust or CUB.
bool code_line_of_library(const code_line *line);

// Whether the line belongs to the program, and not to the stand-in headers, Thrust, CUB or the emulator.
bool code_line_of_program(const code_line *line);

// The file's path relative to the working folder, if the file lies in it. Points into `path`.
const char *code_line_shorten(char *path);

#endif
