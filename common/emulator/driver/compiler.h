// Compiles a module while the program runs, with scripts/nvcc-cpu of the lab that the emulator was built in.
#ifndef COMPILER_H
#define COMPILER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  char **items;
  size_t count;
} text_list;

// Appends a copy. False when memory has run out.
bool text_list_add(text_list *list, const char *text);
void text_list_free(text_list *list);

typedef struct {
  const char *source, *name; // the name is the one that messages say
  const text_list *headers, *header_names, *expressions;
  const char *const *options;
  size_t option_count;
} compiler_input;

typedef struct {
  char *text; // the module as text (see module_image.h); NULL when there is none
  size_t text_bytes;
  char *log; // the compiler's words; NULL when it has none
} compiled;

// Returns whether the source was compiled. The log says what is wrong with it, or with this machine.
bool compiler_run(const compiler_input *input, compiled *result);

void compiled_add_to_log(compiled *result, const char *sentence);
void compiled_free(compiled *result);

#endif
