// make doctor: what it says of a machine that lacks something, by its exit status as well.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(doctor, .init = lab_enter, .fini = lab_leave);

// Runs the doctor on a machine that has the programs of $LAB_WORK/bin.
#define DOCTOR "PATH=$LAB_WORK/bin CUDA_VISIBLE_DEVICES= scripts/doctor.sh"

// A machine that loses one program after the other. Without some tools the lab runs, and some verbs do not. Without what
// each build needs, or with one that is too old, it cannot run.
Test(doctor, what_is_required_and_what_is_not) {
  EXPECT_STATUS(
      lab_run(
          "mkdir $LAB_WORK/bin && (IFS=:; for folder in $PATH; do find \"$folder\"/ -maxdepth 1 "
          "! -type d -print0 | xargs -0 ln -s -t $LAB_WORK/bin; done) 2>/dev/null; "
          "cd $LAB_WORK/bin && rm -f gnuplot*; ls bash"),
      0);
  script_result result = lab_run(DOCTOR);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "\noptional gnuplot -\n", "without it there are no charts\n",
         "\nWorks here: build, run, hunt, ladder, sanitize, ", " Does not: ", "plots (no gnuplot)",
         "\nDEVICE=cpu: there is no ");
  EXPECT_STATUS(lab_run("cd $LAB_WORK/bin && printf '#!/bin/sh\\necho no library >&2; exit 127\\n' "
                        ">gnuplot && chmod +x gnuplot"),
                0);
  result = lab_run(DOCTOR);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "\noptional gnuplot -\n",
         "-> it does not run: no library; install it anew: ", "plots (gnuplot does not run)");
  EXPECT_STATUS(
      lab_run(
          "cd $LAB_WORK/bin && rm g++ make && printf '#!/bin/sh\\necho GNU Make 3.81\\n' >make && "
          "chmod +x make"),
      0);
  result = lab_run(DOCTOR);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "\nmissing g++ ", "-> make deps", "\nold make 3.81 ",
         "-> the lab needs GNU make 4 or newer\n",
         "\nThe lab cannot run yet: repair first what the lines above say of g++, make.\n");
  cr_expect_null(strstr(result.out, "DEVICE=cpu:"), "%s", result.out);
}

// The letter behind the number opens instructions that are in this GPU alone.
Test(doctor, the_architecture_of_a_gpu) {
  const script_result result =
      lab_run("bash -c \"$(sed -n '/^architecture()/,/^}/p' scripts/doctor.sh); for capability in "
              "7.5 8.0 8.9 9.0 10.0 12.0 '[N/A]'; do architecture \\$capability; done\"");
  cr_expect_str_eq(result.out, "sm_75\nsm_80\nsm_89\nsm_90a\nsm_100a\nsm_120\n", "%s", result.out);
}

Test(doctor, options) {
  script_result result = lab_run("CUDA_VISIBLE_DEVICES= scripts/doctor.sh --device");
  cr_expect_str_eq(result.out, "cpu\n", "%s", result.out);
  EXPECT_STATUS(result, 0);
  result = lab_run("scripts/doctor.sh --help");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "scripts/doctor.sh --device ", "Exit status: 0 when the lab can run");
  result = lab_run("scripts/doctor.sh --gpus");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: scripts/doctor.sh does not know '--gpus'");
}

// Where CUDA is installed, the doctor also says whether the steps for several GPUs find what they need.
Test(doctor, looks_for_nccl) {
  script_result result =
      lab_run("mkdir -p $LAB_WORK/bin $LAB_WORK/nccl/include && "
              "printf '#!/bin/sh\\necho release 13.0,\\n' >$LAB_WORK/bin/nvcc && "
              "chmod +x $LAB_WORK/bin/nvcc && printf '#define NCCL_%%s\\n' 'MAJOR 2' 'MINOR 28' "
              "'PATCH 9' 'SUFFIX \"\"' >$LAB_WORK/nccl/include/nccl.h");
  EXPECT_STATUS(result, 0);
  result = lab_run("CUDA_HOME=$LAB_WORK NCCL_HOME=$LAB_WORK/nccl scripts/doctor.sh | grep NCCL");
  EXPECT(result, "ok", "NCCL", "2.28.9 /tmp/lab-workshop-", "/nccl\n");
  result = lab_run("CUDA_HOME=$LAB_WORK NCCL_HOME=$LAB_WORK/none scripts/doctor.sh | "
                   "grep -A1 NCCL");
  EXPECT(result, "optional", "NCCL", "make deps-nccl; without it, no steps for several GPUs");
}

// A copy of the scripts that takes a device file for that of a GPU, with a program that answers as nvidia-smi does, and one
// that compiles for no GPU before sm_75.
static void add_gpu(const char *smi) {
  const script_result copied =
      lab_run("cp -r Makefile make scripts $LAB_WORK && mkdir -p $LAB_WORK/bin && "
              "sed -i 's:/dev/nvidia.[^ ]*:/dev/null:' $LAB_WORK/scripts/doctor.sh");
  EXPECT_STATUS(copied, 0);
  char path[sizeof lab_work + 16], script[256];
  snprintf(script, sizeof script, "#!/bin/sh\necho '%s'\n", smi);
  snprintf(path, sizeof path, "%s/bin/nvidia-smi", lab_work);
  toolkit_write(path, script);
  snprintf(path, sizeof path, "%s/bin/nvcc", lab_work);
  toolkit_write(path,
                "#!/bin/bash\n"
                "case $* in\n"
                "*--version*) echo release ${RELEASE:-13.0}, && exit ;;\n"
                "*sm_70*) echo \"nvcc fatal : Unsupported gpu architecture 'sm_70'\" && exit 1 ;;\n"
                "esac\n"
                "while [ $1 != -o ]; do shift; done\n"
                "printf \"#!/bin/sh\\n[ ! -e $LAB_WORK/fails ] || { echo a fault; exit 1; }\" >$2\n"
                "chmod +x $2\n");
  EXPECT_STATUS(lab_run("chmod +x $LAB_WORK/bin/*"), 0);
}
#define WITH_GPU "cd $LAB_WORK && PATH=$PWD/bin:$PATH CUDA_HOME=$PWD scripts/doctor.sh | "

Test(doctor, says_where_verbs_work) {
  add_gpu("NVIDIA H100, 9.0, 81559, 80994, 580.65.06, Disabled");
  script_result result = lab_run(WITH_GPU "grep -A9 'a kernel'");
  EXPECT(result, "ok", "Works here: build, run", "bench", "Does not: ");
  result = lab_run("touch $LAB_WORK/fails; " WITH_GPU "grep -A9 'a kernel'");
  EXPECT(result, "old", "does not run: a fault", "Works here with DEVICE=cpu: build, run",
         "sanitize", "Does not: ", "bench (no kernel runs on the GPU)");
}

// A driver that does not work: its words are no version, and a kernel is tried all the same.
Test(doctor, tries_a_gpu_that_is_not_known) {
  add_gpu("NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.");
  script_result result = lab_run(WITH_GPU "grep -A9 ' GPU '");
  EXPECT(result, "none found", "-> NVIDIA-SMI has failed", "a kernel", "compiled for native",
         "give ARCH");
  result = lab_run("touch $LAB_WORK/fails; " WITH_GPU "grep -A9 ' NVIDIA driver  '");
  EXPECT(result, "a kernel", "does not run: a fault", "Works here with DEVICE=cpu");
  cr_expect(!strstr(result.out, "NVIDIA-SMI has failed"), "%s", result.out);
}

Test(doctor, knows_what_a_toolkit_lacks) {
  add_gpu("Tesla V100, 7.0, 16160, 16000, 580.65.06, [N/A]");
  script_result result = lab_run("export RELEASE=12.4; " WITH_GPU "grep -A1 nvcc");
  EXPECT(result, "old", "nvcc", "12.4 ", "need CUDA 12.5 or newer");
  result = lab_run(WITH_GPU "grep -e nvcc -e ' GPU ' -e Works");
  EXPECT(result, "ok", "nvcc", "13.0 ", "Tesla V100", "16000 MiB free\n");
  result = lab_run(WITH_GPU "grep -A9 'a kernel'");
  EXPECT(result, "old", "CUDA 13.0 does not compile for sm_70", "install the CUDA toolkit 12.9",
         "add DEVICE=cpu to every make");
}
