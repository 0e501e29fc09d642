#define _GNU_SOURCE
#include "shared_variable.h"

#include "symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "attention_kernel(float*)::tile" -> "tile". The C++ library, which every program with kernels has,
// turns mangled names back.
static void plain_name(const char *mangled, char *name, size_t name_bytes) {
  typedef char *demangler(const char *, char *, size_t *, int *);
  void *address = dlsym(RTLD_DEFAULT, "__cxa_demangle");
  demangler *demangle;
  memcpy(&demangle, &address, sizeof demangle); // ISO C has no cast from data to function pointers
  int status;
  char *demangled = demangle != NULL ? demangle(mangled, NULL, NULL, &status) : NULL;
  const char *last = demangled != NULL ? demangled : mangled;
  for (const char *next; (next = strstr(last, "::")) != NULL;) last = next + 2;
  snprintf(name, name_bytes, "%s", last);
  free(demangled);
}

bool shared_variable_find(const void *kernel, size_t offset, shared_variable *found) {
  symbol_table table;
  if (!symbols_open(&table, kernel)) return false;
  bool done = false;
  for (size_t i = 0; i < table.count && !done; i++) {
    const ElfW(Sym) *symbol = &table.symbols[i];
    done = ELF64_ST_TYPE(symbol->st_info) == STT_TLS && symbol->st_shndx != SHN_UNDEF &&
           offset - symbol->st_value < symbol->st_size;
    if (done) {
      found->offset = symbol->st_value;
      plain_name(symbols_name(&table, symbol), found->name, sizeof found->name);
    }
  }
  symbols_close(&table);
  return done;
}
