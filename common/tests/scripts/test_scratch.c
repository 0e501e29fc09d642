// The scratch folders of the scripts (scripts/scratch.sh): each script makes its own in one way, ends with a
// sentence where it cannot, and removes it.
#define _GNU_SOURCE
#include "toolkit.h"

TestSuite(scratch, .timeout = 60);

// A script that made its folder by itself could go on without one, with an empty name in all its paths. Two lines
// make something beside its target, and say in a sentence where they cannot.
Test(scratch, no_script_calls_mktemp_by_itself) {
  const script_result result =
      toolkit_run("grep -rnE '(^|[^_[:alnum:]])mktemp' scripts make Makefile steps plots .ci | "
                  "grep -v -e '^scripts/scratch.sh:' -e '^scripts/whole.sh:.*if ! mktemp ' "
                  "-e '^scripts/deps.sh:.*if mkdir -p .*mktemp '");
  cr_expect_str_empty(result.out, "use make_scratch of scripts/scratch.sh: %s", result.out);
}

Test(scratch, each_script_ends_where_it_can_make_none) {
  const script_result scripts = toolkit_run("grep -rlE '^make_scratch( |$)' scripts | sort");
  char list[sizeof scripts.out];
  strcpy(list, scripts.out);
  int count = 0;
  for (char *script = strtok(list, "\n"); script; script = strtok(NULL, "\n"), count++) {
    char command[256], sentence[128];
    snprintf(command, sizeof command, "TMPDIR=/nonexistent timeout 10 %s 2>&1 </dev/null", script);
    snprintf(sentence, sizeof sentence,
             "error: %s cannot make a scratch folder in /nonexistent: set TMPDIR to a folder",
             strrchr(script, '/') + 1);
    const script_result result = toolkit_run(command);
    cr_expect_eq(result.status, 2, "%s ended with %d", script, result.status);
    cr_expect(strncmp(result.out, sentence, strlen(sentence)) == 0, "%s said: %s", script,
              result.out);
    cr_expect_str_eq(strchrnul(result.out, '\n'), "\n", "%s said more: %s", script, result.out);
  }
  cr_expect_geq(count, 18, "only %d scripts make a scratch folder", count);
}

// At the end, and when a signal ends the script in the middle of its work.
Test(scratch, it_is_removed) {
  static const char *const endings[] = {"exit 3", "kill -TERM $$", "kill -HUP $$"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    char command[512];
    snprintf(command, sizeof command,
             "lab=$PWD; place=$(mktemp -d) && cd \"$place\" || exit; mkdir folder; touch also; "
             "TMPDIR=$PWD/folder bash -c '"
             ". \"$0\"; make_scratch also; : >\"$scratch/file\"; ls folder; %s; sleep 5' "
             "\"$lab/scripts/scratch.sh\" 2>&1; ls -A . folder; rm -r \"$place\"",
             endings[i]);
    const script_result result = toolkit_run(command);
    cr_expect(strncmp(result.out, "lab-", 4) == 0, "%s: %s", endings[i], result.out);
    static const char left[] = "\n.:\nfolder\n\nfolder:\n";
    const size_t length = strlen(result.out);
    cr_expect(length >= strlen(left) && strcmp(result.out + length - strlen(left), left) == 0,
              "%s leaves: %s", endings[i], result.out);
  }
}
