// The scripts write the same bytes in every locale of the user. Decimal commas,
// and a lower case of I that is not i, have falsified tables and charts before.
#define _GNU_SOURCE
#include "locales.h"
#include "recorded.h"

TestSuite(script_locale, .init = toolkit_enter, .fini = toolkit_leave);

#define DOCUMENT                                                                                   \
  "<!-- table: ladder test-gpu -->\n<!-- end of table -->\n"                                       \
  "<!-- table: peers test-gpu 64 fp16 0 -->\n<!-- end of table -->\n"                              \
  "<!-- table: ceilings test-gpu -->\n<!-- end of table -->\n"                                     \
  "<!-- table: bugs test-gpu -->\n<!-- end of table -->\n"

// Tables, charts, counts and aligned columns. The sums of all that is written.
#define WORK                                                                                       \
  "rm -rf plots/test-gpu data && scripts/tables.sh document.md && "                                \
  "{ ! command -v gnuplot || scripts/plot.sh \"speedup roofline\" test-gpu ladder; } && "          \
  "scripts/plot.sh --dumb speedup test-gpu ladder && "                                             \
  "printf 'step,device,global_load_requests\\n01_x,A,1.5\\n' | "                                   \
  "LAB_COMMIT=c scripts/record_counts.sh data && sed -i 's/,20[-0-9TZ:]*$//' data/counts.csv && "  \
  "printf 'a\\t×\\n1.5\\tb\\n' | LC_ALL=C awk -f scripts/align.awk && "                           \
  "cksum document.md data/* $(find plots/test-gpu -type f | sort) 2>&1"

Test(script_locale, german_and_turkish_change_nothing) {
  recorded_write_all();
  toolkit_write("document.md", DOCUMENT);
  cr_assert_eq(toolkit_run("scripts/tables.sh document.md").status, 0);
  const script_result plain = toolkit_run("export LC_ALL=C; " WORK);
  cr_assert_eq(plain.status, 0, "%s", plain.out);
  locales_make("de_DE tr_TR");
  const script_result comma =
      toolkit_run("LC_ALL=tr_TR.UTF-8 awk 'BEGIN { printf \"%.1f\", 0.5 }'");
  if (strcmp(comma.out, "0,5") != 0) cr_log_warn("this awk writes numbers as in C by itself");
  const char *const settings[] = {"LC_NUMERIC=de_DE.UTF-8", "LC_ALL=tr_TR.UTF-8"};
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    char command[2048];
    snprintf(command, sizeof command, "unset LC_ALL; export %s; " WORK, settings[i]);
    const script_result result = toolkit_run(command);
    cr_expect_eq(result.status, 0, "%s: it ended with %d", settings[i], result.status);
    cr_expect_str_eq(result.out, plain.out, "%s: %s\ninstead of\n%s", settings[i], result.out,
                     plain.out);
  }
}

// A script that is called by itself must not depend on make for it.
Test(script_locale, every_script_and_make_choose_c) {
  const script_result result =
      toolkit_run("grep -L '^export LC_ALL=C\\b' $(grep -l '^#!' scripts/*.sh scripts/*/*.sh)");
  cr_expect_str_eq(result.out, "", "without export LC_ALL=C: %s", result.out);
}

// Nor may what a reader's shell has set up for itself reach a script: with CDPATH, cd prints where it goes, and BASH_ENV
// names a file that each bash runs first.
Test(script_locale, every_script_keeps_the_settings_of_a_shell_out) {
  script_result result = toolkit_run("sed -s -n '1{ /^#!.*sh/{ \\|^#!/bin/bash -p$|!F } }' "
                                     "$(find scripts -type f)");
  cr_expect_str_eq(result.out, "", "without #!/bin/bash -p: %s", result.out);
  toolkit_write("noise", "echo noise\n");
  result = toolkit_run("CDPATH=/: BASH_ENV=$PWD/noise scripts/doctor.sh --device 2>&1");
  cr_expect(strcmp(result.out, "cpu\n") == 0 || strcmp(result.out, "gpu\n") == 0, "%s", result.out);
}

// In its POSIX mode bash takes $'\t' within double quotes for letters, if it stands in the word behind :+ and the like. A
// table then missed all of its data.
Test(script_locale, posix_mode_changes_nothing) {
  script_result result = toolkit_run("grep -rnE '\"[^\"]*\\{[^}]*:?[-+=?][^}\"]*\\$'\\' scripts");
  cr_expect_str_eq(result.out, "", "in POSIX mode no tab or line break: %s", result.out);
  toolkit_write("table.awk", "# Data: a.csv (make a), b.csv\n");
  result = toolkit_run("POSIXLY_CORRECT=1 bash -c '. scripts/sources.sh; sources table.awk Data'");
  cr_expect_str_eq(result.out, "a.csv\tmake a\nb.csv\n", "%s", result.out);
}
