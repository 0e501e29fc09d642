// Prints the shared-memory budget of a step's configurations without a launch. It compares the shared memory
// that a block takes, for each padded head_dim, with the limits of the GPUs. The second argument is the architecture that
// the step needs, such as sm_80; older GPUs cannot run it.
#include "finish/finish.h"
#include "step/step.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// Limits per block and per multiprocessor, in kB of 1024 bytes. From the A100 on the system takes 1 kB of
// each block's share. Source: NVIDIA, CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability".
static const struct {
  const char *name;
  int architecture;
  size_t block; // by opt-in; any GPU gives 48 without asking
  size_t multiprocessor;
  size_t reserved;
} gpus[] = {{"T4", 75, 64, 64, 0},
            {"L4", 89, 99, 100, 1},
            {"A100", 80, 163, 164, 1},
            {"H100/H200", 90, 227, 228, 1}};
enum { GPUS = sizeof gpus / sizeof gpus[0] };

// Takes "sm_80" or "sm_90a" for 80 or 90.
static bool parse_architecture(const char *text, int *architecture, error_text *error) {
  char *end = NULL;
  const bool named = strncmp(text, "sm_", 3) == 0 && isdigit((unsigned char)text[3]);
  const long number = named ? strtol(text + 3, &end, 10) : 0;
  if (number < 1 || number > 999 || (strcmp(end, "") != 0 && strcmp(end, "a") != 0))
    return fail(error, "\"%s\" is no architecture: give one such as sm_80 or sm_90a", text);
  *architecture = (int)number;
  return true;
}

static void print_row(const char *name, int head_dim, size_t bytes, const char *needs,
                      int architecture) {
  const size_t kilobyte = 1024;
  printf("%-12s  %3d  %8zu  %6.1f  %-9s", name, head_dim, bytes, (double)bytes / 1024,
         bytes <= 48 * kilobyte ? "no" : "opt-in");
  for (int i = 0; i < GPUS; i++) {
    if (gpus[i].architecture < architecture) {
      printf("  %3s %-6s", "no", needs);
    } else if (bytes > gpus[i].block * kilobyte) {
      printf("  %10s", "too much");
    } else {
      const size_t blocks =
          gpus[i].multiprocessor * kilobyte / (bytes + gpus[i].reserved * kilobyte);
      printf("  %3zu %-6s", blocks, blocks == 1 ? "block" : "blocks");
    }
  }
  putchar('\n');
}

static int print_budget(int argc, char **argv) {
  error_text error;
  attention_step step;
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: budget STEP.so [sm_NN]\n");
    return EXIT_BAD_INPUT;
  }
  const char *const needs = argc == 3 ? argv[2] : "";
  int architecture = 0;
  if ((argc == 3 && !parse_architecture(needs, &architecture, &error)) ||
      !step_load(argv[1], &step, &error)) {
    fprintf(stderr, "error: %s\n", error.text);
    return EXIT_BAD_INPUT;
  }
  if (!step.configurations) {
    printf("%s: one configuration only; its sizes are in its constants\n", step.name);
    return EXIT_OK;
  }
  printf("%s: shared memory of a block, and blocks that fit a multiprocessor by it\n\n", step.name);
  printf("%-12s  %3s  %8s  %6s  %-9s", "config", "dim", "bytes", "kB", "over 48?");
  for (int i = 0; i < GPUS; i++) printf("  %10s", gpus[i].name);
  putchar('\n');
  for (const char *const *name = step.configurations(); *name; name++) {
    for (int head_dim = 32; head_dim <= 128; head_dim *= 2) {
      const attention_shape shape = {.batch = 1,
                                     .heads = 1,
                                     .kv_heads = 1,
                                     .seq_q = 1,
                                     .seq_kv = 1,
                                     .head_dim = head_dim,
                                     .scale = 1};
      step.configure(NULL); // what the step refuses in any of them
      if (step.unsupported(&shape)) continue;
      step.configure(*name);
      const size_t bytes = step.shared_memory_bytes(&shape);
      if (bytes > 0) print_row(*name, head_dim, bytes, needs, architecture);
    }
  }
  return EXIT_OK;
}

int main(int argc, char **argv) { return finish_run(print_budget, argc, argv); }
