// scripts/sass.sh and scripts/ptx.sh on recorded answers of the compiler and of the disassembler.
#define _GNU_SOURCE
#include "toolkit.h"

TestSuite(listings, .init = toolkit_enter, .fini = toolkit_leave);

Test(listings, sass_counts_instructions) {
  const script_result result = toolkit_run("scripts/sass.sh sm_80 99_recorded 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result,
         "step for kernel all HMMA HGMMA LDGSTS UTMALDG LDSM LDS STS LD LDG STG FFMA MUFU BAR SHFL "
         "LDL STL\n",
         "99_recorded sm_80 attention_kernel<128x64x4x2, half, 64> 5 1 0 0 0 1 1 0 1 0 0 0 0 0 0 0 "
         "0\n",
         "99_recorded sm_80 softmax_kernel 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1\n",
         "written: build/sass/99_recorded.sm_80.sass");
}

Test(listings, sass_stands_between_source_lines) {
  toolkit_run("scripts/sass.sh sm_80 99_recorded 2>&1");
  const script_result result = toolkit_run("cat build/sass/*; ls -A build/sass");
  EXPECT(result, "// ==== attention_kernel<128x64x4x2, half, 64> ====",
         "// steps/99_recorded/attention.cu:2 the_second_line();\n /*0000*/ LDS.128 R4, [R2] ;\n",
         ".L_x_1:\n /*0010*/ @!P0 LDSM.16.M88.4", "// crt/mma.hpp:7 \n /*0020*/ HMMA",
         "// ==== softmax_kernel ====", " /*0000*/ STL [R1], R2 ;\n /*0010*/ EXIT ;\n",
         "99_recorded.sm_80.sass\n");
}

Test(listings, ptx_counts_instructions) {
  const script_result result = toolkit_run("scripts/ptx.sh sm_80 99_recorded 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result,
         "step for kernel all wmma.load wmma.mma wmma.store mma.sync wgmma.mma_async ldmatrix "
         "cp.async.ca cp.async.cg cp.async.bulk ld.shared st.shared bar.sync shfl.sync\n",
         "99_recorded sm_80 attention_kernel<128x64x4x2, half, 64> 7 0 1 0 1 0 0 0 1 0 2 0 1 0\n",
         "99_recorded sm_80 softmax_kernel 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
         "written: build/ptx/99_recorded.sm_80.ptx");
  const script_result saved = toolkit_run("cmp ptx build/ptx/99_recorded.sm_80.ptx 2>&1");
  cr_expect_eq(saved.status, 0, "%s", saved.out);
}

// It prints the command to run, and runs nothing by itself.
Test(listings, without_a_disassembler) {
  cr_assert(remove("bin/nvdisasm") == 0);
  // The scripts find only these programs.
  cr_assert(mkdir("path", 0700) == 0);
  toolkit_write("path/python3", "#!/bin/bash\ntouch asked\n");
  cr_assert(chmod("path/python3", 0700) == 0);
  const script_result result = toolkit_run(
      "for p in awk bash cat cut dirname env gcc grep mkdir mktemp mv nproc paste rm sed; do "
      "ln -s $(command -v $p) path/; done; "
      "PATH=$PWD/path scripts/sass.sh sm_80 99_recorded 2>&1; "
      "status=$?; [ ! -e asked ] || echo pip ran; exit $status");
  cr_expect_eq(result.status, 2, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "error: sass needs NVIDIA's disassembler nvdisasm", "run make deps-sass");
  cr_expect_null(strstr(result.out, "pip ran"));
}
