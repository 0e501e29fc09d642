// rewrite IN.cu OUT.cpp: see rewrite.h. OUT.cpp appears whole or not at all.
#include "emulator/rewrite/rewrite.h"
#include "file/file.h"

#include <stdlib.h>
#include <string.h>

int main(int argument_count, char **arguments) {
  error_text error;
  if (argument_count != 3) {
    fprintf(stderr, "error: got %d arguments, need 2: rewrite IN.cu OUT.cpp\n", argument_count - 1);
    return EXIT_BAD_INPUT;
  }
  text_buffer in = {0}, out = {0};
  bool done = text_buffer_read(&in, arguments[1], &error) &&
              rewrite_source(arguments[1], in.data, in.length, &out, &error) &&
              file_write(arguments[2], out.data, out.length, &error);
  text_buffer_free(&in);
  text_buffer_free(&out);
  if (!done) fprintf(stderr, "error: %s\n", error.text);
  return done ? EXIT_OK : EXIT_BAD_INPUT;
}
