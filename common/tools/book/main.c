// Writes the lab book: book MANIFEST OUT.html
// The manifest, which scripts/book.sh writes, has a line for each thing that the page holds, with tabs between the
// words; lines of one kind stand together:
//   fact      NAME VALUE             what the page says of itself, such as its commit
//   document  PATH                   a file of Markdown
//   text      PATH [FILE]            a file that the page shows or reads as it is: records, hints, goals; FILE is read in
//                                    its place
//   image     PATH                   an SVG that a document shows
//   step      NAME PARENT PATH FILE  a step; FILE is its source without the lines that mark exercises
//   size      NAME NAME LINES        how many lines of code change between two steps
//   stale     STEP COMMIT            the step's code has changed since that commit, of which the record holds data
//   moved     FILE COMMIT            the file has other lines than in that commit, of which the record counts them
//   bug       STEP NAME PATCH FILE   a planted bug; FILE is the step's source with it
//   variant   STEP NAME PATCH FILE   the same for a variant
//   substep   STEP NAME HEAD FILE    a substep, in their order; HEAD is the head of its patch, FILE the source behind it
//   style, script  FILE              of the page, in this order
//   library   NAME FILE LICENCE      a library that the page uses, and the file with its licence
// Exit status 2 when something cannot be read, or the page cannot be written.
#include "book/page.h"
#include "file/file.h"

#include <string.h>

static const char usage[] = "usage: book MANIFEST OUT.html\n"
                            "Writes the lab book, one page of HTML; `make book` calls it.\n";

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  error_text error;
  text_buffer manifest = {0}, page = {0};
  const bool good = text_buffer_read(&manifest, argv[1], &error) &&
                    page_write(&manifest, &page, &error) &&
                    file_write(argv[2], page.data, page.length, &error);
  if (!good) fprintf(stderr, "error: %s\n", error.text);
  text_buffer_free(&manifest);
  text_buffer_free(&page);
  return good ? EXIT_OK : EXIT_BAD_INPUT;
}
