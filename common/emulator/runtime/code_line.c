#define _GNU_SOURCE
#include "code_line.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *code_line_shorten(char *path) {
  char folder[4096];
  if (getcwd(folder, sizeof folder) == NULL) return path;
  const size_t length = strlen(folder);
  if (strncmp(path, folder, length) != 0 || path[length] != '/') return path;
  path += length + 1;
  while (strncmp(path, "./", 2) == 0) path += 2;
  return path;
}

// "void ns::load_tile<64, half>(half const*, int)" -> "ns::load_tile"; a lambda is "operator()"
static void plain_function(const char *demangled, char *name, size_t name_bytes) {
  static const char lambda[] = "operator()";
  const bool is_lambda = strncmp(demangled, lambda, sizeof lambda - 1) == 0;
  const size_t length = is_lambda ? sizeof lambda - 1 : strcspn(demangled, "<(\n");
  size_t start = length;
  while (start > 0 && demangled[start - 1] != ' ') start--;
  snprintf(name, name_bytes, "%.*s", (int)(length - start), demangled + start);
}

// Whose file it is. A report names the line of the program, and where there is none that of a library.
typedef enum { OWNER_STAND_IN, OWNER_LIBRARY, OWNER_PROGRAM } owner;

// The stand-in headers convert halves by functions of these files.
static bool is_conversion(const char *file) { return strstr(file, "common/numeric/") != NULL; }

static owner owner_of(const char *file) {
  if (strstr(file, "emulator/include/") != NULL || is_conversion(file)) return OWNER_STAND_IN;
  if (strstr(file, "include/thrust/") != NULL || strstr(file, "include/cub/") != NULL)
    return OWNER_LIBRARY;
  return strncmp(file, "/usr/", 5) == 0 || strncmp(file, "??", 2) == 0 ? OWNER_STAND_IN
                                                                       : OWNER_PROGRAM;
}

bool code_line_of_library(const code_line *line) { return owner_of(line->file) == OWNER_LIBRARY; }

bool code_line_of_program(const code_line *line) {
  static const char *const parts[] = {"runtime/", "sanitize/", "count/", "observed/"};
  const char *inside = strstr(line->file, "common/emulator/");
  for (size_t i = 0; inside != NULL && i < sizeof parts / sizeof parts[0]; i++)
    if (strncmp(inside + strlen("common/emulator/"), parts[i], strlen(parts[i])) == 0) return false;
  return owner_of(line->file) == OWNER_PROGRAM;
}

static bool is_header(const char *file) {
  const char *dot = strrchr(file, '.');
  return dot != NULL && (strcmp(dot, ".cuh") == 0 || strcmp(dot, ".h") == 0);
}

// Writes who called: a header's line alone would not tell which of the reader's lines led there.
static void take_caller(char *where, int line, code_line *text) {
  const bool first = text->caller[0] == '\0';
  if (!first && (!text->caller_in_header || is_header(where) || text->origin[0] != '\0')) return;
  if (first) text->caller_in_header = is_header(where);
  snprintf(first ? text->caller : text->origin, sizeof text->caller, "called from %.200s:%d",
           code_line_shorten(where), line);
}

// Reads one frame of addr2line's answer: the function's line and "FILE:LINE (discriminator 1)".
static void take_frame(const char *function, char *where, code_line *text) {
  char *colon = strrchr(where, ':');
  if (colon == NULL) return;
  *colon = '\0';
  const int line = atoi(colon + 1);
  const owner owner = owner_of(where);
  if (text->line == 0) text->in_conversion = is_conversion(where);
  // Conversions take values. g++ gives no line to the load of a value that is passed, as in to_float(q[d]) * to_float(k[d]),
  // so the second one seems to be in the first conversion; and headers have functions that only pass the value on.
  const bool passes_on = text->in_conversion && is_header(text->file) && !is_header(where);
  if (text->line == 0 || owner > owner_of(text->file) || (passes_on && owner == OWNER_PROGRAM)) {
    text->line = line;
    snprintf(text->file, sizeof text->file, "%s", code_line_shorten(where));
    plain_function(function, text->function, sizeof text->function);
  } else if (owner == OWNER_PROGRAM) {
    take_caller(where, line, text);
  }
}

// Reads addr2line's answer for the places in `wanted`, in their order: for each the address, and then
// two lines for every frame, the innermost first.
static void read_answer(FILE *answer, code_line *const *wanted, size_t count) {
  char *line = NULL, *function = NULL;
  size_t line_bytes = 0, function_bytes = 0, next = 0;
  while (getline(&line, &line_bytes, answer) > 0) {
    if (strncmp(line, "0x", 2) == 0) {
      next++;
      continue;
    }
    char *name = function;
    function = line;
    line = name;
    const size_t bytes = function_bytes;
    function_bytes = line_bytes;
    line_bytes = bytes;
    if (getline(&line, &line_bytes, answer) <= 0) break;
    if (next > 0 && next <= count) take_frame(function, line, wanted[next - 1]);
  }
  free(line);
  free(function);
}

typedef struct {
  char path[4096];
  uintptr_t start; // where address 0 of its file is
} module;

// The program or shared object that holds the code. False when there is none.
static bool module_of(const void *code, module *found) {
  Dl_info info;
  struct link_map *map;
  if (code == NULL || dladdr1(code, &info, (void **)&map, RTLD_DL_LINKMAP) == 0) return false;
  found->start = map->l_addr;
  // A module of cuModuleLoad is an open file of this process, and has no other name.
  static const char self[] = "/proc/self/";
  if (strncmp(map->l_name, self, sizeof self - 1) == 0) {
    snprintf(found->path, sizeof found->path, "/proc/%ld/%s", (long)getpid(),
             map->l_name + sizeof self - 1);
    return true;
  }
  if (map->l_name[0] != '\0') return realpath(map->l_name, found->path) != NULL;
  // The program has no name in the list. Through this link it can be read even if a new build has replaced it.
  snprintf(found->path, sizeof found->path, "/proc/%ld/exe", (long)getpid());
  return true;
}

// Appends the text as one word of a shell's command.
static void write_quoted(FILE *command, const char *text) {
  fputc('\'', command);
  for (; *text != '\0'; text++) fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, command);
  fputc('\'', command);
}

// Asks once for all addresses that lie in one module.
static void find_in_module(const char *path, const void *const *codes, size_t count,
                           code_line *lines) {
  code_line **wanted = calloc(count, sizeof *wanted);
  char *command = NULL;
  size_t command_bytes = 0, asked = 0;
  FILE *text = open_memstream(&command, &command_bytes);
  if (wanted == NULL || text == NULL) abort();
  fputs("addr2line -a -f -C -i -e ", text);
  write_quoted(text, path);
  for (size_t i = 0; i < count; i++) {
    module module;
    if (!module_of(codes[i], &module) || strcmp(module.path, path) != 0) continue;
    fprintf(text, " 0x%zx", (uintptr_t)codes[i] - module.start);
    wanted[asked++] = &lines[i];
  }
  fputs(" 2>/dev/null", text);
  fclose(text);
  FILE *answer = popen(command, "r");
  if (answer != NULL) {
    read_answer(answer, wanted, asked);
    pclose(answer);
  }
  free(command);
  free(wanted);
}

void code_line_find(const void *code, code_line *line) {
  enum { NEAR_BYTES = 48 };
  const void *before[NEAR_BYTES + 1];
  code_line lines[NEAR_BYTES + 1];
  code_lines_find(&code, 1, line);
  if (line->line > 0 || code == NULL) return;
  for (int i = 0; i <= NEAR_BYTES; i++) before[i] = (const char *)code - i;
  code_lines_find(before, NEAR_BYTES + 1, lines);
  for (int i = 0; i <= NEAR_BYTES && line->line == 0; i++) {
    if (lines[i].line > 0 && strcmp(lines[i].function, lines[0].function) == 0) *line = lines[i];
  }
}

void code_lines_find(const void *const *codes, size_t count, code_line *lines) {
  memset(lines, 0, count * sizeof *lines);
  for (size_t i = 0; i < count; i++) {
    module module;
    if (lines[i].line == 0 && module_of(codes[i], &module)) {
      find_in_module(module.path, codes + i, count - i, lines + i);
    }
  }
}
