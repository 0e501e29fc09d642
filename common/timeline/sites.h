// The places in the source from which stamps were called.
#ifndef TIMELINE_SITES_H
#define TIMELINE_SITES_H

#include "error/error.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct {
  char name[64];   // without its folder
  unsigned lines;  // in the arrays, from line 1 on
  char **text;     // [lines]: without blanks at both ends
  char **function; // [lines]: the name of the function that the line stands in, "" outside
} timeline_source;

enum { TIMELINE_SOURCES_MOST = 32 };
typedef struct {
  size_t count;
  timeline_source files[TIMELINE_SOURCES_MOST];
} timeline_sources;

// Reads the source of a step, and the headers of kernels in `headers`, such as "common/kernel". A function begins with
// a line in the first column that holds its name and an opening bracket, as clang-format lays it out. Returns false
// with a sentence when a file cannot be read; the sources must be freed in any case.
bool timeline_sources_read(const char *step, const char *headers, timeline_sources *sources,
                           error_text *error);
void timeline_sources_free(timeline_sources *sources);

typedef struct {
  const char *file, *text, *function; // "?", "" and "" when no file has that name
  unsigned line;
} timeline_where;

// Finds the place of a timeline_site_number.
timeline_where timeline_sources_find(const timeline_sources *sources, unsigned site);

#endif
