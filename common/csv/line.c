#include "csv/line.h"

#include "csv/csv.h"
#include <math.h>
#include <stdarg.h>

csv_line csv_line_begin(FILE *out, bool names) { return (csv_line){out, names, 0}; }

void csv_line_end(csv_line *line) { fputc('\n', line->out); }

static void begin_column(csv_line *line, const char *name) {
  if (line->columns++ > 0) fputc(',', line->out);
  if (line->names) fputs(name, line->out);
}

void csv_line_text(csv_line *line, const char *name, const char *text) {
  begin_column(line, name);
  if (!line->names && text) csv_write_text(line->out, text);
}

void csv_line_number(csv_line *line, const char *name, bool present, const char *format, ...) {
  begin_column(line, name);
  if (line->names || !present) return;
  va_list arguments;
  va_start(arguments, format);
  vfprintf(line->out, format, arguments);
  va_end(arguments);
}

void csv_line_value(csv_line *line, const char *name, int digits, double value) {
  csv_line_number(line, name, !isnan(value), "%.*g", digits, value);
}
