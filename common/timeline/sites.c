#define _GNU_SOURCE
#include "timeline/sites.h"

#include "file/file.h"
#include "timeline/timeline.h"
#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

// Returns the name before the line's first opening bracket, or NULL where there is none.
static char *function_name(const char *line) {
  const char *end = strchr(line, '(');
  if (!end) return NULL;
  const char *begin = end;
  while (begin > line && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_')) begin--;
  return begin < end ? strndup(begin, (size_t)(end - begin)) : NULL;
}

// A line in the first column names a function if it is neither a comment, a directive nor an attribute alone.
static bool begins_function(const char *line) {
  return (isalpha((unsigned char)line[0]) || line[0] == '_') && strncmp(line, "template", 8) != 0 &&
         strncmp(line, "__launch_bounds__", 17) != 0 && strncmp(line, "static_assert", 13) != 0;
}

static bool add_line(timeline_source *source, char *line, char **function, error_text *error) {
  if (begins_function(line)) {
    char *name = function_name(line);
    if (name) {
      free(*function);
      *function = name;
    }
  }
  char *begin = line + strspn(line, " \t");
  size_t length = strlen(begin);
  while (length > 0 && isspace((unsigned char)begin[length - 1])) begin[--length] = '\0';
  if (source->lines % 256 == 0) {
    const size_t room = (source->lines + 256) * sizeof(char *);
    char **text = realloc(source->text, room);
    if (text) source->text = text;
    char **names = realloc(source->function, room);
    if (names) source->function = names;
    if (!text || !names) return fail(error, "not enough memory for a source");
  }
  source->text[source->lines] = strdup(begin);
  source->function[source->lines] = strdup(*function ? *function : "");
  source->lines++;
  return (source->text[source->lines - 1] && source->function[source->lines - 1]) ||
         fail(error, "not enough memory for a source");
}

static bool read_source(const char *path, timeline_sources *sources, error_text *error) {
  if (sources->count == TIMELINE_SOURCES_MOST)
    return fail(error, "there are more than %d headers of kernels", TIMELINE_SOURCES_MOST);
  FILE *file = file_open(path, error);
  if (!file) return false;
  timeline_source *source = &sources->files[sources->count++];
  const char *slash = strrchr(path, '/');
  snprintf(source->name, sizeof source->name, "%s", slash ? slash + 1 : path);
  char *line = NULL, *function = NULL;
  size_t room = 0;
  bool good = true;
  while (good && getline(&line, &room, file) >= 0) good = add_line(source, line, &function, error);
  free(line);
  free(function);
  fclose(file);
  return good;
}

bool timeline_sources_read(const char *step, const char *headers, timeline_sources *sources,
                           error_text *error) {
  *sources = (timeline_sources){.count = 0};
  if (!read_source(step, sources, error)) return false;
  char pattern[1024];
  snprintf(pattern, sizeof pattern, "%s/*.cuh", headers);
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0)
    return fail(error, "there are no headers of kernels in %s: run this in the lab's folder",
                headers);
  bool good = true;
  for (size_t i = 0; i < found.gl_pathc && good; i++)
    good = read_source(found.gl_pathv[i], sources, error);
  globfree(&found);
  return good;
}

void timeline_sources_free(timeline_sources *sources) {
  for (size_t i = 0; i < sources->count; i++) {
    timeline_source *source = &sources->files[i];
    for (unsigned line = 0; line < source->lines; line++) {
      free(source->text[line]);
      free(source->function[line]);
    }
    free(source->text);
    free(source->function);
    *source = (timeline_source){0};
  }
  sources->count = 0;
}

timeline_where timeline_sources_find(const timeline_sources *sources, unsigned site) {
  const unsigned line = site & 8191;
  for (size_t i = 0; i < sources->count; i++) {
    const timeline_source *source = &sources->files[i];
    if (timeline_site_number(source->name, (int)line) != site) continue;
    const bool known = line >= 1 && line <= source->lines;
    return (timeline_where){.file = source->name,
                            .line = line,
                            .text = known ? source->text[line - 1] : "",
                            .function = known ? source->function[line - 1] : ""};
  }
  return (timeline_where){.file = "?", .line = line, .text = "", .function = ""};
}
