// Which steps take part: those of the command line, and the parts of their work alone.
#include "groups/session.h"
#include <nccl.h>
#include <string.h>

// --- what is timed beside the steps for several GPUs ---------------------------------------------

// The step that runs on one GPU, in the form of a step for a group of one.
static attention_step alone;

static cudaError_t forward_alone(const attention_args *args, const attention_group *group,
                                 cudaStream_t stream) {
  (void)group;
  return alone.forward(args, stream);
}

static size_t workspace_alone(const attention_shape *shape, int ranks) {
  (void)ranks;
  return alone.workspace_bytes(shape);
}

// Equal shares for the exchange alone, which leaves out the rows of a remainder; a single rank has all rows.
static void equal_rows(int seq, int rank, int ranks, attention_rows rows[2]) {
  rows[0] = (attention_rows){seq / ranks * rank, seq / ranks};
  rows[1] = (attention_rows){seq, 0};
}

// The step for one GPU on each GPU, which has all rows of an equal share of the heads: as many products as in a step for
// several GPUs, and nothing to exchange.
static attention_shape share_of_heads(attention_shape shape, int ranks) {
  shape.heads /= ranks;
  shape.kv_heads /= ranks;
  return shape;
}

static cudaError_t multiply(const attention_args *args, const attention_group *group,
                            cudaStream_t stream) {
  attention_args share = *args;
  share.shape = share_of_heads(args->shape, group->ranks);
  return alone.forward(&share, stream);
}

static size_t workspace_of_products(const attention_shape *shape, int ranks) {
  const attention_shape share = share_of_heads(*shape, ranks);
  return alone.workspace_bytes(&share);
}

static const attention_step products_alone = {.name = "products_alone",
                                              .forward_group = multiply,
                                              .group_workspace_bytes = workspace_of_products,
                                              .group_rows = equal_rows};

static size_t share_bytes(const attention_shape *shape, int ranks) {
  const size_t row_bytes = (size_t)shape->head_dim * sizeof(uint16_t);
  return (size_t)shape->batch * (size_t)shape->kv_heads * (size_t)(shape->seq_kv / ranks) *
         row_bytes;
}

static size_t workspace_of_exchange(const attention_shape *shape, int ranks) {
  return 2 * (size_t)ranks * share_bytes(shape, ranks);
}

// K and V of all ranks to all ranks, and nothing else.
static cudaError_t exchange(const attention_args *args, const attention_group *group,
                            cudaStream_t stream) {
  const size_t bytes = share_bytes(&args->shape, group->ranks);
  char *V_all = (char *)args->workspace + (size_t)group->ranks * bytes;
  ncclResult_t result =
      ncclAllGather(args->k, args->workspace, bytes, ncclInt8, group->comm, stream);
  if (result == ncclSuccess)
    result = ncclAllGather(args->v, V_all, bytes, ncclInt8, group->comm, stream);
  return result == ncclSuccess ? cudaSuccess : cudaErrorUnknown;
}

static const attention_step exchange_alone = {.name = "exchange_alone",
                                              .forward_group = exchange,
                                              .group_workspace_bytes = workspace_of_exchange,
                                              .group_rows = equal_rows};

// The same bytes, which each rank copies from the others, and no rank waits for another. So the copy engines are busy all
// the time, and the time tells what the link carries. Each rank begins with the rank behind it, so that no two read from
// the same one as long as they keep pace.
static cudaError_t copy_from_peers(const attention_args *args, const attention_group *group,
                                   cudaStream_t stream) {
  const size_t bytes = share_bytes(&args->shape, group->ranks);
  cudaError_t status = cudaSuccess;
  for (int i = 1; i < group->ranks && status == cudaSuccess; i++) {
    const int rank = (group->rank + i) % group->ranks;
    char *K = (char *)args->workspace + (size_t)rank * bytes;
    char *V = K + (size_t)group->ranks * bytes;
    status = cudaMemcpyAsync(K, group->peers[rank].k, bytes, cudaMemcpyDeviceToDevice, stream);
    if (status == cudaSuccess)
      status = cudaMemcpyAsync(V, group->peers[rank].v, bytes, cudaMemcpyDeviceToDevice, stream);
  }
  return status;
}

static const attention_step copies_alone = {.name = "copies_alone",
                                            .forward_group = copy_from_peers,
                                            .group_workspace_bytes = workspace_of_exchange,
                                            .group_rows = equal_rows};

// An int for the sum of a meeting.
static size_t workspace_of_meeting(const attention_shape *shape, int ranks) {
  (void)shape, (void)ranks;
  return 256;
}

// A sum that is not read: no rank has it before all have come.
static cudaError_t meet(const attention_args *args, const attention_group *group,
                        cudaStream_t stream) {
  const ncclResult_t result =
      ncclAllReduce(args->workspace, args->workspace, 1, ncclInt32, ncclSum, group->comm, stream);
  return result == ncclSuccess ? cudaSuccess : cudaErrorUnknown;
}

static const attention_step meeting_alone = {.name = "meeting_alone",
                                             .forward_group = meet,
                                             .group_workspace_bytes = workspace_of_meeting,
                                             .group_rows = equal_rows};

// --- the command line ----------------------------------------------------------------------------

static bool add(session *s, const contender *added, error_text *error) {
  if (s->count == MOST_CONTENDERS)
    return fail(error, "give fewer steps: there is room for %d", MOST_CONTENDERS);
  s->contenders[s->count++] = *added;
  return true;
}

// On each number of GPUs, or on all alone where there are variants.
static bool add_sizes(session *s, contender added, error_text *error) {
  bool good = true;
  for (int size = s->variants ? s->size_count - 1 : 1; size < s->size_count && good; size++) {
    if (added.part == GROUPS_COPIES && !s->sizes[size].reachable) continue;
    if (added.part == GROUPS_PRODUCTS && GROUPS_HEADS % s->sizes[size].ranks != 0) continue;
    added.size = size;
    added.gpus = s->sizes[size].ranks;
    good = add(s, &added, error);
  }
  return good;
}

static const char of_variant[] = ":variant=";

static bool load_several(session *s, char *path, error_text *error) {
  contender added = {.part = GROUPS_WHOLE};
  char *colon = strstr(path, of_variant);
  if (colon) {
    *colon = '\0';
    added.variant = colon + sizeof of_variant - 1;
  }
  return step_load_group(path, &added.step, error) && add_sizes(s, added, error);
}

bool groups_load_contenders(session *s, int argc, char **argv, int *next, error_text *error) {
  if (!step_load(argv[(*next)++], &alone, error)) return false;
  const contender one = {.step = {.name = alone.name,
                                  .forward_group = forward_alone,
                                  .group_workspace_bytes = workspace_alone,
                                  .group_rows = equal_rows},
                         .gpus = 1};
  if (!add(s, &one, error)) return false;
  for (int i = *next; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strstr(argv[i], of_variant)) s->variants = true;
  for (; *next < argc && strcmp(argv[*next], "--") != 0; ++*next)
    if (!load_several(s, argv[*next], error)) return false;
  if (s->count == 1) return fail(error, "give a step for one GPU, and one for several or more");
  const contender parts[] = {
      {.step = products_alone, .part = GROUPS_PRODUCTS},
      {.step = exchange_alone, .part = GROUPS_EXCHANGE},
      {.step = copies_alone, .part = GROUPS_COPIES},
      {.step = meeting_alone, .part = GROUPS_MEETING},
  };
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!add_sizes(s, parts[i], error)) return false;
  return true;
}
