// The rewriter puts the blocks of a cluster in a variable inside the kernel (rewrite/cluster_dims.h), so each instance of
// a template has one of its own, and the symbol table says where it is.
#define _GNU_SOURCE
#include "kernel_cluster.h"

#include "symbols.h"

#include <stdint.h>
#include <string.h>

// Other files of the module may have a kernel of this name, if it is static. Symbols that only their file knows come
// behind the file's own symbol (System V ABI, chapter 4, "Symbol Table", STT_FILE).
static size_t file_of(const symbol_table *table, const ElfW(Sym) * symbol) {
  size_t i = (size_t)(symbol - table->symbols);
  if (ELF64_ST_BIND(symbol->st_info) != STB_LOCAL) return 0;
  while (i > 0 && ELF64_ST_TYPE(table->symbols[i].st_info) != STT_FILE) i--;
  return i;
}

static const ElfW(Sym) * find_variable(const symbol_table *table, const ElfW(Sym) * kernel) {
  static const char name[] = "E23emulator_cluster_blocks";
  const size_t end = sizeof name - 1;
  const char *function = symbols_name(table, kernel);
  const size_t file = file_of(table, kernel);
  for (size_t i = 0; i < table->count; i++) {
    const ElfW(Sym) *symbol = &table->symbols[i];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_shndx == SHN_UNDEF) continue;
    const char *variable = symbols_name(table, symbol);
    const size_t length = strlen(variable);
    if (length > end && strcmp(variable + length - end, name) == 0 &&
        symbols_is_local_to(variable, function) && (file == 0 || file_of(table, symbol) == file))
      return symbol;
  }
  return NULL;
}

dim3 kernel_cluster(const void *kernel) {
  dim3 blocks = {0, 0, 0};
  symbol_table table;
  if (!symbols_open(&table, kernel)) return blocks;
  const ElfW(Sym) *function = symbols_function(&table, kernel);
  const ElfW(Sym) *variable = function != NULL ? find_variable(&table, function) : NULL;
  if (variable != NULL && variable->st_size == sizeof blocks)
    memcpy(&blocks, (const void *)(table.load_address + variable->st_value), sizeof blocks);
  symbols_close(&table);
  return blocks;
}
