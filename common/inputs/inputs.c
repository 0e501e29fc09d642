#include "inputs/inputs.h"

#include "numeric/float16.h"
#include "numeric/random.h"
#include <math.h>
#include <string.h>

static const char *const names[INPUTS_KINDS] = {"normal", "large", "equal", "onehot",
                                                "ramp",   "limit", "rising"};

const char *inputs_name(inputs_kind kind) { return names[kind]; }

bool inputs_from_name(const char *name, inputs_kind *kind) {
  for (int i = 0; i < INPUTS_KINDS; i++) {
    if (strcmp(name, names[i]) == 0) {
      *kind = (inputs_kind)i;
      return true;
    }
  }
  return false;
}

static double uniform(uint64_t bits) { return ((double)(bits >> 11) + 0.5) * 0x1p-53; } // in (0, 1)

// Where the processor converts 64-bit integers eight at a time, glibc's logarithms and cosines of several numbers at a time
// take a third of the time. They differ from the others by a few 2^-53, which the element types do not hold.
#if defined __GLIBC__ && defined __AVX512DQ__ && !defined __clang__
double log(double) __attribute__((simd("notinbranch")));
double cos(double) __attribute__((simd("notinbranch")));
#define SEVERAL_AT_A_TIME _Pragma("omp simd")
#else
#define SEVERAL_AT_A_TIME
#endif

// Computes normal numbers `first`, `first + 1` and so on. The method is that of Box and Muller, "A note on the generation of
// random normal deviates", 1958.
static void normals(uint64_t seed, uint64_t first, size_t count, double *values) {
  SEVERAL_AT_A_TIME
  for (size_t i = 0; i < count; i++) {
    const uint64_t index = first + i;
    const double radius = sqrt(-2.0 * log(uniform(random_at(seed, 2 * index))));
    values[i] = radius * cos(6.283185307179586 * uniform(random_at(seed, 2 * index + 1)));
  }
}

// Returns a value of either sign with a magnitude from 32768 to 65504, the largest fp16.
static double near_limit(uint64_t seed, uint64_t index) {
  const double magnitude = 32768.0 + 32736.0 * uniform(random_at(seed, 2 * index));
  return random_at(seed, 2 * index + 1) & 1 ? magnitude : -magnitude;
}

// Computes column 0 of Q and K for scores that rise along the keys. The element of Q says by how much a score
// rises, and the elements of K at which keys it does: at the first key of every 64, at the last, inside, or
// at only one of all keys. In heads 8 to 15, 24 to 31 and so on the other rows of every 16 gain nothing.
static double rising_column(inputs_tensor tensor, size_t head, size_t row, size_t rows,
                            size_t columns) {
  static const double log2_gains[] = {17, 8, 40, 1, 66, 15.5, 16, 130};
  enum { KEYS = 64, MOST = 8 }; // no more often than that, so that fp16 can hold all scores
  if (tensor == INPUTS_Q) {
    if (head / 8 % 2 == 1 && row % 16 != 5 * head % 16) return 0.0;
    return log2_gains[head % 8] * 0.6931471805599453 * sqrt((double)columns);
  }
  const size_t place = (head + head / 8) % 4;
  if (place == 3) return row == rows * 2 / 3;
  const size_t before = place == 0 ? 0 : place == 1 ? 1 : 27;
  const size_t times = (row + before) / KEYS;
  return times < MOST ? (double)times : MOST;
}

// Tells whether a tensor has normal numbers.
static bool is_normal(inputs_kind kind, inputs_tensor tensor) {
  switch (kind) {
  case INPUTS_ONEHOT: return tensor == INPUTS_V;
  case INPUTS_LIMIT: return tensor == INPUTS_K;
  case INPUTS_RAMP: return false;
  default: return true;
  }
}

// Computes element (row, column) of head number `head`; `index` is its place in the whole tensor, and `normal` the normal
// number of that place, if the tensor has any.
static double value_at(inputs_kind kind, inputs_tensor tensor, uint64_t seed, size_t index,
                       double normal, size_t head, size_t row, size_t rows, size_t column,
                       size_t columns) {
  switch (kind) {
  case INPUTS_NORMAL: return normal;
  case INPUTS_LARGE: return normal * (tensor == INPUTS_Q ? 30.0 : 1.0);
  case INPUTS_EQUAL: return normal;
  case INPUTS_ONEHOT:
    if (tensor == INPUTS_V) return normal;
    return column == row % columns ? 16.0 : 0.0;
  case INPUTS_RAMP: {
    const double along_rows = (double)(row % 37) / 36.0 - 0.5;
    const double along_columns = (double)(column % 29) / 28.0 - 0.5;
    const double along_heads = (double)(head % 5) / 8.0;
    return tensor == INPUTS_V ? 2.0 * along_rows + along_columns + along_heads
                              : along_rows + 2.0 * along_columns - along_heads;
  }
  case INPUTS_LIMIT: return tensor == INPUTS_K ? normal * 0x1p-15 : near_limit(seed, index);
  case INPUTS_RISING:
    if (tensor == INPUTS_V || column > 0) return normal;
    return rising_column(tensor, head, row, rows, columns);
  case INPUTS_KINDS: break;
  }
  return NAN;
}

void inputs_fill(const attention_shape *shape, inputs_kind kind, inputs_tensor tensor,
                 uint64_t seed, uint16_t *out) {
  const size_t heads =
      (size_t)shape->batch * (size_t)(tensor == INPUTS_Q ? shape->heads : shape->kv_heads);
  const size_t rows = (size_t)(tensor == INPUTS_Q ? shape->seq_q : shape->seq_kv);
  const size_t columns = (size_t)shape->head_dim;
  const uint64_t tensor_seed = random_at(seed, (uint64_t)tensor);
  const bool random = is_normal(kind, tensor);
  enum { AT_ONCE = 64 };

#pragma omp parallel for
  for (size_t head = 0; head < heads; head++) {
    for (size_t row = 0; row < rows; row++) {
      const size_t first = (head * rows + row) * columns;
      double values[AT_ONCE] = {0};
      for (size_t column = 0; column < columns; column++) {
        // The rows of a head are equal where all keys are.
        const size_t of_row = kind == INPUTS_EQUAL ? head * columns : first,
                     left = columns - column;
        if (random && column % AT_ONCE == 0)
          normals(tensor_seed, of_row + column, left < AT_ONCE ? left : AT_ONCE, values);
        const float value =
            (float)value_at(kind, tensor, tensor_seed, first + column, values[column % AT_ONCE],
                            head, row, rows, column, columns);
        out[first + column] =
            shape->dtype == ATTENTION_FP16 ? fp16_from_float(value) : bf16_from_float(value);
      }
    }
  }
}
