// Kernels that are compiled with -fsanitize=bounds call these when an index is not below its
// array's bound. The layout of the arguments is the compiler's (LLVM,
// compiler-rt/lib/ubsan/ubsan_value.h and ubsan_handlers.h; GCC's is the same, gcc/ubsan.cc).
#define _GNU_SOURCE
#include "findings.h"

#include "accesses.h"
#include "places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *file;
  uint32_t line;
  uint32_t column;
} source_location;

typedef struct {
  uint16_t kind; // 0: integer
  uint16_t info; // of an integer: bit 0 says signed, the others are log2 of the number of bits
  char name[];   // "'float [64]'"
} type_descriptor;

typedef struct {
  source_location location;
  const type_descriptor *array;
  const type_descriptor *index;
} out_of_bounds_data;

// `value` is the index, or its address if it has more bits than a pointer.
static long long index_of(const type_descriptor *type, uintptr_t value) {
  const unsigned bits = 1u << (type->info >> 1);
  if (bits > 64) return *(const long long *)value;
  if ((type->info & 1) == 0 || bits == 64) return (long long)value;
  const unsigned unused = 64 - bits;
  return (long long)((uint64_t)value << unused) >> unused;
}

// CUDA's names for the numbers of 16 bits, which g++ calls by those of the stand-in headers and without their format.
static const char *cuda_name(const type_descriptor *type) {
  if (strncmp(type->name, "'number16 ", strlen("'number16 ")) == 0) return ", half or bf16";
  if (strncmp(type->name, "'number16_pair ", strlen("'number16_pair ")) == 0)
    return ", half2 or bf162";
  return "";
}

EMULATOR_API void __ubsan_handle_out_of_bounds(const out_of_bounds_data *data, uintptr_t value) {
  const long long index = index_of(data->index, value);
  worker *worker = current_worker;
  if (worker == NULL || emulator_current == NULL) {
    fprintf(stderr, "%s:%u: index %lld is out of bounds for type %s\n", data->location.file,
            data->location.line, index, data->array->name);
    abort();
  }
  const checked_access access = {.worker = worker,
                                 .thread = worker->running->index,
                                 .place = place_of_code(__builtin_return_address(0))};
  finding found = {.kind = FINDING_INDEX,
                   .space = ADDRESS_LOCAL,
                   .party = {access_party(&access)},
                   .parties = 1};
  snprintf(found.detail.text, sizeof found.detail.text, "index %lld of an array of type %.100s%s",
           index, data->array->name, cuda_name(data->array));
  findings_add(&found, NULL, NULL);
  findings_leave(worker, cudaErrorIllegalAddress);
}
