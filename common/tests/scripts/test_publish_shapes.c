// scripts/publish.sh and record_counts.sh: a row replaces those of its own shape and source, and no others.
#define _GNU_SOURCE
#include "recorded.h"

static void enter(void) {
  toolkit_enter();
  cr_assert_eq(toolkit_run("git init -q . && mkdir -p results/test-gpu " FOLDER).status, 0);
}

TestSuite(publish_shapes, .init = enter, .fini = toolkit_leave);

// Publishes a file over an older one, and gives what is published then.
static script_result published(const char *name, const char *old, const char *fresh) {
  char path[64], command[256];
  recorded_write(name, old);
  snprintf(path, sizeof path, "results/test-gpu/%s.csv", name);
  toolkit_write(path, fresh);
  snprintf(command, sizeof command,
           "scripts/publish.sh test-gpu %s >log 2>&1; cat " FOLDER "/%s.csv", name, name);
  return toolkit_run(command);
}

// The type of the elements is part of the shape, and so are the scores that make spread spreads.
Test(publish_shapes, are_told_apart) {
#define TYPES  "step,dtype,seq_q,causal,ms\n"
#define SCORES "step,dtype,seq_q,causal,score_deviation,rising,ms\n"
  script_result result =
      published("bench", TYPES "01_x,fp16,512,0,1\n01_x,bf16,512,0,2\n01_x,fp16,512,1,3\n",
                TYPES "01_x,bf16,512,0,7\n");
  cr_expect_str_eq(result.out, TYPES "01_x,fp16,512,0,1\n01_x,bf16,512,0,7\n01_x,fp16,512,1,3\n",
                   "%s", result.out);
  result = published(
      "spread", SCORES "01_x,fp16,512,0,1,0,1\n01_x,fp16,512,0,16,0,2\n01_x,fp16,512,0,16,1,3\n",
      SCORES "01_x,fp16,512,0,16,0,7\n");
  cr_expect_str_eq(result.out,
                   SCORES "01_x,fp16,512,0,1,0,1\n01_x,fp16,512,0,16,0,7\n01_x,fp16,512,0,16,1,3\n",
                   "%s", result.out);
}

// Rows that cannot be put into the columns of the new file end it, and the published file stays as it is.
Test(publish_shapes, that_cannot_be_joined) {
#define OLD TYPES "01_x,fp16,512,0,1\n\"02_y\",fp16,1024,0,2\n"
  const script_result result =
      published("bench", OLD, "step,dtype,seq_q,causal,inputs,ms\n01_x,fp16,512,0,normal,7\n");
  cr_expect_str_eq(result.out, OLD, "%s", result.out);
  const script_result said = toolkit_run("cat log");
  EXPECT(said, "a row with quotes cannot be put into new columns");
  cr_expect_null(strstr(said.out, "published: "), "%s", said.out);
}

// A count of the GPU does not take the place of the emulator's, nor one without a mask that of one with a mask.
Test(publish_shapes, of_counts) {
#define COUNT(mask, source, sectors)                                                               \
  "printf 'step,dtype,causal,source,global_load_sectors\\n05_x,fp16," mask "," source "," sectors  \
  "\\n' | scripts/record_counts.sh data >log 2>&1; "
  const script_result result = toolkit_run(COUNT("0", "ncu", "1") COUNT("0", "emulator", "2") COUNT(
      "1", "ncu", "3") COUNT("0", "ncu", "7") "cut -d , -f 1,4,11,12,14 data/counts.csv");
  EXPECT(result, "causal,source,global_load_sectors\n05_x,fp16,0,ncu,7\n05_x,fp16,0,emulator,2\n"
                 "05_x,fp16,1,ncu,3\n");
}

// A record of sources that are not those of its commit says so.
Test(publish_shapes, of_a_changed_lab) {
#define COMMIT "bash -c '. scripts/origin.sh; echo \"$commit\"'"
  const script_result result = toolkit_run(
      "unset LAB_COMMIT; git add steps && git -c user.name=a -c user.email=a@b.c commit -qm all && "
      "git rev-parse --short HEAD && " COMMIT "; echo >>steps/99_recorded/attention.cu; " COMMIT
      "; LAB_COMMIT=given " COMMIT);
  char commit[64], said[64], changed[64], expected[80];
  cr_assert_eq(sscanf(result.out, "%63s %63s %63s given", commit, said, changed), 3, "%s",
               result.out);
  snprintf(expected, sizeof expected, "%s-dirty", commit);
  cr_expect_str_eq(said, commit);
  cr_expect_str_eq(changed, expected);
}
