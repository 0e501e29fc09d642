// For tests of the scripts that call the compiler: a lab of one step in a folder
// of its own, and a toolkit that gives the recorded answers of nvcc and nvdisasm.
#ifndef TOOLKIT_H
#define TOOLKIT_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNEL_HALF "_Z16attention_kernelI13configurationILi128ELi64ELi4ELi2EE6__halfLi64EEvPKT0_"
#define KERNEL_BF16                                                                                \
  "_Z16attention_kernelI13configurationILi128ELi64ELi4ELi2EE13__nv_bfloat16Li64EEvPKT0_"
#define KERNEL_PLAIN "_Z14softmax_kernelPfS_"

// Recorded from nvcc 13.0, shortened. ptxas takes the kernels in another order than the source.
#define PTX                                                                                        \
  ".visible .entry " KERNEL_HALF "(\n\t.param .u64 p\n)\n.maxntid 128, 1, 1\n.minnctapersm 2\n{\n" \
  "\tld.shared.v4.f32 \t{%f1, %f2, %f3, %f4}, [%r1];\n"                                            \
  "\t@%p1 ld.shared.f32 \t%f1, [%r1];\n"                                                           \
  "\t// begin inline asm\n\t{ cp.async.cg.shared.global [%r1], [%rd1], 16; }\n"                    \
  "\t// end inline asm\n"                                                                          \
  "\twmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1};\n"                \
  "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};\n"              \
  "\t// bar.sync \t0;\n\tbar.sync \t0;\n\tret;\n}\n"                                               \
  ".visible .entry " KERNEL_BF16 "(\n\t.param .u64 p\n)\n.maxntid 32, 4\n{\n\tret;\n}\n"           \
  ".visible .entry " KERNEL_PLAIN "(\n\t.param .u64 p\n)\n{\n\tret;\n}\n"

#define REPORT(kernel, stack, stores, loads, used)                                                 \
  "ptxas info    : Compiling entry function '" kernel "' for 'sm_80'\n"                            \
  "ptxas info    : Function properties for " kernel "\n    " stack " bytes stack frame, " stores   \
  " bytes spill stores, " loads " bytes spill loads\nptxas info    : Used " used                   \
  ", 428 bytes cmem[0]\nptxas info    : Compile time = 1.5 ms\n"

#define LOG                                                                                        \
  REPORT(KERNEL_PLAIN, "0", "0", "0", "29 registers, used 1 barriers, 1024 bytes smem")            \
  REPORT(KERNEL_BF16, "0", "0", "0", "255 registers, used 1 barriers")                             \
  REPORT(KERNEL_HALF, "0", "0", "0", "128 registers, used 1 barriers, 4096 bytes smem")

#define LOG_WITH_STACK                                                                             \
  REPORT(KERNEL_PLAIN, "0", "0", "0", "29 registers")                                              \
  REPORT(KERNEL_BF16, "0", "0", "0", "255 registers")                                              \
  REPORT(KERNEL_HALF, "16", "0", "0", "128 registers, 4096 bytes smem")

#define LOG_WITH_SPILL                                                                             \
  REPORT(KERNEL_PLAIN, "0", "0", "0", "29 registers")                                              \
  REPORT(KERNEL_BF16, "8", "16", "20", "255 registers")                                            \
  REPORT(KERNEL_HALF, "0", "0", "0", "128 registers")

#define LISTING                                                                                    \
  "\t.target\tsm_80\n\n//--------------------- .text." KERNEL_HALF " --------------------------\n" \
  "\t.section\t.text." KERNEL_HALF ",\"ax\",@progbits\n" KERNEL_HALF ":\n"                         \
  "\t//## File \"ROOT/steps/99_recorded/attention.cu\", line 2\n"                                  \
  "        /*0000*/                   LDS.128 R4, [R2] ;\n.L_x_1:\n"                               \
  "        /*0010*/              @!P0 LDSM.16.M88.4 R4, [R2] ;\n"                                  \
  "\t//## File \"/opt/toolkit/include/crt/mma.hpp\", line 7\n"                                     \
  "        /*0020*/                   HMMA.16816.F32 R4, R4, R2, RZ ;\n"                           \
  "        /*0030*/                   LD.E R100, [R132.64+0x8900] ;\n"                             \
  "        /*0040*/                   EXIT ;\n"                                                    \
  "//--------------------- .text." KERNEL_PLAIN " --------------------------\n"                    \
  "        /*0000*/                   STL [R1], R2 ;\n"                                            \
  "        /*0010*/                   EXIT ;\n"

// A line of a script that stands in for a program of the lab, or for a tool that runs one: scripts/finished.sh.
#define FINISHES "echo finished >>\"$LAB_FINISHED\"\n"

typedef struct {
  int status;      // exit status; -1 when a signal ended it
  char out[32768]; // standard output and error, cut at the end
} script_result;

static char toolkit_folder[] = "/tmp/lab-test-XXXXXX";

static inline void toolkit_write(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s cannot be written", path);
}

// Writes a script that stands in for a program.
static inline void toolkit_write_program(const char *path, const char *text) {
  toolkit_write(path, text);
  cr_assert(chmod(path, 0700) == 0, "%s cannot be made executable", path);
}

static inline script_result toolkit_run(const char *command) {
  script_result result = {0};
  FILE *pipe = popen(command, "r");
  cr_assert(pipe, "no shell");
  result.out[fread(result.out, 1, sizeof result.out - 1, pipe)] = '\0';
  while (fgetc(pipe) != EOF) {
  }
  const int status = pclose(pipe);
  // This is /bin/sh, which need not be bash: what it does not understand must not pass for a command that failed.
  cr_assert(!strstr(result.out, "sh: 1: Syntax error"), "%s: %s", command, result.out);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

// Copies the scripts to a new folder, enters it, and puts the toolkit into its bin.
static inline void toolkit_enter(void) {
  cr_assert(mkdtemp(toolkit_folder), "no temporary folder");
  char command[256];
  snprintf(command, sizeof command,
           "{ mkdir %s/plots && cp plots/*.gp plots/*.awk %s/plots && cp -r scripts %s; } 2>&1",
           toolkit_folder, toolkit_folder, toolkit_folder);
  const script_result copied = toolkit_run(command);
  cr_assert(copied.status == 0 && chdir(toolkit_folder) == 0, "no scripts here: %s", copied.out);
  cr_assert(mkdir("bin", 0700) == 0 && mkdir("steps", 0700) == 0, "no folders");
  cr_assert(mkdir("steps/99_recorded", 0700) == 0, "no folder");
  toolkit_write("steps/99_recorded/attention.cu", "// the first line\n  the_second_line();\n");
  toolkit_write("ptx", PTX);
  toolkit_write("log", LOG);
  toolkit_write("listing", LISTING);
  toolkit_write("bin/nvcc", "#!/bin/bash\n"
                            "while [ $# -gt 0 ]; do\n"
                            "  case $1 in\n"
                            "  --keep-dir) keep=$2 ;;\n"
                            "  -o) object=$2 ;;\n"
                            "  esac\n"
                            "  shift\n"
                            "done\n"
                            "cat log\n"
                            "[ ! -e broken ] || exit 1\n"
                            "cp ptx \"$keep/attention.ptx\"\n"
                            "echo cubin >\"$keep/attention.cubin\"\n"
                            "gcc -x c -c /dev/null -o \"$object\"\n");
  toolkit_write("bin/nvdisasm", "#!/bin/bash\nsed \"s|ROOT|$PWD|\" listing\n");
  cr_assert(chmod("bin/nvcc", 0700) == 0 && chmod("bin/nvdisasm", 0700) == 0, "no permission");
  cr_assert(setenv("NVCC", "bin/nvcc", 1) == 0, "no environment");
}

static inline void toolkit_leave(void) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", toolkit_folder);
  cr_assert(toolkit_run(command).status == 0, "%s stays", toolkit_folder);
}

// Finds the parts in their order, where several blanks count as one, because a table's layout may change.
static inline void toolkit_expect(const script_result *result, const char *const *parts) {
  char text[sizeof result->out];
  size_t length = 0;
  for (const char *c = result->out; *c; c++) {
    if (*c != ' ' || length == 0 || text[length - 1] != ' ') text[length++] = *c;
  }
  text[length] = '\0';
  const char *at = text;
  for (; *parts; parts++) {
    const char *found = strstr(at, *parts);
    cr_assert(found, "'%s' is not there, or not in its place, in:\n%s", *parts, result->out);
    at = found + strlen(*parts);
  }
}

#define EXPECT(result, ...)                                                                        \
  toolkit_expect(&(result), (const char *const[]){__VA_ARGS__, (const char *)NULL})

#endif
