// For tests of the charts: the data of one, before gnuplot draws it.
#ifndef PREPARED_H
#define PREPARED_H

#include "recorded.h"

// Returns the output of a chart's program for some files, with tabs and line ends as blanks.
static inline script_result prepared(const char *chart, const char *files) {
  char command[768];
  snprintf(command, sizeof command,
           "cd " FOLDER "; root=../../..; shared=; for part in lines rows; do "
           "if grep -q \"load .plots/$part.gp\" $root/plots/%s.gp; then shared=\"-f "
           "$root/plots/$part.awk\"; fi; done; "
           "awk -f $root/scripts/csv.awk -f $root/scripts/text.awk -f $root/plots/chart.awk "
           "-f $root/plots/choice.awk $shared -f $root/plots/%s.awk -v title=T -v head_dim=64 -v "
           "dtype=fp16 "
           "%s 2>&1 | tr '\\t\\n' '  '",
           chart, chart, files);
  return toolkit_run(command);
}

static inline void expect_prepared(const char *chart, const char *files, const char *part) {
  const script_result result = prepared(chart, files);
  EXPECT(result, part);
}

#endif
