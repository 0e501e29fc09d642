// Reads the lab's records: comma-separated values (RFC 4180) whose first line names the columns.
//
// Lines that begin with # are comments; they and blank lines count for nothing. A field may stand in
// double quotes, with "" for a quote in it; it holds no line break. Lines end with LF or CRLF, the last
// one also without. Columns are found by name, so their order does not matter.
#ifndef CSV_H
#define CSV_H

#include "error/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  char *path;
  char *text; // of the whole file; names and cells point into it
  size_t columns;
  const char **names; // [columns]
  size_t rows;
  const char **cells; // [rows][columns]
  size_t *lines;      // [rows]: where each row stands in the file; the first line is 1
} csv_table;

// Reads the whole file. False with a sentence that names file and line, and an empty *table, when the
// file cannot be read, has no header, names a column twice, has a row with more or fewer fields than
// the header, a quote out of place, or a zero byte.
bool csv_read(const char *path, csv_table *table, error_text *error);

// Releases what csv_read allocated and zeroes *table. A zeroed table is fine.
void csv_free(csv_table *table);

// The column of that name. False, with the names there are, when there is none.
bool csv_column(const csv_table *table, const char *name, size_t *column, error_text *error);

// What stands in the cell; "" when it is empty. Lives as long as the table.
const char *csv_text(const csv_table *table, size_t row, size_t column);

// The cell as a whole number from `least` to `most`; an empty cell is none. False with a sentence that
// names column, line and file.
bool csv_integer(const csv_table *table, size_t row, size_t column, int64_t least, int64_t most,
                 int64_t *value, error_text *error);

// The cell as a number: NaN for an empty cell, whose value does not apply. Takes what printf writes for
// a NaN or an infinity. False with a sentence that names column, line and file.
bool csv_number(const csv_table *table, size_t row, size_t column, double *value,
                error_text *error);

// Writes a text as one field, in quotes when it must be.
void csv_write_text(FILE *file, const char *text);

#endif
