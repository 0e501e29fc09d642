// rewrite IN.cu OUT.cpp [NAME]: see rewrite.h. OUT.cpp appears whole or not at all. NAME is what the compiler
// calls IN.cu, where that is reached through a link.
#include "emulator/rewrite/rewrite.h"
#include "file/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_file(const char *path, text_buffer *text, error_text *error) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return fail(error, "cannot open %s: %s", path, strerror(errno));
  char chunk[1 << 16];
  size_t length;
  while ((length = fread(chunk, 1, sizeof chunk, file)) > 0)
    text_buffer_append(text, chunk, length);
  int cause = ferror(file) ? errno : 0; // a directory opens, and fails here
  fclose(file);
  return cause == 0 || fail(error, "cannot read %s: %s", path, strerror(cause));
}

int main(int argument_count, char **arguments) {
  error_text error;
  if (argument_count != 3 && argument_count != 4) {
    fprintf(stderr, "error: got %d arguments, need 2 or 3: rewrite IN.cu OUT.cpp [NAME]\n",
            argument_count - 1);
    return EXIT_BAD_INPUT;
  }
  const char *name = argument_count == 4 ? arguments[3] : arguments[1];
  text_buffer in = {0}, out = {0};
  bool done = read_file(arguments[1], &in, &error) &&
              rewrite_source(name, in.data, in.length, &out, &error) &&
              file_write(arguments[2], out.data, out.length, &error);
  text_buffer_free(&in);
  text_buffer_free(&out);
  if (!done) fprintf(stderr, "error: %s\n", error.text);
  return done ? EXIT_OK : EXIT_BAD_INPUT;
}
