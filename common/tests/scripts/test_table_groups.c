// scripts/tables.sh: tables of the steps for several GPUs.
#define _GNU_SOURCE
#include "tables.h"

TestSuite(table_groups, .init = tables_enter, .fini = toolkit_leave);

// Those of steps for several GPUs have an efficiency, and a table for each length, mask and number of GPUs. The
// expectations stand once, before them.
Test(table_groups, variants_on_several_gpus) {
  recorded_write("variants-groups",
                 "step,variant,device,gpus,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,"
                 "check,median_ms,"
                 "ci_low_ms,ci_high_ms,efficiency,commit,date\n"
                 "17_one,,Test GPU,1,bf16,1,16,16,512,512,128,0,ok,6,6,6,1," ORIGIN
                 "23_far,,Test GPU,2,bf16,1,16,16,512,512,128,0,ok,4,3.992,4.008,0.75," ORIGIN
                 "23_far,near,Test GPU,2,bf16,1,16,16,512,512,128,0,ok,3.2,3.19,3.21,0.9375," ORIGIN
                 "23_far,far,Test GPU,2,bf16,1,16,16,512,512,128,0,ok,5,5,5,0.6," ORIGIN
                 "23_far,,Test GPU,2,bf16,1,16,16,512,512,128,1,ok,2,2,2,0.5," ORIGIN
                 "23_far,near,Test GPU,2,bf16,1,16,16,512,512,128,1,ok,2,2,2,0.5," ORIGIN
                 "23_far,no_more,Test GPU,2,bf16,1,16,16,512,512,128,1,ok,1,1,1,0.99," ORIGIN
                 "23_far,,Test GPU,4,bf16,1,16,16,512,512,128,0,ok,7,7,7,0.25," ORIGIN);
  cr_assert_eq(toolkit_run("mkdir -p steps/23_far/variants").status, 0);
  toolkit_write("steps/23_far/variants/near.patch", "Title: Nearer\nExpect: Faster\n\n--- a/x\n");
  toolkit_write("steps/23_far/variants/far.patch", "Title: Far\nExpect: Slower\n\n--- a/x\n");
  const script_result result = filled(BLOCK("variants_groups test-gpu 23"));
  EXPECT(result,
         "| variant | what was expected |\n|---|---|\n"
         "| [near](variants/near.patch): Nearer | Faster |\n"
         "| [far](variants/far.patch): Far | Slower |\n\n"
         "2 GPUs, heads 16, seq 512, head_dim 128, bf16.\n",
         "| the step itself | 4.000 [3.992, 4.008] | 75.0 % | |\n",
         "| near | 3.200 [3.190, 3.210] | 93.8 % | 1.25 |\n"
         "| far | 5.000 [5.000, 5.000] | 60.0 % | 0.80 |\n\n",
         "bf16, causal.\n", "| the step itself |", "| 50.0 % | |\n");
  cr_expect_null(strstr(result.out, "6.000"), "%s", result.out);
  cr_expect_null(strstr(result.out, "no_more"), "a form whose patch is no more: %s", result.out);
  cr_expect_null(strstr(result.out, "4 GPUs"), "the step alone: %s", result.out);
  const char *once = strstr(result.out, "bf16.");
  cr_expect(once && !strstr(once + 1, "bf16."), "%s", result.out);
  const char *expected = strstr(result.out, "Nearer");
  cr_expect(expected && !strstr(expected + 1, "Nearer"), "%s", result.out);
}

// The substeps of a step for several GPUs stand in their order, each with its ratio to the source before it.
Test(table_groups, substeps_on_several_gpus) {
  script_result result = filled(BLOCK("substeps_groups test-gpu 23"));
  EXPECT(result, "Not recorded yet: `" FOLDER "/substeps-groups.csv`");
  recorded_write(
      "substeps-groups",
      "step,variant,device,gpus,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,"
      "check,median_ms,"
      "ci_low_ms,ci_high_ms,efficiency,commit,date\n"
      "17_one,,Test GPU,1,bf16,1,16,16,512,512,128,0,ok,6,6,6,1," ORIGIN
      "23_far,,Test GPU,2,bf16,1,16,16,512,512,128,0,ok,2,1.992,2.008,0.75," ORIGIN
      "23_far,0_the_step_before,Test GPU,2,bf16,1,16,16,512,512,128,0,ok,4,4,4,0.5," ORIGIN
      "23_far,1_near,Test GPU,2,bf16,1,16,16,512,512,128,0,ok,5,5,5,0.6," ORIGIN
      "23_far,2_no_more,Test GPU,2,bf16,1,16,16,512,512,128,0,ok,1,1,1,0.9," ORIGIN);
  cr_assert_eq(toolkit_run("mkdir -p steps/23_far/substeps").status, 0);
  toolkit_write("steps/23_far/substeps/1_near.patch", "Title: Nearer\n\n--- a/x\n");
  result = filled(BLOCK("substeps_groups test-gpu 23"));
  EXPECT(result,
         "| source | 2 GPUs, heads 16, seq 512, head_dim 128, bf16, ms [95 %] | × the source "
         "before |\n",
         "| the step before | 4.000 [4.000, 4.000] | |\n"
         "| [1_near](substeps/1_near.patch): Nearer | 5.000 [5.000, 5.000] | 0.80 |\n"
         "| the step itself, behind the last substep | 2.000 [1.992, 2.008] | 2.50 |\n");
  cr_expect_null(strstr(result.out, "no_more"), "a form whose patch is no more: %s", result.out);
  cr_expect_null(strstr(result.out, "6.000"), "another step: %s", result.out);
}

// Measured points, and the length from which on 95 % hold by the model. For two GPUs T / P is 2 ms at 16384 rows, C is
// 0.671 ms there, and 2 / (2 + 0.084 + 0.1) is less than 95 %; with 24.7 * 1024 rows, 4.55 / (4.55 + 0.126 + 0.1) is more.
// For 64 GPUs T / P must be 4.75 C: 0.0625 ms at 16384 rows, and C 2.642 ms, so that is at 16384 * 4.75 * 42.3 rows.
Test(table_groups, several_gpus) {
  const script_result none = filled(BLOCK("groups test-gpu"));
  EXPECT(none, "Not recorded yet: `" FOLDER "/groups.csv` (`make groups`,");
  recorded_write("groups", GROUPS);
  const script_result result = filled(BLOCK("groups test-gpu"));
  EXPECT(
      result, "Measured: heads 16, head_dim 128, bf16.\n",
      "| step | seq | causal | 2 GPUs: ms [95 %] | efficiency | 4 GPUs: ms [95 %] | efficiency "
      "|\n",
      "| 23 far | 16384 | no | 2.500 [2.500, 2.500] | 80.0 % | 1.250 [1.250, 1.250] | 80.0 % "
      "|\n",
      "The model assumes a link of 100 GB/s by the copies alone on 2 GPUs, 100 µs for the start of "
      "an exchange, and 50 GB/s for each GPU between hosts, which is quoted and not measured.\n",
      "| 2 | 1 | 100 GB/s | 25k | 41k |\n", "| 64 | 8 | 50 GB/s, quoted | 3444k | 6889k |\n",
      "| seq | causal | 2 GPUs: model | measured | 4 GPUs: model | measured |\n",
      "| 16384 | no | 91.6 % | 80.0 % | ");
}

// A record that has them shows the interval of the efficiency, the products alone, and that a row was throttled.
Test(table_groups, intervals_and_the_products_alone) {
  recorded_write("groups", GROUPS_WITH_LINK);
  recorded_write("variants-groups", GROUPS_WITH_LINK);
  script_result result = filled(BLOCK("groups test-gpu"));
  EXPECT(result, "| step | seq | causal | 2 GPUs: ms [95 %] | efficiency |\n",
         "| 23 far | 16384 | no | 2.500 [2.400, 2.600], throttled | 80.0 % [79.0, 81.2] |\n",
         "| products alone | 16384 | no | 2.100 [2.100, 2.100] | 95.0 % [95.0, 95.0] |\n");
  cr_expect_null(strstr(result.out, "copies"), "%s", result.out);
  cr_assert_eq(toolkit_run("mkdir -p steps/23_far").status, 0);
  result = filled(BLOCK("variants_groups test-gpu 23"));
  EXPECT(result, "| the step itself | 2.500 [2.400, 2.600], throttled | 80.0 % [79.0, 81.2] |");
}
