#include "check/check.h"

#include "check/mean_error.h"
#include "check/pattern.h"
#include "shape/shape.h"
#include <math.h>
#include <string.h>

const char *check_verdict_name(check_verdict verdict) {
  static const char *const names[] = {[CHECK_SKIPPED] = "skipped",
                                      [CHECK_PASSED] = "ok",
                                      [CHECK_FAILED] = "FAILED",
                                      [CHECK_ILL_CONDITIONED] = "ill-conditioned"};
  return names[verdict];
}

check_verdict check_verdict_of(bool right, const check_result *result) {
  if (!right) return CHECK_FAILED;
  return result->ill_conditioned > 0 ? CHECK_ILL_CONDITIONED : CHECK_PASSED;
}

typedef struct {
  size_t head; // batch * heads + head
  size_t row;
  size_t column;
  double expected;
  double got;
  double allowed; // error
} bad_element;

// The test is written as !(error <= bound), so that a NaN is bad.
static bool exceeds(double error, double bound) { return !(error <= bound); }

// Returns the larger of two errors, where NaN counts as the largest.
static double worse(double a, double b) { return isnan(a) || a > b ? a : b; }

void check_keep_worse(check_result *result, const check_result *other, const char *where) {
  const bool more_bad = other->o_bad + other->lse_bad > result->o_bad + result->lse_bad;
  const bool more_ill = other->ill_conditioned > result->ill_conditioned;
  if (other->message.text[0] && (more_bad || more_ill || !result->message.text[0]))
    fail(&result->message, "%s: %s", where, other->message.text);
  result->o_error = worse(other->o_error, result->o_error);
  result->o_bound = worse(other->o_bound, result->o_bound);
  result->o_used = worse(other->o_used, result->o_used);
  result->o_mean = worse(other->o_mean, result->o_mean);
  result->lse_error = worse(other->lse_error, result->lse_error);
  if (other->o_bad > result->o_bad) result->o_bad = other->o_bad;
  if (other->lse_bad > result->lse_bad) result->lse_bad = other->lse_bad;
  if (more_ill) result->ill_conditioned = other->ill_conditioned;
}

static bool is_poison(const void *element, size_t bytes) {
  static const unsigned char poison[4] = {CHECK_POISON, CHECK_POISON, CHECK_POISON, CHECK_POISON};
  return memcmp(element, poison, bytes) == 0;
}

// Returns the memory that an element of O was computed from, if it is a NaN of known origin.
static poison origin_of(const attention_shape *shape, uint16_t bits) {
  return shape->dtype == ATTENTION_FP16 ? poison_of_fp16(bits) : poison_of_bf16(bits);
}

// printf writes some NaNs as "-nan"; the sign has no meaning here.
static const char *number_text(double value, char text[32]) {
  snprintf(text, 32, isnan(value) ? "nan" : "%.6g", value);
  return text;
}

static bool describe(const attention_shape *shape, const char *tensor, const bad_element *first,
                     const pattern *bad, size_t elements, error_text *message) {
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
              number_text(first->got, got), first->allowed, bad->total, elements, where);
}

// Explains why the differences of ill-conditioned rows from float64 are not a mistake of the
// kernel.
static void describe_ill_conditioned(const attention_shape *shape, const bad_element *first,
                                     double score_error, check_result *result, size_t rows) {
  fail(&result->message,
       "the input is ill-conditioned in %zu of %zu rows, such as batch %zu, head %zu, row %zu: "
       "keys tie "
       "within what float32 holds of their scores (an error of up to %.3g in the exponent), so "
       "that O "
       "differs from float64's by more than rounding explains; it lies within what such scores "
       "allow. "
       "All other rows are right",
       result->ill_conditioned, rows, first->head / (size_t)shape->heads,
       first->head % (size_t)shape->heads, first->row, score_error);
}

// The tensors that are compared, in all heads. Number i of the checked rows of a head is its row
// selection_row(selection, head, i).
typedef struct {
  size_t heads, rows, columns; // of the tensor; columns is 1 for lse
  size_t checked;              // rows of each head
  const row_selection *selection;
} extent;

static extent extent_of(const attention_shape *shape, const reference_result *reference,
                        size_t columns) {
  return (extent){.heads = (size_t)shape->batch * (size_t)shape->heads,
                  .rows = (size_t)shape->seq_q,
                  .columns = columns,
                  .checked = selection_count(&reference->selection, shape),
                  .selection = &reference->selection};
}

// Judges the errors of all elements together, when each alone is small enough.
static bool check_mean(const mean_error *mean, check_result *result) {
  result->o_mean = mean_error_root(mean);
  if (!exceeds(result->o_mean, 1)) return true;
  return fail(
      &result->message,
      "O is wrong in many elements: each error of %zu is within what is allowed, but their root "
      "mean square is %.3g times as large as rounding and float32 explain. Look for keys that "
      "get no weight, and for sums or probabilities that are rounded once more",
      mean->elements, result->o_mean);
}

static bool check_o(const attention_shape *shape, const uint16_t *o,
                    const reference_result *reference, check_result *result) {
  const extent all = extent_of(shape, reference, (size_t)shape->head_dim);
  bad_element first = {0};
  bad_element ill = {0};
  double coarsest = 0;
  mean_error mean = {0};
  pattern bad;
  if (!pattern_create(&bad, all.heads, all.rows, all.columns)) {
    return fail(&result->message, "not enough memory to compare O");
  }
  for (size_t n = 0; n < all.heads * all.checked; n++) {
    const size_t head = n / all.checked;
    const size_t row = selection_row(all.selection, head, n % all.checked);
    const uint16_t *o_row = o + (head * all.rows + row) * all.columns;
    const bool uncertain = reference_ill_conditioned(reference, n);
    bool off = false;
    if (!uncertain) mean.rows++;
    for (size_t column = 0; column < all.columns; column++) {
      const size_t i = n * all.columns + column;
      const double expected = reference->o[i];
      const double got = (double)reference_value(shape->dtype, o_row[column]);
      const double allowed = (double)reference->o_allowed[i];
      const double error = fabs(got - expected);
      result->o_error = worse(error, result->o_error);
      if (!uncertain) {
        result->o_used = worse(error == 0 ? 0 : error / allowed, result->o_used);
        mean_error_add(&mean, error, (double)reference->o_mean[i]);
      }
      if (!exceeds(error, allowed)) continue;
      if (uncertain && got >= (double)reference->o_low[i] && got <= (double)reference->o_high[i]) {
        off = true;
        continue;
      }
      if (bad.total == 0) {
        first = (bad_element){head, row, column, expected, got, allowed};
        if (uncertain)
          first.allowed =
              fmax((double)reference->o_high[i] - expected, expected - (double)reference->o_low[i]);
      }
      pattern_add(&bad, head, row, column);
      if (!isfinite(got)) {
        pattern_add_not_finite(&bad, !is_poison(&o_row[column], sizeof *o_row),
                               origin_of(shape, o_row[column]));
      }
    }
    if (off && result->ill_conditioned++ == 0) ill = (bad_element){.head = head, .row = row};
    if (off) coarsest = fmax(coarsest, (double)reference->score_error[n]);
  }
  result->o_bad = bad.total;
  if (bad.total > 0) {
    describe(shape, "O", &first, &bad, all.heads * all.checked * all.columns, &result->message);
  } else if (result->ill_conditioned > 0 && result->lse_bad == 0) {
    describe_ill_conditioned(shape, &ill, coarsest, result, all.heads * all.checked);
  }
  pattern_free(&bad);
  return result->o_bad == 0 && check_mean(&mean, result);
}

static bool check_lse(const attention_shape *shape, const float *lse,
                      const reference_result *reference, check_result *result) {
  const extent all = extent_of(shape, reference, 1);
  bad_element first = {0};
  pattern bad;
  if (!pattern_create(&bad, all.heads, all.rows, 0)) {
    return fail(&result->message, "not enough memory to compare lse");
  }
  for (size_t n = 0; n < all.heads * all.checked; n++) {
    const size_t head = n / all.checked;
    const size_t row = selection_row(all.selection, head, n % all.checked);
    const float *element = &lse[head * all.rows + row];
    const double expected = reference->lse[n];
    const double got = (double)*element;
    double allowed = 0;
    if (isfinite(expected)) {
      const double scale = 1 + fabs(expected);
      const double error = fabs(got - expected);
      allowed = CHECK_LSE_TOLERANCE * scale;
      // Large products that cancel leave a score, and so lse, with fewer digits than float32 has.
      if ((double)reference->lse_error[n] > allowed)
        allowed += (double)reference->lse_error[n];
      else
        result->lse_error = worse(error / scale, result->lse_error);
      if (!exceeds(error, allowed)) continue;
    } else if (got == expected) { // -infinity
      continue;
    }
    if (bad.total == 0) first = (bad_element){head, row, 0, expected, got, allowed};
    pattern_add(&bad, head, row, 0);
    if (!isfinite(got)) {
      pattern_add_not_finite(&bad, !is_poison(element, sizeof *element), poison_of_float(*element));
    }
  }
  result->lse_bad = bad.total;
  if (bad.total > 0) {
    describe(shape, "lse", &first, &bad, all.heads * all.checked, &result->message);
  }
  pattern_free(&bad);
  return result->lse_bad == 0;
}

// --- elements for which the reference has no value

static bool o_is_finite(const attention_shape *shape, uint16_t bits) {
  const uint16_t exponent = shape->dtype == ATTENTION_FP16 ? 0x7c00 : 0x7f80;
  return (bits & exponent) != exponent;
}

static bool lse_is_sound(const attention_shape *shape, size_t row, float lse) {
  const bool sees_a_key = shape_visible_keys(shape, (int)row) > 0;
  return sees_a_key ? isfinite(lse) : lse == -INFINITY;
}

// Tells whether element number i of O, or of lse where `o` is NULL, can be right at all.
static bool can_be_right(const attention_shape *shape, const uint16_t *o, const float *lse,
                         size_t i) {
  return o ? o_is_finite(shape, o[i]) : lse_is_sound(shape, i % (size_t)shape->seq_q, lse[i]);
}

// Checks O [heads, rows, columns], or lse where `o` is NULL.
static bool check_all_finite(const attention_shape *shape, const uint16_t *o, const float *lse,
                             const extent *all, size_t *bad_count, error_text *message) {
  const size_t count = all->heads * all->rows * all->columns;
  size_t bad = 0;
  size_t first = count;
#pragma omp parallel for reduction(+ : bad) reduction(min : first)
  for (size_t i = 0; i < count; i++) {
    if (can_be_right(shape, o, lse, i)) continue;
    bad++;
    if (i < first) first = i;
  }
  *bad_count = bad;
  if (bad == 0) return true;
  char got[32];
  const size_t head = first / all->columns / all->rows;
  const double value = o ? (double)reference_value(shape->dtype, o[first]) : (double)lse[first];
  const bool unwritten = o ? is_poison(&o[first], sizeof *o) : is_poison(&lse[first], sizeof *lse);
  const poison origin = o ? origin_of(shape, o[first]) : poison_of_float(lse[first]);
  return fail(message,
              "%s is %s at batch %zu, head %zu, row %zu%s%s. %zu of %zu elements are not finite",
              o ? "O" : "lse", number_text(value, got), head / (size_t)shape->heads,
              head % (size_t)shape->heads, first / all->columns % all->rows,
              unwritten ? ", which was never written"
              : origin  ? ", computed from "
                        : "",
              poison_origin(origin), bad, count);
}

bool check_outputs(const attention_shape *shape, const uint16_t *o, const float *lse,
                   const reference_result *reference, check_result *result) {
  *result = (check_result){.o_bound = reference->o_bound};
  // O comes second so that its message, which tells more, replaces that of lse.
  const bool lse_good = !lse || check_lse(shape, lse, reference, result);
  const bool good = check_o(shape, o, reference, result) && lse_good;
  if (!good || !reference->selection.rows) return good;
  const extent o_extent = extent_of(shape, reference, (size_t)shape->head_dim);
  const extent lse_extent = extent_of(shape, reference, 1);
  return check_all_finite(shape, o, NULL, &o_extent, &result->o_bad, &result->message) &&
         (!lse ||
          check_all_finite(shape, NULL, lse, &lse_extent, &result->lse_bad, &result->message));
}
