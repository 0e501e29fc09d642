// scripts/fit.sh: a table in pieces that fit the terminal, whose width it finds.
#define _GNU_SOURCE
#include "tests/kept.h"
#include "tests/needs.h"
#include "toolkit.h"

static void enter(void) {
  toolkit_enter();
  toolkit_write("table", "step  adds          check  error\n"
                         "03    a grid        skipped: it takes no head_dim of 40\n"
                         "04    one kernel    ok       0.2\n"
                         "05    tensor cores  FAIL    10.1\n");
  unsetenv("COLUMNS");
}

TestSuite(fit, .init = enter, .fini = toolkit_leave);

// The sentence of a row that was skipped makes no column wider. It stands in the first piece, cut at the width.
Test(fit, rows_that_were_skipped) {
  script_result result = toolkit_run("COLUMNS=31 scripts/fit.sh <table");
  cr_expect_str_eq(result.out,
                   "step  adds          check\n03    a grid        skipped: i\n"
                   "04    one kernel    ok\n05    tensor cores  FAIL\n\n"
                   "step  error\n04      0.2\n05     10.1\n",
                   "%s", result.out);
  result = toolkit_run("scripts/fit.sh <table | cmp - table");
  cr_expect_eq(result.status, 0, "it is no terminal: %s", result.out);
}

// The table comes through a pipe, so the terminal is that of the output alone.
Test(fit, the_width_is_that_of_the_terminal) {
  needs_tool("script");
  needs_tool("tput");
#define ON_TERMINAL(columns)                                                                       \
  "script -qec 'export TERM=xterm; stty cols " columns                                             \
  "; cat table | scripts/fit.sh' /dev/null </dev/null | tr -d '\\r' | head -n 1"
  cr_expect_str_eq(kept(toolkit_run(ON_TERMINAL("31")).out), "step  adds          check\n");
  cr_expect_str_eq(kept(toolkit_run(ON_TERMINAL("60")).out), "step  adds          check  error\n");
}
