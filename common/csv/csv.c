#define _GNU_SOURCE // getdelim
#include "csv/csv.h"

#include "file/file.h"
#include "options/number.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Returns the file's bytes and a zero behind them, which the caller frees.
static char *read_text(const char *path, size_t *length, error_text *error) {
  FILE *file = file_open(path, error);
  if (!file) return NULL;
  char *text = NULL;
  size_t capacity = 0;
  errno = 0;
  // Reads up to a zero byte, which no text contains. If there is one, the bytes behind it are not read.
  const ssize_t got = getdelim(&text, &capacity, '\0', file);
  const bool failed = got < 0 && ferror(file);
  const int cause = errno;
  fclose(file);
  if (failed) {
    fail(error, "cannot read %s: %s", path, strerror(cause));
    free(text);
    return NULL;
  }
  if (got < 0) { // an empty file
    free(text);
    text = calloc(1, 1);
  }
  *length = got < 0 ? 0 : (size_t)got;
  if (!text) fail(error, "not enough memory to read %s", path);
  return text;
}

static size_t count(const char *text, char wanted) {
  size_t found = 0;
  for (; *text; text++) found += *text == wanted;
  return found;
}

// Takes the field at *next, unquoted in place, and moves *next behind the comma that follows it, or to
// NULL behind the last one. Returns NULL when a quote is out of place.
static char *take_field(char **next) {
  char *const field = *next;
  char *from = field;
  char *to = field;
  const bool quoted = *from == '"';
  if (quoted) {
    for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
      if (*from == '"') from++;
      *to++ = *from;
    }
    if (*from++ != '"') return NULL;
  } else {
    for (; *from && *from != ','; from++) {
      if (*from == '"') return NULL;
      to++;
    }
  }
  if (*from && *from != ',') return NULL;
  *next = *from ? from + 1 : NULL;
  *to = '\0';
  return field;
}

// Splits a line into its fields, of which the first `most` go to `fields`. Returns false for a bad quote.
static bool split(char *line, const char **fields, size_t most, size_t *found) {
  *found = 0;
  for (char *next = line; next;) {
    const char *field = take_field(&next);
    if (!field) return false;
    if (*found < most) fields[*found] = field;
    ++*found;
  }
  return true;
}

static bool take_header(csv_table *table, char *line, size_t number, error_text *error) {
  const size_t most = count(line, ',') + 1;
  table->names = calloc(most, sizeof *table->names);
  if (!table->names) return fail(error, "not enough memory for %s", table->path);
  if (!split(line, table->names, most, &table->columns)) {
    return fail(error, "line %zu of %s has a quote out of place", number, table->path);
  }
  for (size_t i = 0; i < table->columns; i++) {
    for (size_t j = 0; j < i; j++) {
      if (strcmp(table->names[i], table->names[j]) == 0) {
        return fail(error, "line %zu of %s names the column \"%s\" twice", number, table->path,
                    table->names[i]);
      }
    }
  }
  return true;
}

static bool take_row(csv_table *table, char *line, size_t number, error_text *error) {
  size_t found = 0;
  if (!split(line, table->cells + table->rows * table->columns, table->columns, &found)) {
    return fail(error, "line %zu of %s has a quote out of place", number, table->path);
  }
  if (found != table->columns) {
    return fail(error, "line %zu of %s has %zu fields where the header has %zu", number,
                table->path, found, table->columns);
  }
  table->lines[table->rows++] = number;
  return true;
}

// Bytes that are not text are refused here, because a sentence that quotes them could not be read.
static bool check_text(const csv_table *table, const char *line, size_t number, error_text *error) {
  const char *odd = error_unprintable(line);
  while (odd && *odd == '\t') odd = error_unprintable(odd + 1);
  return !odd || fail(error, "line %zu of %s holds the byte 0x%02x where a character should be",
                      number, table->path, (unsigned char)*odd);
}

static bool take_lines(csv_table *table, error_text *error) {
  const size_t most = count(table->text, '\n') + 1;
  table->lines = calloc(most, sizeof *table->lines);
  if (!table->lines) return fail(error, "not enough memory for %s", table->path);
  size_t number = 0;
  for (char *line = table->text, *next; line; line = next) {
    next = strchr(line, '\n');
    size_t length = next ? (size_t)(next - line) : strlen(line);
    if (next) next++;
    number++;
    if (length > 0 && line[length - 1] == '\r') length--;
    line[length] = '\0';
    if (!check_text(table, line, number, error)) return false;
    if (length == 0 || line[0] == '#') continue;
    if (table->names) {
      if (!take_row(table, line, number, error)) return false;
      continue;
    }
    if (!take_header(table, line, number, error)) return false;
    table->cells = calloc(most, table->columns * sizeof *table->cells);
    if (!table->cells) return fail(error, "not enough memory for %s", table->path);
  }
  return table->names || fail(error, "%s holds no header line that names its columns", table->path);
}

bool csv_read(const char *path, csv_table *table, error_text *error) {
  size_t length = 0;
  *table = (csv_table){.path = strdup(path)};
  bool good = table->path || fail(error, "not enough memory to read %s", path);
  if (good) table->text = read_text(path, &length, error);
  good = good && table->text;
  if (good && strlen(table->text) != length) {
    good = fail(error, "line %zu of %s holds a zero byte: this is no text", //
                count(table->text, '\n') + 1, path);
  }
  good = good && take_lines(table, error);
  if (!good) csv_free(table);
  return good;
}

void csv_free(csv_table *table) {
  free(table->path);
  free(table->text);
  free(table->names);
  free(table->cells);
  free(table->lines);
  *table = (csv_table){0};
}

bool csv_column(const csv_table *table, const char *name, size_t *column, error_text *error) {
  for (size_t i = 0; i < table->columns; i++) {
    if (strcmp(table->names[i], name) != 0) continue;
    *column = i;
    return true;
  }
  char names[768] = "";
  size_t used = 0;
  for (size_t i = 0; i < table->columns && used < sizeof names; i++) {
    used +=
        (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", table->names[i]);
  }
  return fail(error, "%s has no column \"%s\": it has %s", table->path, name, names);
}

const char *csv_text(const csv_table *table, size_t row, size_t column) {
  return table->cells[row * table->columns + column];
}

typedef struct {
  char text[512];
} cell_name;

static cell_name name_cell(const csv_table *table, size_t row, size_t column) {
  cell_name name;
  snprintf(name.text, sizeof name.text, "%s in line %zu of %s", table->names[column],
           table->lines[row], table->path);
  return name;
}

bool csv_integer(const csv_table *table, size_t row, size_t column, int64_t least, int64_t most,
                 int64_t *value, error_text *error) {
  const cell_name name = name_cell(table, row, column);
  return number_parse_integer(name.text, csv_text(table, row, column), least, most, value, error);
}

bool csv_number(const csv_table *table, size_t row, size_t column, double *value,
                error_text *error) {
  const char *text = csv_text(table, row, column);
  char *end = NULL;
  *value = strtod(text, &end);
  if (*text == '\0') *value = NAN;
  if (*end == '\0' && !isspace((unsigned char)*text)) return true;
  return fail(error, "%s is \"%s\": give a number, or nothing", name_cell(table, row, column).text,
              text);
}

void csv_write_text(FILE *file, const char *text) {
  if (!strpbrk(text, ",\"\r\n")) {
    fputs(text, file);
    return;
  }
  fputc('"', file);
  for (; *text; text++) {
    if (*text == '"') fputc('"', file);
    fputc(*text, file);
  }
  fputc('"', file);
}
