// Compares a step's output with the reference, and says what is wrong in words.
#ifndef CHECK_H
#define CHECK_H

#include "reference/reference.h"

// The byte that fills outputs and guards before a run: as fp16, bf16 or float32 it is NaN.
enum { CHECK_POISON = 0xff };

// What lse may be off by: this much, plus this part of the reference.
#define CHECK_LSE_TOLERANCE 1e-3

typedef struct {
  double o_error;     // max |O - reference|; NaN when O holds a NaN
  double o_bound;     // the largest that passes
  double lse_error;   // max |lse - reference| / (1 + |reference|) over finite rows; NaN likewise
  size_t o_bad;       // elements of O whose own error exceeds the bound, or that are not finite
  size_t lse_bad;     // rows of lse likewise
  error_text message; // empty when all is well
} check_result;

typedef enum { CHECK_SKIPPED, CHECK_PASSED, CHECK_FAILED } check_verdict;

// As the records have it: "skipped", "ok" or "FAILED".
const char *check_verdict_name(check_verdict verdict);

// O: fp16 or bf16 bits [batch, heads, seq_q, head_dim]. lse: float32 [batch, heads, seq_q], or NULL
// when none was asked for. lse passes within CHECK_LSE_TOLERANCE of a finite reference and
// must be exactly -infinity where the row sees no key. True when every element passes.
//
// Where the reference has some rows only, their errors decide, and all other elements must be finite: of
// O always, as a poisoned one is not, of lse where the row sees a key.
//
// The message of a failure names the first bad element, what was expected there, how many are bad
// and the pattern they make: whole tiles, last rows, one column in eight, never written.
bool check_outputs(const attention_shape *shape, const uint16_t *o, const float *lse,
                   const reference_result *reference, check_result *result);

#endif
