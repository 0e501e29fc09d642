#include "check/check.h"

#include "check/pattern.h"
#include "shape/shape.h"
#include <math.h>
#include <string.h>

const char *check_verdict_name(check_verdict verdict) {
  static const char *const names[] = {
      [CHECK_SKIPPED] = "skipped", [CHECK_PASSED] = "ok", [CHECK_FAILED] = "FAILED"};
  return names[verdict];
}

typedef struct {
  size_t head; // batch * heads + head
  size_t row;
  size_t column;
  double expected;
  double got;
} bad_element;

// Written as !(error <= bound), so that a NaN is bad.
static bool exceeds(double error, double bound) { return !(error <= bound); }

// The larger of two errors, where NaN is the largest of all.
static double worse(double a, double b) { return isnan(a) || a > b ? a : b; }

static bool is_poison(const void *element, size_t bytes) {
  static const unsigned char poison[4] = {CHECK_POISON, CHECK_POISON, CHECK_POISON, CHECK_POISON};
  return memcmp(element, poison, bytes) == 0;
}

// printf writes some NaNs as "-nan", which says nothing more.
static const char *number_text(double value, char text[32]) {
  snprintf(text, 32, isnan(value) ? "nan" : "%.6g", value);
  return text;
}

static bool describe(const attention_shape *shape, const char *tensor, double bound,
                     const bad_element *first, const pattern *bad, size_t elements,
                     error_text *message) {
  char where[512];
  char column[32] = "";
  char expected[32];
  char got[32];
  pattern_describe(bad, where, sizeof where);
  if (bad->counts[2] > 0) snprintf(column, sizeof column, ", column %zu", first->column);
  return fail(message,
              "%s is wrong at batch %zu, head %zu, row %zu%s: expected %s, got %s "
              "(allowed error %.3g). %zu of %zu elements are bad: %s",
              tensor, first->head / (size_t)shape->heads, first->head % (size_t)shape->heads,
              first->row, column, number_text(first->expected, expected),
              number_text(first->got, got), bound, bad->total, elements, where);
}

static bool check_o(const attention_shape *shape, const uint16_t *o,
                    const reference_result *reference, check_result *result) {
  const size_t rows = (size_t)shape->seq_q;
  const size_t columns = (size_t)shape->head_dim;
  const size_t heads = (size_t)shape->batch * (size_t)shape->heads;
  bad_element first = {0};
  pattern bad;
  if (!pattern_create(&bad, heads, rows, columns)) {
    return fail(&result->message, "not enough memory to compare O");
  }
  for (size_t i = 0; i < heads * rows * columns; i++) {
    const double got = (double)reference_value(shape->dtype, o[i]);
    const double error = fabs(got - reference->o[i]);
    result->o_error = worse(error, result->o_error);
    if (!exceeds(error, reference->o_bound)) continue;
    const bad_element here = {i / columns / rows, i / columns % rows, i % columns, reference->o[i],
                              got};
    if (bad.total == 0) first = here;
    pattern_add(&bad, here.head, here.row, here.column);
    bad.unwritten += is_poison(&o[i], sizeof o[i]);
    bad.not_finite += !isfinite(got);
  }
  result->o_bad = bad.total;
  if (bad.total > 0) {
    describe(shape, "O", reference->o_bound, &first, &bad, heads * rows * columns,
             &result->message);
  }
  pattern_free(&bad);
  return result->o_bad == 0;
}

static bool check_lse(const attention_shape *shape, const float *lse,
                      const reference_result *reference, check_result *result) {
  const size_t rows = (size_t)shape->seq_q;
  const size_t heads = (size_t)shape->batch * (size_t)shape->heads;
  bad_element first = {0};
  pattern bad;
  if (!pattern_create(&bad, heads, rows, 0)) {
    return fail(&result->message, "not enough memory to compare lse");
  }
  for (size_t i = 0; i < heads * rows; i++) {
    const double expected = reference->lse[i];
    const double got = (double)lse[i];
    if (isfinite(expected)) {
      const double error = fabs(got - expected) / (1 + fabs(expected));
      result->lse_error = worse(error, result->lse_error);
      if (!exceeds(error, CHECK_LSE_TOLERANCE)) continue;
    } else if (got == expected) { // -infinity
      continue;
    }
    if (bad.total == 0) first = (bad_element){i / rows, i % rows, 0, expected, got};
    pattern_add(&bad, i / rows, i % rows, 0);
    bad.unwritten += is_poison(&lse[i], sizeof lse[i]);
    bad.not_finite += !isfinite(got);
  }
  result->lse_bad = bad.total;
  if (bad.total > 0) {
    describe(shape, "lse", CHECK_LSE_TOLERANCE, &first, &bad, heads * rows, &result->message);
  }
  pattern_free(&bad);
  return result->lse_bad == 0;
}

bool check_outputs(const attention_shape *shape, const uint16_t *o, const float *lse,
                   const reference_result *reference, check_result *result) {
  *result = (check_result){.o_bound = reference->o_bound};
  // O comes second so that its message, which tells more, replaces that of lse.
  const bool lse_good = !lse || check_lse(shape, lse, reference, result);
  return check_o(shape, o, reference, result) && lse_good;
}
