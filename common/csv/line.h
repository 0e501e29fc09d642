// Writes one line of comma-separated values, which are the names of the columns or their values.
//
// The list of columns stands once, in a function that is called twice, for the names and for the
// values, so that the two lines always have the same columns.
#ifndef CSV_LINE_H
#define CSV_LINE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct {
  FILE *out;
  bool names;  // the line of the names; values are left out
  int columns; // written so far
} csv_line;

csv_line csv_line_begin(FILE *out, bool names);
void csv_line_end(csv_line *line);

// Adds a column that holds a text, in quotes where CSV needs them; NULL leaves it empty.
void csv_line_text(csv_line *line, const char *name, const char *text);

// Adds a column with the text that printf makes of `format`. `present` is false where the value does not
// apply, and then the column is empty.
__attribute__((format(printf, 4, 5))) void csv_line_number(csv_line *line, const char *name,
                                                           bool present, const char *format, ...);

// Adds a column that holds a number with `digits` significant digits; NaN leaves it empty.
void csv_line_value(csv_line *line, const char *name, int digits, double value);

#endif
