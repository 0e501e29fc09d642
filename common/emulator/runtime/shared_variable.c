#define _GNU_SOURCE
#include "shared_variable.h"

#include "symbols.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "_ZZ6kernelPfE4tile" -> "tile": the name follows its length, and ends at the
// end of the text or at a number that tells variables of one name apart (Itanium
// C++ ABI, sections 5.1.2 and 5.1.6). A name that is not mangled stays as it is.
static void plain_name(const char *mangled, char *name, size_t name_bytes) {
  snprintf(name, name_bytes, "%s", mangled);
  for (const char *at = mangled; *at != '\0'; at++) {
    if (!isdigit((unsigned char)*at)) continue;
    char *start;
    const size_t length = strtoul(at, &start, 10);
    // An E ends the function that a static variable is in, whose own name may have a digit.
    const bool behind_function = strncmp(mangled, "_ZZ", 3) != 0 || at[-1] == 'E';
    if (behind_function && length > 0 && length <= strlen(start)) {
      const char *rest = start + length;
      if (*rest == '_') rest += 1 + strspn(rest + 1, "0123456789");
      if (*rest == '\0') {
        snprintf(name, name_bytes, "%.*s", (int)length, start);
        return;
      }
    }
    at = start - 1; // behind the whole number
  }
}

// The variable of this type, STT_TLS or STT_OBJECT, that holds the byte with this value as a symbol.
static bool find(const symbol_table *table, unsigned char type, size_t value,
                 shared_variable *found) {
  for (size_t i = 0; i < table->count; i++) {
    const ElfW(Sym) *symbol = &table->symbols[i];
    if (ELF64_ST_TYPE(symbol->st_info) != type || symbol->st_shndx == SHN_UNDEF ||
        value - symbol->st_value >= symbol->st_size)
      continue;
    found->offset = symbol->st_value;
    found->bytes = symbol->st_size;
    plain_name(symbols_name(table, symbol), found->name, sizeof found->name);
    return true;
  }
  return false;
}

bool shared_variable_find(const void *kernel, size_t offset, shared_variable *found) {
  symbol_table table;
  if (!symbols_open(&table, kernel)) return false;
  const bool done = find(&table, STT_TLS, offset, found);
  symbols_close(&table);
  return done;
}

bool device_variable_find(const void *kernel, const void *address, shared_variable *found) {
  symbol_table table;
  if (!symbols_open(&table, kernel)) return false;
  const size_t value = (uintptr_t)address - table.load_address;
  const bool done = find(&table, STT_OBJECT, value, found);
  if (done) found->offset = value - found->offset;
  symbols_close(&table);
  return done;
}
