// For tests of scripts/tables.sh: a recorded lab of a few rows, and a document whose tables are filled from it.
#ifndef TABLES_H
#define TABLES_H

#include "recorded.h"

static inline void tables_enter(void) {
  toolkit_enter();
  recorded_write_all();
}

#define BLOCK(table) "<!-- table: " table " -->\n<!-- end of table -->\n"

// Fills the tables of a document, and gives the document.
static inline script_result filled(const char *text) {
  toolkit_write("document.md", text);
  const script_result result = toolkit_run("scripts/tables.sh document.md 2>&1");
  cr_assert_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  return toolkit_run("cat document.md");
}

#endif
