// Reductions over the ranks' elements. Those of 16 bits are added in float32 and rounded after each rank.
#include "clique.h"

#include "numeric/float16.h"

#include <string.h>

static double combine_real(double a, double b, ncclRedOp_t reduction) {
  switch (reduction) {
  case ncclProd: return a * b;
  case ncclMax: return a > b ? a : b;
  case ncclMin: return a < b ? a : b;
  default: return a + b;
  }
}

static int64_t combine_whole(int64_t a, int64_t b, ncclRedOp_t reduction, bool is_unsigned) {
  const bool less = is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
  switch (reduction) {
  case ncclProd: return (int64_t)((uint64_t)a * (uint64_t)b);
  case ncclMax: return less ? b : a;
  case ncclMin: return less ? a : b;
  default: return (int64_t)((uint64_t)a + (uint64_t)b);
  }
}

static bool is_real(ncclDataType_t type) {
  return type == ncclFloat16 || type == ncclBfloat16 || type == ncclFloat32 || type == ncclFloat64;
}

static double load_real(const char *at, ncclDataType_t type) {
  uint16_t bits;
  float single;
  double whole;
  switch (type) {
  case ncclFloat16: return (double)fp16_to_float((memcpy(&bits, at, sizeof bits), bits));
  case ncclBfloat16: return (double)bf16_to_float((memcpy(&bits, at, sizeof bits), bits));
  case ncclFloat32: return (double)(memcpy(&single, at, sizeof single), single);
  default: return (memcpy(&whole, at, sizeof whole), whole);
  }
}

static void store_real(char *at, double value, ncclDataType_t type) {
  const float single = (float)value;
  const uint16_t bits = type == ncclFloat16 ? fp16_from_float(single) : bf16_from_float(single);
  switch (type) {
  case ncclFloat16:
  case ncclBfloat16: memcpy(at, &bits, sizeof bits); break;
  case ncclFloat32: memcpy(at, &single, sizeof single); break;
  default: memcpy(at, &value, sizeof value); break;
  }
}

static int64_t load_whole(const char *at, ncclDataType_t type) {
  int32_t word;
  uint32_t unsigned_word;
  int64_t whole;
  switch (type) {
  case ncclInt8: return (signed char)*at;
  case ncclUint8: return (unsigned char)*at;
  case ncclInt32: return (memcpy(&word, at, sizeof word), word);
  case ncclUint32: return (memcpy(&unsigned_word, at, sizeof unsigned_word), unsigned_word);
  default: return (memcpy(&whole, at, sizeof whole), whole);
  }
}

// The low bytes come first on x86-64 and aarch64.
static void store_whole(char *at, int64_t value, ncclDataType_t type) {
  memcpy(at, &value, call_type_bytes(type));
}

void reduction_apply(char *sum, const char *more, size_t count, ncclDataType_t type,
                     ncclRedOp_t reduction) {
  const size_t bytes = call_type_bytes(type);
  for (size_t i = 0; i < count; i++, sum += bytes, more += bytes) {
    if (is_real(type)) {
      store_real(sum, combine_real(load_real(sum, type), load_real(more, type), reduction), type);
    } else {
      store_whole(sum,
                  combine_whole(load_whole(sum, type), load_whole(more, type), reduction,
                                type == ncclUint64),
                  type);
    }
  }
}

void reduction_divide(char *sum, size_t count, ncclDataType_t type, int ranks) {
  const size_t bytes = call_type_bytes(type);
  for (size_t i = 0; i < count; i++, sum += bytes) {
    if (is_real(type)) {
      store_real(sum, load_real(sum, type) / ranks, type);
    } else {
      const int64_t whole = load_whole(sum, type);
      store_whole(sum,
                  type == ncclUint64 ? (int64_t)((uint64_t)whole / (uint64_t)ranks) : whole / ranks,
                  type);
    }
  }
}
