// The symbol table of a loaded module, read from its file (System V ABI, chapter 4, "Sections" and
// "Symbol Table").
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uintptr_t load_address; // of the module: symbol values are relative to it
  const ElfW(Sym) * symbols;
  size_t count;
  const char *names;
  size_t names_bytes;
  void *image; // the mapped file
  size_t image_bytes;
} symbol_table;

// Opens the table of the module that holds the address. False when it has been stripped.
bool symbols_open(symbol_table *table, const void *address);
void symbols_close(symbol_table *table);

// Where the section of the module that holds the address begins and ends in memory. False when none does.
bool symbols_section(const symbol_table *table, const void *address, uintptr_t *low,
                     uintptr_t *high);

// The function that begins at the address. NULL when none does.
const ElfW(Sym) * symbols_function(const symbol_table *table, const void *address);

// Whether the symbol is a kernel, by its mangled name and its visibility, which __global__ sets.
bool symbols_is_kernel(const ElfW(Sym) * symbol, const char *name);

// Whether the variable is declared inside the function; both names are mangled, but for that of an extern "C" function.
bool symbols_is_local_to(const char *variable, const char *function);

// The symbol's name, mangled.
const char *symbols_name(const symbol_table *table, const ElfW(Sym) * symbol);

#endif
