// Compares a step's output with the reference, and says what is wrong in words.
#ifndef CHECK_H
#define CHECK_H

#include "reference/reference.h"

// This byte fills outputs and guards before a run. Elements of such bytes are NaN in fp16, bf16 and float32.
enum { CHECK_POISON = 0xff };

// lse may be off by this much, plus this part of the reference.
#define CHECK_LSE_TOLERANCE 1e-5

typedef struct {
  double o_error; // max |O - reference|; NaN when O holds a NaN
  double o_bound; // the largest that passes in any element, mostly FlashAttention's bound
  double o_used;  // max |O - reference| / the allowed error, of well-conditioned rows; likewise
  double o_mean;  // root mean square of |O - reference| / the reference's o_mean; 0 of too few
  // max |lse - reference| / (1 + |reference|), without the rows that see no key and those whose float32 scores alone
  // explain more than CHECK_LSE_TOLERANCE; NaN likewise
  double lse_error;
  size_t o_bad;           // elements of O whose error is larger than allowed
  size_t lse_bad;         // rows of lse likewise
  size_t ill_conditioned; // rows with larger errors that the errors of float32 scores explain
  error_text message;     // empty when all is well; of ill-conditioned rows it says why
} check_result;

typedef enum { CHECK_SKIPPED, CHECK_PASSED, CHECK_FAILED, CHECK_ILL_CONDITIONED } check_verdict;

// Returns the word that the records use: "skipped", "ok", "FAILED" or "ill-conditioned".
const char *check_verdict_name(check_verdict verdict);

// Returns the verdict on a result that check_outputs has found right or wrong.
check_verdict check_verdict_of(bool right, const check_result *result);

// Compares outputs with the reference. `o` holds fp16 or bf16 bits [batch, heads, seq_q, head_dim]; `lse`
// holds float32 [batch, heads, seq_q], or is NULL when none was asked for. An element of O passes when its error is
// at most o_allowed of the reference (reference/allowance.h). The root mean square of the errors of O in
// well-conditioned rows, each divided by its o_mean, must be at most 1; it is not looked at below 1000 elements or 16
// rows. lse passes within CHECK_LSE_TOLERANCE * (1 + |lse|) of a finite reference, or within that and the error of its
// float32 scores where that is larger. It must be exactly -infinity where the row sees no key. Returns true when all of
// this holds; else false with result->message set, also when memory runs out.
//
// Where float32 scores are too imprecise to determine a row's weights, a correct kernel's O may be far from
// the reference. Such a row also passes if scores within the errors of float32 could have produced it. It is
// counted in ill_conditioned. All other rows are judged as usual.
//
// Where the reference has some rows only, the errors of these rows decide. All other elements of O must be
// finite, which a poisoned element is not, and so must lse where the row sees a key.
//
// The message of a failure names the first bad element, what was expected there, how many are bad and the
// pattern that they make, such as whole tiles, last rows, one column in eight, or elements that were never
// written.
bool check_outputs(const attention_shape *shape, const uint16_t *o, const float *lse,
                   const reference_result *reference, check_result *result);

// Gives the result of one run the worse value of each field, its own or that of another run of the same problem. The
// sentence is that of the worse run; that of the other run begins with `where`.
void check_keep_worse(check_result *result, const check_result *other, const char *where);

#endif
