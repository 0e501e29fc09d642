// Which contenders there are on which numbers of GPUs, and that the copies alone copy all that they are timed for.
// LAB_BUILD is the folder of the build, where the steps of the test lie.
#define _GNU_SOURCE
#include "groups/session.h"
#include "shape/shape.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static session s;

// Loads the contenders for groups of one GPU, of two, and of three that do not reach each other's memory.
static void load(const char *variant) {
  const char *build = getenv("LAB_BUILD");
  if (!build) cr_skip_test("LAB_BUILD names no folder of a build, such as build/cpu");
  static char one[512], several[512]; // a contender keeps the name of its variant
  char *argv[] = {"groups", "data", "name", one, several, "--", "384"};
  int next = 3;
  error_text error;
  snprintf(one, sizeof one, "%.400s/sabotaged.so", build);
  snprintf(several, sizeof several, "%.400s/sabotaged_group.so%s", build, variant);
  for (int i = 0; i < 3; i++) s.sizes[i] = (gpu_group){.ranks = i + 1, .reachable = i < 2};
  s.size_count = 3;
  cr_assert(groups_load_contenders(&s, 7, argv, &next, &error), "%s", error.text);
  cr_assert_eq(next, 5);
}

typedef struct {
  const char *name;
  int gpus;
  groups_part part;
} expected;

static void expect_contenders(const expected *all, size_t count) {
  cr_assert_eq(s.count, (int)count, "there are %d contenders", s.count);
  for (size_t i = 0; i < count; i++) {
    const contender *c = &s.contenders[i];
    cr_expect_str_eq(c->step.name, all[i].name);
    cr_expect_eq(c->gpus, all[i].gpus, "%s: %d GPUs", c->step.name, c->gpus);
    cr_expect_eq(s.sizes[c->size].ranks, c->gpus, "%s has the connections of others", c->step.name);
    cr_expect_eq(c->part, all[i].part);
  }
}
#define EXPECT(...)                                                                                \
  expect_contenders((const expected[]){__VA_ARGS__},                                               \
                    sizeof((const expected[]){__VA_ARGS__}) / sizeof(expected))

// Three GPUs cannot have equal shares of 16 heads, and these three cannot copy from each other.
Test(contenders, on_each_number_of_gpus) {
  load("");
  EXPECT({"00_sabotaged", 1, GROUPS_WHOLE}, {"00_sabotaged", 2, GROUPS_WHOLE},
         {"00_sabotaged", 3, GROUPS_WHOLE}, {"products_alone", 2, GROUPS_PRODUCTS},
         {"exchange_alone", 2, GROUPS_EXCHANGE}, {"exchange_alone", 3, GROUPS_EXCHANGE},
         {"copies_alone", 2, GROUPS_COPIES}, {"meeting_alone", 2, GROUPS_MEETING},
         {"meeting_alone", 3, GROUPS_MEETING});
  cr_expect_null(s.contenders[1].variant);
}

Test(contenders, variants_run_on_all_gpus_alone) {
  load(":variant=other");
  EXPECT({"00_sabotaged", 1, GROUPS_WHOLE}, {"00_sabotaged", 3, GROUPS_WHOLE},
         {"exchange_alone", 3, GROUPS_EXCHANGE}, {"meeting_alone", 3, GROUPS_MEETING});
  cr_expect_str_eq(s.contenders[1].variant, "other");
}

static const contender *copies(void) {
  for (int i = 0; i < s.count; i++)
    if (s.contenders[i].part == GROUPS_COPIES) return &s.contenders[i];
  cr_assert_fail("there are no copies");
  return NULL;
}

enum { RANKS = 3 };

// Device memory of so many bytes, all of which have the value.
static void *filled(size_t bytes, int value) {
  void *memory = NULL;
  cr_assert(cudaMalloc(&memory, bytes) == cudaSuccess &&
            cudaMemset(memory, value, bytes) == cudaSuccess);
  return memory;
}

static void expect_bytes(const void *device, size_t bytes, int value, const char *what, int rank) {
  unsigned char *host = malloc(bytes);
  size_t wrong = 0;
  cr_assert(host && cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (size_t i = 0; i < bytes; i++) wrong += host[i] != value;
  cr_expect_eq(wrong, 0, "%zu of %zu bytes of %s of rank %d are wrong", wrong, bytes, what, rank);
  free(host);
}

// All K and V of the other ranks, and nothing of its own. The bandwidth is computed from the bytes that are copied: a
// share of K and one of V, of each other rank.
Test(contenders, copies_take_all_shares_of_the_others) {
  load("");
  const attention_shape shape = {ATTENTION_BF16, 1, 16, 16, 12, 12, 128, false, 1};
  const size_t share = shape_kv_count(&shape) * sizeof(uint16_t) / RANKS;
  const contender *c = copies();
  cr_assert_eq(c->step.group_workspace_bytes(&shape, RANKS), 2 * RANKS * share);
  attention_peer peers[RANKS] = {0};
  for (int rank = 0; rank < RANKS; rank++) {
    peers[rank].k = filled(share, 0x10 + rank);
    peers[rank].v = filled(share, 0x20 + rank);
  }
  for (int own = 0; own < RANKS; own++) {
    char *workspace = filled(2 * RANKS * share, 0xff);
    const attention_args args = {.shape = shape, .workspace = workspace};
    const attention_group group = {.rank = own, .ranks = RANKS, .peers = peers};
    cr_assert_eq(c->step.forward_group(&args, &group, NULL), cudaSuccess);
    cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
    for (int rank = 0; rank < RANKS; rank++) {
      const size_t at = (size_t)rank * share;
      expect_bytes(workspace + at, share, rank == own ? 0xff : 0x10 + rank, "K", rank);
      expect_bytes(workspace + RANKS * share + at, share, rank == own ? 0xff : 0x20 + rank, "V",
                   rank);
    }
    cudaFree(workspace);
  }
}
