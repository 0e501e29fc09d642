// A `__shared__` variable of a function is a thread-local symbol whose name contains the function's.
#define _GNU_SOURCE
#include "static_shared.h"

#include "symbols.h"

enum { VARIABLE_GRANULE = 16 };

static size_t sum_of_locals(const symbol_table *table, const char *function) {
  size_t bytes = 0;
  for (size_t i = 0; i < table->count; i++) {
    const ElfW(Sym) *symbol = &table->symbols[i];
    if (ELF64_ST_TYPE(symbol->st_info) == STT_TLS &&
        symbols_is_local_to(symbols_name(table, symbol), function)) {
      bytes += (symbol->st_size + VARIABLE_GRANULE - 1) / VARIABLE_GRANULE * VARIABLE_GRANULE;
    }
  }
  return bytes;
}

size_t static_shared_bytes(const void *kernel) {
  symbol_table table;
  if (!symbols_open(&table, kernel)) return 0;
  const ElfW(Sym) *function = symbols_function(&table, kernel);
  const size_t bytes = function != NULL ? sum_of_locals(&table, symbols_name(&table, function)) : 0;
  symbols_close(&table);
  return bytes;
}
