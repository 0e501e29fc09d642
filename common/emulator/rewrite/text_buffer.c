#define _GNU_SOURCE // reallocarray
#include "emulator/rewrite/text_buffer.h"

#include "file/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *memory) {
  if (memory != NULL) return memory;
  fprintf(stderr, "error: out of memory: free some and run the rewriter again\n");
  exit(EXIT_BAD_INPUT);
}

void *array_allocate(size_t count, size_t item_size) {
  return checked(calloc(count > 0 ? count : 1, item_size));
}

void *array_grow(void *items, size_t count, size_t *capacity, size_t item_size) {
  if (count < *capacity) return items;
  *capacity = *capacity == 0 ? 16 : *capacity * 2;
  return checked(reallocarray(items, *capacity, item_size));
}

void text_buffer_append(text_buffer *buffer, const char *bytes, size_t length) {
  if (length == 0) return;
  if (length > buffer->capacity - buffer->length) {
    buffer->capacity = buffer->length + length + buffer->capacity;
    buffer->data = checked(realloc(buffer->data, buffer->capacity));
  }
  memcpy(buffer->data + buffer->length, bytes, length);
  buffer->length += length;
}

void text_buffer_append_string(text_buffer *buffer, const char *string) {
  text_buffer_append(buffer, string, strlen(string));
}

void text_buffer_append_escaped(text_buffer *buffer, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (bytes[i] == '\n') {
      text_buffer_append(buffer, "\\n", 2);
      continue;
    }
    if (bytes[i] == '"' || bytes[i] == '\\') text_buffer_append(buffer, "\\", 1);
    text_buffer_append(buffer, &bytes[i], 1);
  }
}

bool text_buffer_read(text_buffer *buffer, const char *path, error_text *error) {
  FILE *file = file_open(path, error);
  if (file == NULL) return false;
  char chunk[1 << 16];
  size_t length;
  while ((length = fread(chunk, 1, sizeof chunk, file)) > 0)
    text_buffer_append(buffer, chunk, length);
  int cause = ferror(file) ? errno : 0;
  fclose(file);
  return cause == 0 || fail(error, "cannot read %s: %s", path, strerror(cause));
}

void text_buffer_free(text_buffer *buffer) {
  free(buffer->data);
  *buffer = (text_buffer){0};
}
