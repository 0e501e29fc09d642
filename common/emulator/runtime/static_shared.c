// A `__shared__` variable of a function is a thread-local symbol whose name contains the function's:
// kernel(float *) is _Z6kernelPf and its variable tile _ZZ6kernelPfE4tile (Itanium C++ ABI, section
// 5.1.6, <local-name>).
#define _GNU_SOURCE
#include "static_shared.h"

#include "symbols.h"

#include <string.h>

enum { VARIABLE_GRANULE = 16 };

// `address` is relative to where the module is loaded. NULL when no function begins there.
static const char *function_at(const symbol_table *table, uintptr_t address) {
  for (size_t i = 0; i < table->count; i++) {
    const ElfW(Sym) *symbol = &table->symbols[i];
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
        symbol->st_value == address) {
      return symbols_name(table, symbol);
    }
  }
  return NULL;
}

// Whether the mangled variable is local to the mangled function.
static bool is_local_to(const char *variable, const char *function) {
  if (strncmp(function, "_Z", 2) != 0 || strncmp(variable, "_ZZ", 3) != 0) return false;
  const size_t length = strlen(function + 2);
  return strncmp(variable + 3, function + 2, length) == 0 && variable[3 + length] == 'E';
}

static size_t sum_of_locals(const symbol_table *table, const char *function) {
  size_t bytes = 0;
  for (size_t i = 0; i < table->count; i++) {
    const ElfW(Sym) *symbol = &table->symbols[i];
    if (ELF64_ST_TYPE(symbol->st_info) == STT_TLS &&
        is_local_to(symbols_name(table, symbol), function)) {
      bytes += (symbol->st_size + VARIABLE_GRANULE - 1) / VARIABLE_GRANULE * VARIABLE_GRANULE;
    }
  }
  return bytes;
}

size_t static_shared_bytes(const void *kernel) {
  symbol_table table;
  if (!symbols_open(&table, kernel)) return 0;
  const char *function = function_at(&table, (uintptr_t)kernel - table.load_address);
  const size_t bytes = function != NULL ? sum_of_locals(&table, function) : 0;
  symbols_close(&table);
  return bytes;
}
