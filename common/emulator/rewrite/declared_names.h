// The functions and variables that a text declares outside of functions and classes, and where they belong to: to the host,
// to the device, or both. All that is uncertain is marked as such, since nothing but tokens is read.
#ifndef DECLARED_NAMES_H
#define DECLARED_NAMES_H

#include "emulator/rewrite/source.h"

// Where functions of a name run, one bit for each kind, or that it is a variable of the host, or of a thread of a kernel. A
// name with several kinds, or with UNKNOWN, is not checked.
enum { HOST = 1, DEVICE = 2, KERNEL = 4, VARIABLE = 8, THREAD = 16, UNKNOWN = 32 };

typedef struct {
  const char *text; // not terminated
  size_t length;
  unsigned kinds;
} declared_name;

typedef struct {
  size_t statement, body, end; // first token of its declaration, { and }
  unsigned kind;
} defined_function;

typedef struct {
  declared_name *names; // sorted, each once, after the collection
  size_t count, capacity;
  defined_function *functions;
  size_t function_count, function_capacity;
} declared_names;

// Reads the declarations. Returns false if the brackets of the text do not match; then nothing is certain.
bool declared_names_collect(const source *file, declared_names *found);
void declared_names_free(declared_names *found);

// The kinds of the name at the token `name`; 0 where the text does not declare it.
unsigned declared_names_kind(const source *file, const declared_names *found, size_t name);

#endif
