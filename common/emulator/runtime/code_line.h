// Which line of the source an instruction comes from, for reports.
#ifndef CODE_LINE_H
#define CODE_LINE_H

#include <stddef.h>

typedef struct {
  char function[96];  // without parameters; empty when it is not known
  char file[256];     // empty when it is not known
  int line;           // 0 when it is not known
  char operation[64]; // of a library call: "wmma::load_matrix_sync()"; else empty
  char caller
      [256]; // "called from FILE:LINE" where the function was inlined into another; else empty
} code_line;

// Looks up the instructions that hold these addresses (NULL for none). Lines come from addr2line, which
// reads the debug information; where the code is one of the stand-in headers', the line is that of its
// caller. What is not known stays empty.
void code_lines_find(const void *const *codes, size_t count, code_line *lines);

// The path from the working folder, where the file is in it. Points into `path`.
const char *code_line_shorten(char *path);

#endif
