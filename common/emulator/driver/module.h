// Modules, and the functions in them.
#ifndef MODULE_H
#define MODULE_H

#include "module_image.h"

#include <stdbool.h>

// The kernel of a function; NULL, when it is no function or its module has been unloaded.
const void *module_kernel(CUfunction function);

// Loads the shared object and returns its address; NULL when that fails, and `error` says why.
const void *module_map(const module_image *image, module_error *error);

// The C++ name of the symbol at the address, which lies in a module; NULL when there is none. The caller frees it.
char *module_symbol_name(const void *address);

// Returns the address that the name expression stands for in the module that was loaded last; NULL when no module has
// named it.
const void *module_expression(const char *expression);

#endif
