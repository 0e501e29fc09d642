// A module is a shared object in a file that has no name (memfd_create), so that nothing of it is left when the program
// ends. A module that is unloaded stays where it is: what reports and tables know of its kernels stays true. Only its
// functions can no longer be launched.
#define _GNU_SOURCE
#include "module.h"
#include "context.h"
#include "emulator.h"
#include "memory.h"
#include "symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct CUmod_st {
  const void *inside; // an address in the shared object
  bool unloaded;
};

struct CUfunc_st {
  struct CUfunc_st *next;
  const struct CUmod_st *module;
  const void *kernel;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct CUfunc_st *functions;

static bool write_all(int file, const unsigned char *bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= (size_t)written;
  }
  return true;
}

// The file stays open, because symbols and lines are read from it later.
const void *module_map(const module_image *image, module_error *error) {
  const int file = memfd_create("cuda module", MFD_CLOEXEC);
  if (file < 0 || !write_all(file, image->bytes, image->count)) {
    snprintf(error->text, sizeof error->text, "the module cannot be held in memory: %s",
             strerror(errno));
    if (file >= 0) close(file);
    return NULL;
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const void *inside = handle != NULL ? dlsym(handle, "emulator_module") : NULL;
  if (inside == NULL)
    snprintf(error->text, sizeof error->text, "the module cannot be loaded: %s", dlerror());
  return inside;
}

static CUresult load(CUmodule *module, const void *image, size_t limit, unsigned int count,
                     CUjit_option *options, void **values) {
  if (context_ready() != CUDA_SUCCESS) return context_ready();
  if (module == NULL || image == NULL) return CUDA_ERROR_INVALID_VALUE;
  module_error error = {""};
  module_image own;
  CUresult result = module_image_read(image, limit, &own, &error);
  struct CUmod_st *made = NULL;
  if (result == CUDA_SUCCESS) {
    made = calloc(1, sizeof *made);
    if (made == NULL || (made->inside = module_map(&own, &error)) == NULL)
      result = made == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
    module_image_free(&own);
  }
  if (error.text[0] != '\0') fprintf(stderr, "========= cuModuleLoad: %s\n", error.text);
  module_write_logs(count, options, values, error.text);
  if (result != CUDA_SUCCESS) {
    free(made);
    return result;
  }
  *module = made;
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
                            CUjit_option *options, void **values) {
  return load(module, image, MODULE_ANY_SIZE, count, options, values);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoad(CUmodule *module, const char *path) {
  if (context_ready() != CUDA_SUCCESS) return context_ready();
  if (module == NULL || path == NULL) return CUDA_ERROR_INVALID_VALUE;
  size_t bytes;
  char *text = module_read_file(path, &bytes);
  if (text == NULL) return CUDA_ERROR_FILE_NOT_FOUND;
  const CUresult result = load(module, text, bytes, 0, NULL, NULL);
  free(text);
  return result;
}

CUresult cuModuleUnload(CUmodule module) {
  if (context_ready() != CUDA_SUCCESS) return context_ready();
  if (module == NULL || module->unloaded) return CUDA_ERROR_INVALID_HANDLE;
  const CUresult result = CALL_RUNTIME(cudaDeviceSynchronize());
  module->unloaded = true;
  return result;
}

// ---- Name expressions of nvrtc -------------------------------------------------------------------

typedef struct named {
  struct named *next;
  char *expression;
  const void *address;
} named;
static named *expressions; // the last one first

void emulator_name_expression(const char *expression, const void *address) {
  named *made = malloc(sizeof *made);
  if (made == NULL) return; // then nvrtc does not know the name
  pthread_mutex_lock(&mutex);
  *made = (named){expressions, strdup(expression), address};
  expressions = made;
  pthread_mutex_unlock(&mutex);
}

const void *module_expression(const char *expression) {
  pthread_mutex_lock(&mutex);
  const named *found = expressions;
  while (found != NULL && (found->expression == NULL || strcmp(found->expression, expression) != 0))
    found = found->next;
  pthread_mutex_unlock(&mutex);
  return found != NULL ? found->address : NULL;
}

// ---- Names --------------------------------------------------------------------------------------

static bool is_kernel(const ElfW(Sym) * symbol) {
  return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
         ELF64_ST_VISIBILITY(symbol->st_other) == STV_PROTECTED;
}

static bool is_variable(const ElfW(Sym) * symbol) {
  return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT;
}

// The address of the kernel, or variable, of that name. NULL when the module has none.
static const void *find(CUmodule module, const char *name, bool (*wanted)(const ElfW(Sym) *),
                        size_t *bytes) {
  symbol_table table;
  if (!symbols_open(&table, module->inside)) return NULL;
  const void *found = NULL;
  for (size_t i = 0; i < table.count && found == NULL; i++) {
    const ElfW(Sym) *symbol = &table.symbols[i];
    if (symbol->st_shndx == SHN_UNDEF || !wanted(symbol) ||
        strcmp(symbols_name(&table, symbol), name) != 0)
      continue;
    found = (const void *)(table.load_address + symbol->st_value);
    if (bytes != NULL) *bytes = symbol->st_size;
  }
  symbols_close(&table);
  return found;
}

char *module_symbol_name(const void *address) {
  symbol_table table;
  if (!symbols_open(&table, address)) return NULL;
  char *name = NULL;
  for (size_t i = 0; i < table.count && name == NULL; i++) {
    const ElfW(Sym) *symbol = &table.symbols[i];
    if (symbol->st_shndx != SHN_UNDEF && (is_kernel(symbol) || is_variable(symbol)) &&
        table.load_address + symbol->st_value == (uintptr_t)address)
      name = strdup(symbols_name(&table, symbol));
  }
  symbols_close(&table);
  return name;
}

static void print_name(const char *name, bool launched, void *context) {
  (void)launched;
  bool *first = context;
  fprintf(stderr, "%s %s", *first ? "" : ",", name);
  *first = false;
}

// A kernel that is not extern "C" has its C++ name, with its signature. To forget that is the usual fault.
static void say_names(CUmodule module, const char *name) {
  bool first = true;
  fprintf(stderr, "========= cuModuleGetFunction: the module has no kernel \"%s\"; it has", name);
  emulator_visit_kernels(module->inside, print_name, &first);
  fprintf(stderr, "%s (extern \"C\" gives a kernel its plain name)\n", first ? " none" : "");
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  if (context_ready() != CUDA_SUCCESS) return context_ready();
  if (function == NULL || name == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (module == NULL || module->unloaded) return CUDA_ERROR_INVALID_HANDLE;
  const void *kernel = find(module, name, is_kernel, NULL);
  if (kernel == NULL) {
    say_names(module, name);
    return CUDA_ERROR_NOT_FOUND;
  }
  struct CUfunc_st *made = malloc(sizeof *made);
  if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  pthread_mutex_lock(&mutex);
  *made = (struct CUfunc_st){functions, module, kernel};
  functions = made;
  pthread_mutex_unlock(&mutex);
  *function = made;
  return CUDA_SUCCESS;
}

const void *module_kernel(CUfunction function) {
  pthread_mutex_lock(&mutex);
  const struct CUfunc_st *known = functions;
  while (known != NULL && known != function) known = known->next;
  pthread_mutex_unlock(&mutex);
  return known != NULL && !known->module->unloaded ? known->kernel : NULL;
}

CUresult cuModuleGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name) {
  if (context_ready() != CUDA_SUCCESS) return context_ready();
  if (name == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (module == NULL || module->unloaded) return CUDA_ERROR_INVALID_HANDLE;
  size_t size = 0;
  const void *variable = find(module, name, is_variable, &size);
  if (variable == NULL) return CUDA_ERROR_NOT_FOUND;
  if (!memory_add_symbol(variable, size)) return CUDA_ERROR_OUT_OF_MEMORY;
  if (pointer != NULL) *pointer = (CUdeviceptr)(uintptr_t)variable;
  if (bytes != NULL) *bytes = size;
  return CUDA_SUCCESS;
}
