#include "options/number.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// strtoll and its kind skip white space in front, and strtof accepts "inf", "nan" and "0x1p3". To exclude
// these, the first character after the sign must be a decimal digit or point.
static bool starts_like_number(const char *text, bool point) {
  if (*text == '-') text++;
  if (point && *text == '.') text++;
  return isdigit((unsigned char)text[0]) && !(text[0] == '0' && (text[1] | 0x20) == 'x');
}

static bool whole_word(const char *name, const char *text, const char *end, error_text *error) {
  return *end == '\0' ||
         fail(error, "%s is \"%s\": \"%s\" after the number makes no sense", name, text, end);
}

bool number_parse_integer(const char *name, const char *text, int64_t least, int64_t most,
                          int64_t *value, error_text *error) {
  if (!starts_like_number(text, false)) {
    return fail(error, "%s is \"%s\": give a whole number", name, text);
  }
  char *end = NULL;
  errno = 0;
  const long long parsed = strtoll(text, &end, 10); // takes the nearest one of what is too far
  const bool too_far = errno == ERANGE;
  if (!whole_word(name, text, end, error)) return false;
  if (parsed < least || (too_far && parsed < 0)) {
    return fail(error, "%s is %s: the smallest it can be is %" PRId64, name, text, least);
  }
  if (parsed > most || too_far) {
    return fail(error, "%s is %s: the largest it can be is %" PRId64, name, text, most);
  }
  *value = parsed;
  return true;
}

bool number_parse_unsigned(const char *name, const char *text, uint64_t *value, error_text *error) {
  if (!starts_like_number(text, false)) {
    return fail(error, "%s is \"%s\": give a whole number", name, text);
  }
  if (*text == '-') return fail(error, "%s is %s: the smallest it can be is 0", name, text);
  char *end = NULL;
  errno = 0;
  const unsigned long long parsed = strtoull(text, &end, 10);
  if (!whole_word(name, text, end, error)) return false;
  if (errno == ERANGE) {
    return fail(error, "%s is %s: the largest it can be is %" PRIu64, name, text, UINT64_MAX);
  }
  *value = parsed;
  return true;
}

bool number_parse_float(const char *name, const char *text, float *value, error_text *error) {
  if (!starts_like_number(text, true)) {
    return fail(error, "%s is \"%s\": give a number, such as 0.125", name, text);
  }
  char *end = NULL;
  const float parsed = strtof(text, &end);
  if (!whole_word(name, text, end, error)) return false;
  if (!isfinite(parsed)) return fail(error, "%s is %s: that is too large for float32", name, text);
  *value = parsed;
  return true;
}
