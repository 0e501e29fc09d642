// rewrite IN.cu OUT.cpp [NAME]: see rewrite.h. OUT.cpp appears whole or not at all. NAME is what the compiler
// calls IN.cu, where that is reached through a link. rewrite --preprocessed IN.ii OUT.cpp takes what `g++ -E` writes.
#include "emulator/rewrite/rewrite.h"
#include "file/file.h"

#include <stdlib.h>
#include <string.h>

int main(int argument_count, char **arguments) {
  error_text error;
  const bool preprocessed = argument_count > 1 && strcmp(arguments[1], "--preprocessed") == 0;
  if (preprocessed) {
    arguments++;
    argument_count--;
  }
  if (argument_count != 3 && argument_count != 4) {
    fprintf(stderr,
            "error: got %d arguments, need 2 or 3: rewrite [--preprocessed] IN.cu OUT.cpp [NAME]\n",
            argument_count - 1);
    return EXIT_BAD_INPUT;
  }
  const char *name = argument_count == 4 ? arguments[3] : arguments[1];
  text_buffer in = {0}, out = {0};
  bool done = text_buffer_read(&in, arguments[1], &error) &&
              (preprocessed ? rewrite_preprocessed : rewrite_source)(name, in.data, in.length, &out,
                                                                     &error) &&
              file_write(arguments[2], out.data, out.length, &error);
  text_buffer_free(&in);
  text_buffer_free(&out);
  if (!done) fprintf(stderr, "error: %s\n", error.text);
  return done ? EXIT_OK : EXIT_BAD_INPUT;
}
