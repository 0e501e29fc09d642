// rewrite IN.cu OUT.cpp [NAME]: see rewrite.h. OUT.cpp appears whole or not at all. NAME is what the compiler
// calls IN.cu, where that is reached through a link. rewrite --preprocessed IN.ii OUT.cpp [NAME [HOST.ii]] takes what
// `g++ -E` writes, and joins it with what it writes for the host, where that differs (see two_sides.h). rewrite --module
// does the same for a module that a program loads.
#include "emulator/rewrite/rewrite.h"
#include "emulator/rewrite/two_sides.h"
#include "file/file.h"

#include <stdlib.h>
#include <string.h>

static bool join_with_host(const char *name, const char *host_path, text_buffer *in,
                           error_text *error) {
  text_buffer host = {0}, joined = {0};
  if (!text_buffer_read(&host, host_path, error)) return false;
  two_sides_join(name, (preprocessed_text){in->data, in->length},
                 (preprocessed_text){host.data, host.length}, &joined);
  text_buffer_free(&host);
  text_buffer_free(in);
  *in = joined;
  return true;
}

int main(int argument_count, char **arguments) {
  error_text error;
  const bool module = argument_count > 1 && strcmp(arguments[1], "--module") == 0;
  const bool preprocessed =
      module || (argument_count > 1 && strcmp(arguments[1], "--preprocessed") == 0);
  if (preprocessed) {
    arguments++;
    argument_count--;
  }
  if (argument_count < 3 || argument_count > (preprocessed ? 5 : 4)) {
    fprintf(stderr,
            "error: got %d arguments, need 2 or 3: rewrite IN.cu OUT.cpp [NAME], or rewrite "
            "--preprocessed IN.ii OUT.cpp [NAME [HOST.ii]]\n",
            argument_count - 1);
    return EXIT_BAD_INPUT;
  }
  const char *name = argument_count > 3 ? arguments[3] : arguments[1];
  text_buffer in = {0}, out = {0};
  bool done = text_buffer_read(&in, arguments[1], &error) &&
              (argument_count < 5 || join_with_host(name, arguments[4], &in, &error)) &&
              (module         ? rewrite_module
               : preprocessed ? rewrite_preprocessed
                              : rewrite_source)(name, in.data, in.length, &out, &error) &&
              file_write(arguments[2], out.data, out.length, &error);
  text_buffer_free(&in);
  text_buffer_free(&out);
  if (!done) fprintf(stderr, "error: %s\n", error.text);
  return done ? EXIT_OK : EXIT_BAD_INPUT;
}
