#include "npy/header.h"

#include <stdint.h>
#include <string.h>

static const struct {
  const char *name;
  size_t bytes;
} dtypes[] = {[NPY_FLOAT16] = {"<f2", 2}, [NPY_FLOAT32] = {"<f4", 4}, [NPY_UINT16] = {"<u2", 2}};

enum { DTYPE_COUNT = sizeof dtypes / sizeof *dtypes };

size_t npy_element_bytes(npy_dtype dtype) { return dtypes[dtype].bytes; }

bool npy_count_elements(npy_dtype dtype, int rank, const size_t *shape, size_t *count) {
  *count = 1;
  for (int i = 0; i < rank; i++)
    if (shape[i] == 0) *count = 0; // then the others may be as large as they like
  for (int i = 0; *count > 0 && i < rank; i++) {
    if (shape[i] > PTRDIFF_MAX / npy_element_bytes(dtype) / *count) return false;
    *count *= shape[i];
  }
  return true;
}

// The dictionary's text, which is read from front to back.
typedef struct {
  const char *path;
  const char *text;
  size_t length;
  size_t position;
  error_text *error;
} reader;

// Every malformed header is refused with the same sentence. It says what was expected and where,
// and shows the header.
static bool fail_expected(const reader *header, const char *expected) {
  enum { LONGEST_SHOWN = 200 };
  char shown[LONGEST_SHOWN + 1];
  size_t length = header->length < LONGEST_SHOWN ? header->length : LONGEST_SHOWN;
  for (size_t i = 0; i < length; i++) {
    char c = header->text[i];
    shown[i] = c >= ' ' && c <= '~' ? c : '.';
  }
  while (length > 0 && (shown[length - 1] == ' ' || shown[length - 1] == '.')) length--;
  shown[length] = '\0';
  return fail(header->error,
              "%s: malformed .npy header: expected %s at character %zu of `%s`; write the file "
              "again with numpy.save",
              header->path, expected, header->position + 1, shown);
}

static void skip_blanks(reader *header) {
  while (header->position < header->length &&
         memchr(" \t\r\n\f", header->text[header->position], 5) != NULL)
    header->position++;
}

// Steps over the word, and the blanks before it, if it comes next.
static bool accept(reader *header, const char *word) {
  skip_blanks(header);
  size_t length = strlen(word);
  if (length > header->length - header->position ||
      memcmp(header->text + header->position, word, length) != 0)
    return false;
  header->position += length;
  return true;
}

// The text inside a string literal; it points into the header.
typedef struct {
  const char *text;
  int length; // at most INT_MAX, to be printed with %.*s
} slice;

static bool equals(slice string, const char *word) {
  return (size_t)string.length == strlen(word) && memcmp(string.text, word, strlen(word)) == 0;
}

static bool parse_string(reader *header, const char *expected, slice *string) {
  enum { LONGEST = 64 };
  skip_blanks(header);
  size_t start = header->position + 1;
  if (!accept(header, "'") && !accept(header, "\"")) return fail_expected(header, expected);
  char quote = header->text[start - 1];
  size_t end = start;
  while (end < header->length && end - start <= LONGEST && header->text[end] != quote) {
    char c = header->text[end];
    if (c < ' ' || c > '~' || c == '\\') break;
    end++;
  }
  if (end == header->length || header->text[end] != quote) {
    header->position = start - 1;
    return fail_expected(header, expected);
  }
  *string = (slice){header->text + start, (int)(end - start)};
  header->position = end + 1;
  return true;
}

static bool parse_dtype(reader *header, npy_array *array) {
  slice name;
  skip_blanks(header);
  if (header->position < header->length && header->text[header->position] == '[')
    return fail(header->error,
                "%s holds a structured array: save one field of it, as numpy.float16, "
                "numpy.float32 or numpy.uint16 (the bits of bfloat16)",
                header->path);
  if (!parse_string(header, "the element type, such as '<f2',", &name)) return false;
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (equals(name, dtypes[i].name)) {
      array->dtype = (npy_dtype)i;
      return true;
    }
    if (name.length == 3 && name.text[0] == '>' &&
        memcmp(name.text + 1, dtypes[i].name + 1, 2) == 0)
      return fail(header->error, "%s is big-endian ('%.*s'): save x.astype('%s') instead",
                  header->path, name.length, name.text, dtypes[i].name);
  }
  if (equals(name, "<V2") || equals(name, "|V2"))
    return fail(header->error,
                "%s has element type '%.*s', as a bfloat16 array does: save its bits instead, "
                "x.view(numpy.uint16)",
                header->path, name.length, name.text);
  return fail(header->error,
              "%s has element type '%.*s'; accepted are '<f2' (float16), '<f4' (float32) and "
              "'<u2' (the bits of bfloat16): save x.astype(numpy.float32), for example",
              header->path, name.length, name.text);
}

static bool parse_order(reader *header) {
  if (accept(header, "False")) return true;
  if (accept(header, "True"))
    return fail(header->error,
                "%s is in Fortran order (column-major): save numpy.ascontiguousarray(x) instead",
                header->path);
  return fail_expected(header, "True or False");
}

static bool parse_dimension(reader *header, size_t *dimension) {
  skip_blanks(header);
  if (accept(header, "-"))
    return fail(header->error, "%s has a negative dimension in its shape: write the file again",
                header->path);
  size_t start = header->position;
  *dimension = 0;
  while (header->position < header->length) {
    char c = header->text[header->position];
    if (c < '0' || c > '9') break;
    size_t digit = (size_t)(c - '0');
    if (*dimension > (SIZE_MAX - digit) / 10)
      return fail(header->error,
                  "%s has a dimension that does not fit 64 bits: write the file again",
                  header->path);
    *dimension = *dimension * 10 + digit;
    header->position++;
  }
  if (header->position == start) return fail_expected(header, "a dimension");
  accept(header, "L");
  return true;
}

static bool parse_shape(reader *header, npy_array *array) {
  if (!accept(header, "(")) return fail_expected(header, "the shape in parentheses");
  array->rank = 0;
  bool comma = true;
  while (!accept(header, ")")) {
    if (!comma) return fail_expected(header, "a comma or a closing parenthesis");
    if (array->rank == NPY_MAX_RANK)
      return fail(header->error, "%s has more than %d dimensions: reshape the array before saving",
                  header->path, NPY_MAX_RANK);
    if (!parse_dimension(header, &array->shape[array->rank])) return false;
    array->rank++;
    comma = accept(header, ",");
  }
  // To Python (5) is a number and (5,) a tuple.
  return array->rank != 1 || comma || fail_expected(header, "a comma behind the only dimension");
}

bool npy_header_parse(const char *path, const char *text, size_t length, npy_array *array,
                      error_text *error) {
  reader header = {path, text, length, 0, error};
  bool has_dtype = false, has_order = false, has_shape = false, comma = true;
  if (!accept(&header, "{")) return fail_expected(&header, "{");
  while (!accept(&header, "}")) {
    if (!comma) return fail_expected(&header, "a comma or }");
    slice key;
    if (!parse_string(&header, "a key in quotes", &key)) return false;
    if (!accept(&header, ":")) return fail_expected(&header, "a colon");
    bool *seen = equals(key, "descr")           ? &has_dtype
                 : equals(key, "fortran_order") ? &has_order
                 : equals(key, "shape")         ? &has_shape
                                                : NULL;
    if (seen == NULL || *seen)
      return fail(error,
                  "%s: malformed .npy header: key '%.*s' %s; write the file again with numpy.save",
                  path, key.length, key.text, seen == NULL ? "is unknown" : "appears twice");
    *seen = true;
    bool parsed = seen == &has_dtype   ? parse_dtype(&header, array)
                  : seen == &has_order ? parse_order(&header)
                                       : parse_shape(&header, array);
    if (!parsed) return false;
    comma = accept(&header, ",");
  }
  skip_blanks(&header);
  if (header.position != length) return fail_expected(&header, "nothing but blanks behind }");
  if (!has_dtype || !has_order || !has_shape)
    return fail(error,
                "%s: malformed .npy header: key '%s' is missing; write the file again with "
                "numpy.save",
                path,
                !has_dtype   ? "descr"
                : !has_order ? "fortran_order"
                             : "shape");
  return npy_count_elements(array->dtype, array->rank, array->shape, &array->count) ||
         fail(error, "%s: its shape has more elements than memory can hold: write the file again",
              path);
}

__attribute__((format(printf, 3, 4))) static void append(char *out, int *length, const char *format,
                                                         ...) {
  va_list arguments;
  va_start(arguments, format);
  const int room = NPY_HEADER_CAPACITY - *length - 1;
  const int more = vsnprintf(out + *length, (size_t)room + 1, format, arguments);
  va_end(arguments);
  if (more > 0) *length += more < room ? more : room; // no more than NPY_HEADER_CAPACITY - 1 in all
}

size_t npy_header_format(npy_dtype dtype, int rank, const size_t *shape,
                         char out[NPY_HEADER_CAPACITY]) {
  enum { PREFIX = 10, ALIGNMENT = 64, LONGEST_FIRST_DIMENSION = 21 };
  int length = PREFIX;
  append(out, &length, "{'descr': '%s', 'fortran_order': False, 'shape': (", dtypes[dtype].name);
  for (int i = 0; i < rank; i++) append(out, &length, i == 0 ? "%zu" : ", %zu", shape[i]);
  append(out, &length, rank == 1 ? ",), }" : "), }");
  // NumPy leaves room for the first dimension to grow in place, then fills up with blanks to the
  // alignment, and with one more line of them when nothing is left to fill.
  if (rank > 0)
    append(out, &length, "%*s", LONGEST_FIRST_DIMENSION - snprintf(NULL, 0, "%zu", shape[0]), "");
  append(out, &length, "%*s\n", ALIGNMENT - (length + 1) % ALIGNMENT, "");
  memcpy(out, NPY_MAGIC, NPY_MAGIC_BYTES);
  out[6] = 1; // version 1.0
  out[7] = 0;
  out[8] = (char)((length - PREFIX) & 0xFF); // little-endian
  out[9] = (char)((length - PREFIX) >> 8);
  return (size_t)length;
}
