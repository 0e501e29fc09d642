// Arrays that grow, for the rewriter. When memory runs out, these functions
// end the program with a sentence, so their callers need not check for that.
#ifndef TEXT_BUFFER_H
#define TEXT_BUFFER_H

#include "error/error.h"

#include <stddef.h>

// Bytes, not a C string: data may hold zero bytes and is not terminated. {0} is an empty buffer.
typedef struct {
  char *data;
  size_t length;
  size_t capacity;
} text_buffer;

void text_buffer_append(text_buffer *buffer, const char *bytes, size_t length);
void text_buffer_append_string(text_buffer *buffer, const char *string);

// Appends the bytes as the inside of a C string literal: quotes, backslashes and line breaks are
// escaped.
void text_buffer_append_escaped(text_buffer *buffer, const char *bytes, size_t length);

// Appends a whole file. False with a sentence when it cannot be read.
bool text_buffer_read(text_buffer *buffer, const char *path, error_text *error);

void text_buffer_free(text_buffer *buffer);

// Makes room for one more item behind `count` items of `item_size` bytes; returns the array, which
// may have moved. Capacity counts items.
void *array_grow(void *items, size_t count, size_t *capacity, size_t item_size);

void *array_allocate(size_t count, size_t item_size);

#endif
