#define _GNU_SOURCE
#include "symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Maps the whole file read-only. Returns false when that fails.
static bool map_file(symbol_table *table, const char *path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct stat status;
  table->image = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    table->image_bytes = (size_t)status.st_size;
    table->image = mmap(NULL, table->image_bytes, PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  return table->image != MAP_FAILED;
}

static bool lies_in_file(const symbol_table *table, const ElfW(Shdr) * section) {
  return section->sh_offset <= table->image_bytes &&
         section->sh_size <= table->image_bytes - section->sh_offset;
}

static bool find_table(symbol_table *table) {
  const char *image = table->image;
  const ElfW(Ehdr) *header = table->image;
  if (table->image_bytes < sizeof *header || memcmp(image, ELFMAG, SELFMAG) != 0) return false;
  const size_t headers_bytes = (size_t)header->e_shnum * sizeof(ElfW(Shdr));
  if (header->e_shoff > table->image_bytes ||
      headers_bytes > table->image_bytes - header->e_shoff) {
    return false;
  }
  const ElfW(Shdr) *sections = (const void *)(image + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum) continue;
    const ElfW(Shdr) *names = &sections[sections[i].sh_link];
    if (!lies_in_file(table, &sections[i]) || !lies_in_file(table, names)) return false;
    table->symbols = (const void *)(image + sections[i].sh_offset);
    table->count = sections[i].sh_size / sizeof *table->symbols;
    table->names = image + names->sh_offset;
    table->names_bytes = names->sh_size;
    return names->sh_size > 0 && table->names[names->sh_size - 1] == '\0';
  }
  return false;
}

bool symbols_open(symbol_table *table, const void *address) {
  Dl_info info;
  struct link_map *module;
  if (dladdr1(address, &info, (void **)&module, RTLD_DL_LINKMAP) == 0) return false;
  table->load_address = module->l_addr;
  // The program itself has no path in the list of modules.
  const char *path = module->l_name[0] != '\0' ? module->l_name : "/proc/self/exe";
  if (!map_file(table, path)) return false;
  if (find_table(table)) return true;
  symbols_close(table);
  return false;
}

bool symbols_section(const symbol_table *table, const void *address, uintptr_t *low,
                     uintptr_t *high) {
  const ElfW(Ehdr) *header = table->image;
  const ElfW(Shdr) *sections = (const void *)((const char *)table->image + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; i++) {
    const uintptr_t start = table->load_address + sections[i].sh_addr;
    if ((sections[i].sh_flags & SHF_EXECINSTR) == 0) continue;
    if ((uintptr_t)address - start >= sections[i].sh_size) continue;
    *low = start;
    *high = start + sections[i].sh_size;
    return true;
  }
  return false;
}

void symbols_close(symbol_table *table) { munmap(table->image, table->image_bytes); }

const ElfW(Sym) * symbols_function(const symbol_table *table, const void *address) {
  const uintptr_t value = (uintptr_t)address - table->load_address;
  for (size_t i = 0; i < table->count; i++) {
    const ElfW(Sym) *symbol = &table->symbols[i];
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
        symbol->st_value == value)
      return symbol;
  }
  return NULL;
}

// A lambda in a kernel is as visible as the kernel, and the compiler may split a part off a kernel. A
// lambda's name begins otherwise (Itanium C++ ABI, section 5.1.6); the name of a part contains a point.
bool symbols_is_kernel(const ElfW(Sym) * symbol, const char *name) {
  return ELF64_ST_VISIBILITY(symbol->st_other) == STV_PROTECTED &&
         ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
         strncmp(name, "_ZZ", 3) != 0 && strchr(name, '.') == NULL;
}

// kernel(float *) is _Z6kernelPf and its variable tile _ZZ6kernelPfE4tile (Itanium C++ ABI, section 5.1.6,
// <local-name>). That of an extern "C" kernel is _ZZ6kernelE4tile.
bool symbols_is_local_to(const char *variable, const char *function) {
  if (strncmp(variable, "_ZZ", 3) != 0) return false;
  const char *rest = variable + 3;
  if (strncmp(function, "_Z", 2) == 0) {
    function += 2;
  } else {
    char length[24];
    const int digits = snprintf(length, sizeof length, "%zu", strlen(function));
    if (strncmp(rest, length, (size_t)digits) != 0) return false;
    rest += digits;
  }
  const size_t length = strlen(function);
  return strncmp(rest, function, length) == 0 && rest[length] == 'E';
}

const char *symbols_name(const symbol_table *table, const ElfW(Sym) * symbol) {
  return symbol->st_name < table->names_bytes ? table->names + symbol->st_name : "";
}
