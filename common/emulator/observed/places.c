#define _GNU_SOURCE
#include "places.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  const void *pc; // of code; for a library call the address of its file's name
  emulator_site site;
  bool is_site;
} place;

enum { SLOTS = 1 << 16, PLACES_MAX = SLOTS / 2 };

static place places[PLACES_MAX]; // places[0]: those for which there was no room
static uint32_t place_count = 1;
static uint32_t slots[SLOTS]; // hash table of indices, 0 where empty

// The slot of the place, or the one to put it in. Open addressing.
static uint32_t *slot_of(const place *wanted, uint64_t hash) {
  for (uint64_t i = hash * 0x9E3779B97F4A7C15u >> 48;; i++) {
    uint32_t *slot = &slots[i % SLOTS];
    const place *found = &places[*slot];
    if (*slot == 0) return slot;
    if (found->pc == wanted->pc && found->is_site == wanted->is_site &&
        found->site.line == wanted->site.line && found->site.operation == wanted->site.operation) {
      return slot;
    }
  }
}

static uint32_t number_of(const place *wanted, uint64_t hash) {
  uint32_t *slot = slot_of(wanted, hash);
  if (*slot == 0 && place_count < PLACES_MAX) {
    places[place_count] = *wanted;
    *slot = place_count++;
  }
  return *slot;
}

uint32_t place_of_code(const void *pc) {
  const place wanted = {.pc = pc};
  return number_of(&wanted, (uintptr_t)pc);
}

uint32_t place_of_site(const emulator_site *site) {
  const place wanted = {.pc = site->file, .site = *site, .is_site = true};
  return number_of(&wanted, (uintptr_t)site->operation * 31 + (uint64_t)site->line);
}

// ---- Lines --------------------------------------------------------------------------------------

// The path from the working folder, where the file is in it.
static const char *shorten(char *path) {
  char folder[4096];
  if (getcwd(folder, sizeof folder) == NULL) return path;
  const size_t length = strlen(folder);
  if (strncmp(path, folder, length) != 0 || path[length] != '/') return path;
  path += length + 1;
  while (strncmp(path, "./", 2) == 0) path += 2;
  return path;
}

// "void ns::load_tile<64, half>(half const*, int)" -> "ns::load_tile"
static void plain_function(const char *demangled, char *name, size_t name_bytes) {
  const size_t length = strcspn(demangled, "<(\n");
  size_t start = length;
  while (start > 0 && demangled[start - 1] != ' ') start--;
  snprintf(name, name_bytes, "%.*s", (int)(length - start), demangled + start);
}

static bool is_stand_in(const char *file) {
  return strstr(file, "emulator/include/") != NULL || strncmp(file, "/usr/", 5) == 0 ||
         strncmp(file, "??", 2) == 0;
}

// One frame of addr2line's answer: the function's line and the line "FILE:LINE (discriminator 1)".
static void take_frame(const char *function, char *where, place_text *text) {
  char *colon = strrchr(where, ':');
  if (colon == NULL) return;
  *colon = '\0';
  const int line = atoi(colon + 1);
  if (text->line == 0 || is_stand_in(text->file)) {
    if (text->line != 0 && is_stand_in(where)) return;
    text->line = line;
    snprintf(text->file, sizeof text->file, "%s", shorten(where));
    plain_function(function, text->function, sizeof text->function);
  } else if (text->caller[0] == '\0' && !is_stand_in(where)) {
    snprintf(text->caller, sizeof text->caller, "called from %.200s:%d", shorten(where), line);
  }
}

// Reads addr2line's answer for the places in `wanted`, in their order: for each the address, and then
// two lines for every frame, the innermost first.
static void read_answer(FILE *answer, place_text *const *wanted, size_t count) {
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
static bool module_of(const place *it, module *found) {
  Dl_info info;
  struct link_map *map;
  if (it->is_site || it->pc == NULL || dladdr1(it->pc, &info, (void **)&map, RTLD_DL_LINKMAP) == 0)
    return false;
  found->start = map->l_addr;
  if (map->l_name[0] != '\0') return realpath(map->l_name, found->path) != NULL;
  return realpath("/proc/self/exe", found->path) != NULL; // the program has no name in the list
}

// Asks for all places of one module at once.
static void describe_module(const char *path, const uint32_t *numbers, size_t count,
                            place_text *texts) {
  place_text **wanted = calloc(count, sizeof *wanted);
  char *command = NULL;
  size_t command_bytes = 0, asked = 0;
  FILE *text = open_memstream(&command, &command_bytes);
  if (wanted == NULL || text == NULL) abort();
  fprintf(text, "addr2line -a -f -C -i -e '%s'", path);
  for (size_t i = 0; i < count; i++) {
    const place *it = &places[numbers[i]];
    module module;
    if (!module_of(it, &module) || strcmp(module.path, path) != 0) continue;
    fprintf(text, " 0x%zx", (uintptr_t)it->pc - 1 - module.start); // pc: of the next instruction
    wanted[asked++] = &texts[i];
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

static void describe_site(const emulator_site *site, place_text *text) {
  char path[sizeof text->file];
  snprintf(path, sizeof path, "%s", site->file);
  snprintf(text->file, sizeof text->file, "%s", shorten(path));
  snprintf(text->operation, sizeof text->operation, "%s", site->operation);
  text->line = site->line;
}

void places_describe(const uint32_t *numbers, size_t count, place_text *texts) {
  memset(texts, 0, count * sizeof *texts);
  for (size_t i = 0; i < count; i++) {
    const place *it = &places[numbers[i]];
    if (it->is_site) {
      describe_site(&it->site, &texts[i]);
      continue;
    }
    module module;
    if (texts[i].line == 0 && module_of(it, &module)) {
      describe_module(module.path, numbers + i, count - i, texts + i);
    }
  }
}
