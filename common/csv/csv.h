// Reads the lab's records: comma-separated values (RFC 4180) whose first line names the columns.
//
// Lines that begin with # are comments; these lines and blank lines are skipped. A field may stand in double
// quotes, with "" for a quote in it; it holds no line break. Lines end with LF or CRLF, which the last line
// may lack. Columns are found by name, so their order does not matter.
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

// Reads the whole file. Returns false with a sentence that names file and line, and an empty *table, when the
// file cannot be read, has no header, names a column twice, has a row with more or fewer fields than the
// header, a quote out of place, or a zero byte.
bool csv_read(const char *path, csv_table *table, error_text *error);

// Releases the memory that csv_read allocated and zeroes *table. A zeroed table may be freed too.
void csv_free(csv_table *table);

// Finds the column of that name. Returns false with a sentence that lists the existing names when there is
// none.
bool csv_column(const csv_table *table, const char *name, size_t *column, error_text *error);

// Returns the text of the cell, which is "" when the cell is empty. The text lives as long as the table.
const char *csv_text(const csv_table *table, size_t row, size_t column);

// Reads the cell as a whole number from `least` to `most`; an empty cell is no number. Returns false with a
// sentence that names column, line and file.
bool csv_integer(const csv_table *table, size_t row, size_t column, int64_t least, int64_t most,
                 int64_t *value, error_text *error);

// Reads the cell as a number. An empty cell, whose value does not apply, gives NaN. It also accepts the words
// that printf writes for a NaN or an infinity. Returns false with a sentence that names column, line and
// file.
bool csv_number(const csv_table *table, size_t row, size_t column, double *value,
                error_text *error);

// Writes a text as one field, in quotes when it must be.
void csv_write_text(FILE *file, const char *text);

#endif
