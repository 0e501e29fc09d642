#include "options/help.h"

#include "options/option_table.h"
#include <string.h>

typedef struct {
  const char *title;
  option_id first; // a group is a run of the option table, up to the next group's first
} option_group;

static const option_group groups[] = {
    {"Problem", OPTION_BATCH},
    {"Inputs that the program makes", OPTION_INPUTS},
    {"Your own inputs (all three or none)", OPTION_Q},
    {"Outputs", OPTION_OUT},
    {"Check", OPTION_NO_CHECK},
    {"Time (on a GPU only)", OPTION_NO_TIME},
    {"Report", OPTION_CSV},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static void print_option(FILE *out, const option_description *option) {
  char usage[32];
  snprintf(usage, sizeof usage, "%s%s%s", option->name, option->value ? " " : "",
           option->value ? option->value : "");
  const char *line = option->help;
  for (int i = 0; *line; i++) {
    const size_t length = strcspn(line, "\n");
    fprintf(out, "      %-18s  %.*s\n", i == 0 ? usage : "", (int)length, line);
    line += length + (line[length] == '\n');
  }
}

void help_print(FILE *out, const char *program, const char *name, const char *summary) {
  fprintf(
      out,
      "NAME\n"
      "  %s - attention forward pass: %s\n"
      "\n"
      "WHAT IT DOES\n"
      "  Computes O = softmax(scale * Q K^T + mask) V with this step's kernels, compares every\n"
      "  element with a float64 reference, and reports how long a launch takes. Built for the\n"
      "  CPU, it runs the same kernels on an emulator and reports counts in place of times.\n"
      "\n"
      "USAGE\n"
      "  %s [OPTION]...\n"
      "  A value follows its option as --option VALUE or --option=VALUE.\n"
      "\n"
      "OPTIONS\n",
      name, summary, program);
  for (int group = 0; group < GROUPS; group++) {
    fprintf(out, "%s  %s\n", group == 0 ? "" : "\n", groups[group].title);
    const int end = group + 1 < GROUPS ? (int)groups[group + 1].first : OPTION_COUNT;
    for (int id = groups[group].first; id < end; id++) print_option(out, &option_table[id]);
  }
  fprintf(
      out,
      "\n"
      "FILES\n"
      "  Tensors are NumPy .npy files in C order. Q, K and V hold (batch, heads, seq, dim) in\n"
      "  float16 or float32, which are rounded to the nearest value of --dtype, or, with --dtype\n"
      "  bf16, in uint16: the bits of bf16, which NumPy has no type for. The problem's sizes come\n"
      "  from the files; a size option may repeat them, not contradict them. Every element must "
      "be\n"
      "  finite, also once it is rounded. An output file appears whole or not at all, and "
      "replaces\n"
      "  the one that was there, whose mode it keeps. A result that fails the check is not "
      "written.\n"
      "\n"
      "ENVIRONMENT\n"
      "  LAB_LIMIT  Seconds after which a kernel that has not ended counts as endless: the "
      "emulator\n"
      "             allows them to each block and reports block, thread and line; on a GPU they "
      "are\n"
      "             for the launch, and the program ends. Default 60; 0: no limit.\n"
      "\n"
      "EXIT STATUS\n"
      "  0  all is well\n"
      "  1  the result is wrong, or does not come (LAB_LIMIT on a GPU)\n"
      "  2  an option, a file or the device prevented the run\n"
      "\n"
      "EXAMPLES\n"
      "  The default problem, checked:\n"
      "      %s\n"
      "  One shape of grouped-query attention with a causal mask, in bf16:\n"
      "      %s --dtype bf16 --batch 1 --heads 8 --kv-heads 2 --seq 200 --causal\n"
      "  Your own tensors in, O and the log-sum-exp out:\n"
      "      %s --q Q.npy --k K.npy --v V.npy --out O.npy --lse L.npy\n",
      program, program, program);
}
