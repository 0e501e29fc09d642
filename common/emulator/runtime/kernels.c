// Kernels are found in the symbol table of their module: `__global__` gives them a visibility of their own.
#include "kernels.h"
#include "environment.h"

#include "emulator.h"
#include "symbols.h"

#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct launched_kernel {
  struct launched_kernel *next;
  const void *kernel;
} launched_kernel;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static launched_kernel *launched; // each kernel once

typedef struct named_kernel {
  struct named_kernel *next;
  const void *kernel;
  char name[];
} named_kernel;
static named_kernel *named;

static bool is_launched(const void *kernel) {
  pthread_mutex_lock(&mutex);
  const launched_kernel *found = launched;
  while (found != NULL && found->kernel != kernel) found = found->next;
  pthread_mutex_unlock(&mutex);
  return found != NULL;
}

bool emulator_visit_kernels(const void *address,
                            void (*visit)(const char *name, bool launched, void *context),
                            void *context) {
  symbol_table table;
  if (!symbols_open(&table, address)) return false;
  for (size_t i = 0; i < table.count; i++) {
    const char *name = symbols_name(&table, &table.symbols[i]);
    if (!symbols_is_kernel(&table.symbols[i], name)) continue;
    const uintptr_t kernel = table.load_address + table.symbols[i].st_value;
    visit(name, is_launched((const void *)kernel), context);
  }
  symbols_close(&table);
  return true;
}

static void write_line(const char *name, bool is_launched, void *file) {
  fprintf(file, "%s %s\n", is_launched ? "launched" : "compiled", name);
}

// Writes to the file of EMU_KERNELS, if there is one.
static void write_module(const void *kernel) {
  const char *path = getenv("EMU_KERNELS");
  if (path == NULL || path[0] == '\0') return;
  FILE *file = fopen(path, "a");
  if (file != NULL && emulator_visit_kernels(kernel, write_line, file) && fclose(file) == 0) return;
  fprintf(stderr, "error: the kernels' names cannot be written to EMU_KERNELS, \"%s\"\n", path);
  environment_refuse();
}

void kernels_launched(const void *kernel) {
  if (is_launched(kernel)) return;
  launched_kernel *entry = malloc(sizeof *entry);
  if (entry == NULL) return; // then the kernel counts as one that was not launched
  pthread_mutex_lock(&mutex);
  *entry = (launched_kernel){launched, kernel};
  launched = entry;
  pthread_mutex_unlock(&mutex);
  write_module(kernel);
}

// ---- Names --------------------------------------------------------------------------------------

static const char NAMELESS[] = "a kernel"; // one whose symbol is not found

// Cuts "void scale<4>(float*)" to "scale<4>".
static void cut_to_name(char *words) {
  char *end = strrchr(words, ')');
  for (int depth = 0; end != NULL && end > words; end--) {
    depth += (*end == ')') - (*end == '(');
    if (depth == 0) {
      *end = '\0';
      break;
    }
  }
  static const char no_result[] = "void ";
  const size_t skipped = sizeof no_result - 1;
  if (strncmp(words, no_result, skipped) == 0)
    memmove(words, words + skipped, strlen(words + skipped) + 1);
}

// Puts CUDA's names in the place of the emulator's own, which are longer.
static void use_names_of_cuda(char *words) {
  static const struct {
    const char *own, *cuda;
  } names[] = {
      {"emulator::number16<emulator::fp16_format>", "__half"},
      {"emulator::number16<emulator::bf16_format>", "__nv_bfloat16"},
      {"emulator::number16_pair<emulator::fp16_format>", "__half2"},
      {"emulator::number16_pair<emulator::bf16_format>", "__nv_bfloat162"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const size_t own = strlen(names[i].own), cuda = strlen(names[i].cuda);
    for (char *at = words; (at = strstr(at, names[i].own)) != NULL; at += cuda) {
      const char *rest = at + own;
      if (strncmp(rest, " >", 2) == 0) rest++; // which stands between two brackets alone
      memcpy(at, names[i].cuda, cuda);
      memmove(at + cuda, rest, strlen(rest) + 1);
    }
  }
}

static named_kernel *find_name(const void *kernel, char *(*demangle)(const char *)) {
  symbol_table table;
  char *words = NULL;
  if (symbols_open(&table, kernel)) {
    for (size_t i = 0; i < table.count && words == NULL; i++) {
      const ElfW(Sym) *symbol = &table.symbols[i];
      if (table.load_address + symbol->st_value == (uintptr_t)kernel &&
          ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
        words = demangle(symbols_name(&table, symbol));
    }
    symbols_close(&table);
  }
  if (words != NULL) {
    cut_to_name(words);
    use_names_of_cuda(words);
  }
  const char *name = words != NULL ? words : NAMELESS;
  named_kernel *made = malloc(sizeof *made + strlen(name) + 1);
  if (made != NULL) {
    made->kernel = kernel;
    strcpy(made->name, name);
  }
  free(words);
  return made;
}

const char *emulator_kernel_name(const void *kernel, char *(*demangle)(const char *)) {
  pthread_mutex_lock(&mutex);
  named_kernel *found = named;
  while (found != NULL && found->kernel != kernel) found = found->next;
  if (found == NULL && (found = find_name(kernel, demangle)) != NULL) {
    found->next = named;
    named = found;
  }
  pthread_mutex_unlock(&mutex);
  return found != NULL ? found->name : NAMELESS;
}

// Returns where "scale<4>" begins in "ns::scale<4>", and sets the length of "scale".
static const char *own_part(const char *name, size_t *length) {
  const size_t end = strcspn(name, "<");
  size_t start = end;
  while (start > 0 && name[start - 1] != ':') start--;
  *length = end - start;
  return name + start;
}

const char *emulator_launch_name(const void *kernel, const char *written,
                                 char *(*demangle)(const char *)) {
  const char *name = emulator_kernel_name(kernel, demangle);
  size_t length, written_length;
  const char *own = own_part(name, &length), *own_written = own_part(written, &written_length);
  const bool same = length == written_length && memcmp(own, own_written, length) == 0;
  return same || strcmp(name, NAMELESS) == 0 ? written : name;
}
