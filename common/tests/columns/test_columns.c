// The columns of counts are told apart by their names, and those that belong to requests stand behind them.
#include "columns/columns.h"
#include <criterion/criterion.h>
#include <string.h>

Test(columns, have_names_of_their_own) {
  for (int i = 0; i < COUNT_COLUMNS; i++) {
    cr_assert(column_names[i].name && column_names[i].title, "column %d", i);
    for (int j = 0; j < i; j++)
      cr_expect_str_neq(column_names[i].name, column_names[j].name, "columns %d and %d", i, j);
  }
}

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), wanted = strlen(end);
  return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

// A listing divides them by the requests.
Test(columns, sectors_and_wavefronts_stand_behind_their_requests) {
  for (int i = 0; i < COUNT_COLUMNS; i++) {
    const char *name = column_names[i].name;
    const bool per_request = ends_with(name, "_sectors") || ends_with(name, "_wavefronts");
    cr_expect_eq(column_is_per_request(i), per_request, "%s", name);
    if (!per_request) continue;
    const char *before = column_names[i - 1].name;
    const size_t kind = strlen(before) - strlen("requests");
    cr_expect(ends_with(before, "_requests") && strncmp(before, name, kind) == 0, "%s behind %s",
              name, before);
  }
}
