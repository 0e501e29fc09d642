// The parts of the ranks: dealt out from the trial's tensors, and collected there.
#include "device/device.h"
#include "group/group.h"
#include "shape/shape.h"
#include <stdlib.h>
#include <string.h>

static size_t own_rows(const attention_rows rows[2]) {
  return (size_t)rows[0].count + (size_t)rows[1].count;
}

// Copies a rank's rows of each head between a whole tensor and the rank's part of it. `row_bytes` are those of a row.
static void move_rows(char *whole, char *part, int heads, int seq, size_t row_bytes,
                      const attention_rows rows[2], bool to_part) {
  for (int head = 0; head < heads; head++) {
    for (int run = 0; run < 2; run++) {
      const size_t bytes = (size_t)rows[run].count * row_bytes;
      char *place = whole + ((size_t)head * (size_t)seq + (size_t)rows[run].first) * row_bytes;
      if (bytes > 0) memcpy(to_part ? part : place, to_part ? place : part, bytes);
      part += bytes;
    }
  }
}

typedef struct {
  guarded_buffer *buffer;
  const char *name;
  void *whole; // on the host
  int heads, seq;
  size_t row_bytes;
  const attention_rows *rows;
  bool input;
} dealt_tensor;

enum { TENSORS = 5 };

typedef struct {
  int q_heads, kv_heads, seq_q, seq_kv;
} dealt_rows;

// Whose rows are dealt out: those of each head, or those of all heads as if they were one sequence.
static dealt_rows rows_to_deal(const gpu_group *group, const attention_shape *shape) {
  const int q_heads = shape->batch * shape->heads, kv_heads = shape->batch * shape->kv_heads;
  if (group->by_heads) return (dealt_rows){1, 1, q_heads * shape->seq_q, kv_heads * shape->seq_kv};
  return (dealt_rows){q_heads, kv_heads, shape->seq_q, shape->seq_kv};
}

static void tensors_of(const gpu_group *group, gpu_rank *member, const trial *trial,
                       dealt_tensor tensors[TENSORS]) {
  const dealt_rows dealt = rows_to_deal(group, &trial->shape);
  const size_t row = (size_t)trial->shape.head_dim * sizeof(uint16_t);
  const dealt_tensor all[TENSORS] = {
      {&member->q, "Q", trial->q, dealt.q_heads, dealt.seq_q, row, member->q_rows, true},
      {&member->k, "K", trial->k, dealt.kv_heads, dealt.seq_kv, row, member->kv_rows, true},
      {&member->v, "V", trial->v, dealt.kv_heads, dealt.seq_kv, row, member->kv_rows, true},
      {&member->o, "O", trial->o, dealt.q_heads, dealt.seq_q, row, member->q_rows, false},
      {&member->lse, "lse", trial->lse, dealt.q_heads, dealt.seq_q, sizeof(float), member->q_rows,
       false},
  };
  memcpy(tensors, all, sizeof all);
}

static size_t part_bytes(const dealt_tensor *tensor) {
  return (size_t)tensor->heads * own_rows(tensor->rows) * tensor->row_bytes;
}

static bool deal_tensor(const dealt_tensor *tensor, bool bare, error_text *error) {
  const size_t bytes = part_bytes(tensor);
  if (!guard_allocate(tensor->buffer, tensor->name, bytes, bare, error)) return false;
  if (!tensor->input || bytes == 0) return true;
  char *part = malloc(bytes);
  if (!part) return fail(error, "not enough memory on the host to deal out %s", tensor->name);
  move_rows(tensor->whole, part, tensor->heads, tensor->seq, tensor->row_bytes, tensor->rows, true);
  const bool good = device_ok(cudaMemcpy(tensor->buffer->data, part, bytes, cudaMemcpyHostToDevice),
                              "copying a rank's inputs to its GPU", error);
  free(part);
  return good;
}

static bool make_workspaces(gpu_group *group, size_t bytes, bool bare, error_text *error) {
  for (int i = 0; i < group->count; i++) {
    if (!device_ok(cudaSetDevice(group->members[i].device), "selecting a GPU", error) ||
        !guard_allocate(&group->members[i].workspace, "the workspace", bytes, bare, error))
      return false;
  }
  return true;
}

bool group_deal(gpu_group *group, const attention_step *step, const trial *trial,
                error_text *error) {
  group->shape = trial->shape;
  const dealt_rows dealt = rows_to_deal(group, &trial->shape);
  for (int i = 0; i < group->count; i++) {
    gpu_rank *member = &group->members[i];
    step->group_rows(dealt.seq_q, member->group.rank, group->ranks, member->q_rows);
    step->group_rows(dealt.seq_kv, member->group.rank, group->ranks, member->kv_rows);
    if (!device_ok(cudaSetDevice(member->device), "selecting a GPU", error)) return false;
    dealt_tensor tensors[TENSORS];
    tensors_of(group, member, trial, tensors);
    for (int t = 0; t < TENSORS; t++)
      if (!deal_tensor(&tensors[t], trial->bare, error)) return false;
    group->peers[i] = (attention_peer){member->k.data, member->v.data};
    member->group.copies = member->copies; // of this copy of the group
    if (group->reachable) member->group.peers = group->peers;
  }
  return make_workspaces(group, step->group_workspace_bytes(&trial->shape, group->ranks),
                         trial->bare, error);
}

attention_args group_arguments(const gpu_group *group, const gpu_rank *member, bool o_alone) {
  void *workspace = member->workspace.data;
  // A rank without rows has no lse. An address, which is not used, tells it that the other ranks want theirs.
  float *lse = member->lse.data ? member->lse.data : workspace;
  return (attention_args){
      .shape = group->shape,
      .q = member->q.data,
      .k = member->k.data,
      .v = member->v.data,
      .o = member->o.data,
      .lse = o_alone ? NULL : lse,
      .workspace = workspace,
  };
}

bool group_collect(const gpu_group *group, gpu_rank *member, trial *trial, error_text *error) {
  dealt_tensor tensors[TENSORS];
  tensors_of(group, member, trial, tensors);
  for (int t = 0; t < TENSORS; t++) {
    const dealt_tensor *tensor = &tensors[t];
    const size_t bytes = part_bytes(tensor);
    if (tensor->input || bytes == 0 || (tensor->whole == trial->lse && trial->o_alone)) continue;
    char *part = malloc(bytes);
    bool good = part || fail(error, "not enough memory on the host to collect %s", tensor->name);
    good = good && device_ok(cudaMemcpy(part, tensor->buffer->data, bytes, cudaMemcpyDeviceToHost),
                             "copying a rank's outputs back", error);
    if (good)
      move_rows(tensor->whole, part, tensor->heads, tensor->seq, tensor->row_bytes, tensor->rows,
                false);
    free(part);
    if (!good) return false;
  }
  return true;
}

typedef struct {
  const attention_step *step;
  int launches;
  trial *trial;
} checked_run;

// Some ranks are in other processes.
static bool in_processes(const gpu_group *group) { return group->count < group->ranks; }

static size_t o_bytes(const trial *trial) {
  return shape_q_count(&trial->shape) * sizeof(uint16_t);
}

static size_t lse_bytes(const trial *trial) {
  return shape_lse_count(&trial->shape) * sizeof(float);
}

static bool run_member(gpu_group *group, gpu_rank *member, void *context, error_text *error) {
  const checked_run *run = context;
  if (!guard_poison(&member->o, error) || !guard_poison(&member->lse, error) ||
      !guard_poison_workspace(&member->workspace, error) ||
      !device_ok(cudaDeviceSynchronize(), "poisoning the outputs", error)) {
    return false;
  }
  const attention_args args = group_arguments(group, member, run->trial->o_alone);
  if (run->step->configure) run->step->configure(run->step->configuration);
  for (int i = 0; i < run->launches; i++)
    if (!group_line_up(group, member, error) ||
        !device_ok(run->step->forward_group(&args, &member->group, member->stream),
                   "launching the step", error))
      return false;
  if (!group_wait(group, member, error)) return false;
  return group_collect(group, member, run->trial, error);
}

bool group_run(gpu_group *group, const attention_step *step, int launches, trial *trial,
               error_text *error) {
  checked_run run = {step, launches, trial};
  // A row that belongs to no rank must not look right.
  memset(trial->o, CHECK_POISON, o_bytes(trial));
  if (!trial->o_alone) memset(trial->lse, CHECK_POISON, lse_bytes(trial));
  if (!group_each(group, run_member, &run, error)) return false;
  if (!in_processes(group)) return true;
  processes_merge(trial->o, o_bytes(trial));
  if (!trial->o_alone) processes_merge(trial->lse, lse_bytes(trial));
  return true;
}

static bool unchanged(const dealt_tensor *tensor, error_text *error) {
  const size_t bytes = part_bytes(tensor);
  if (bytes == 0) return true;
  char *now = malloc(bytes), *before = malloc(bytes);
  bool good = (now && before) || fail(error, "not enough memory to read %s back", tensor->name);
  good = good && device_ok(cudaMemcpy(now, tensor->buffer->data, bytes, cudaMemcpyDeviceToHost),
                           "reading an input back", error);
  if (good) {
    move_rows(tensor->whole, before, tensor->heads, tensor->seq, tensor->row_bytes, tensor->rows,
              true);
    if (memcmp(now, before, bytes) != 0)
      good = fail(error, "the step changed its input %s", tensor->name);
  }
  free(now);
  free(before);
  return good;
}

// Tells whether nothing was written outside of the tensors of this process' ranks, and nothing to their inputs.
static bool group_intact(gpu_group *group, const trial *trial, error_text *message) {
  bool good = true;
  for (int i = 0; i < group->count && good; i++) {
    gpu_rank *member = &group->members[i];
    cudaSetDevice(member->device);
    error_text error;
    dealt_tensor tensors[TENSORS];
    tensors_of(group, member, trial, tensors);
    for (int t = 0; t < TENSORS && good; t++)
      good = guard_intact(tensors[t].buffer, &error) &&
             (!tensors[t].input || unchanged(&tensors[t], &error));
    good = good && guard_intact(&member->workspace, &error);
    if (!good) fail(message, "rank %d: %s", member->group.rank, error.text);
  }
  cudaSetDevice(group->members[0].device);
  return good;
}

bool group_check(gpu_group *group, trial *trial, check_result *result) {
  const float *lse = trial->o_alone ? NULL : trial->lse;
  *result = (check_result){0};
  // All processes have the collected outputs, and the first one has the reference.
  bool good = group->members[0].group.rank > 0 ||
              check_outputs(&trial->shape, trial->o, lse, &trial->reference, result);
  good = good && group_intact(group, trial, &result->message);
  return in_processes(group) ? processes_all_good(good, &result->message) : good;
}

bool group_check_o_alone(gpu_group *group, const attention_step *step, trial *trial,
                         check_result *result) {
  const bool before = trial->o_alone;
  check_result alone = {0};
  trial->o_alone = true;
  const bool good =
      group_run(group, step, 1, trial, &alone.message) && group_check(group, trial, &alone);
  trial->o_alone = before;
  if (alone.o_error > result->o_error) result->o_error = alone.o_error;
  if (good) return true;
  *result = alone;
  return fail(&result->message, "where lse is not asked for: %s", alone.message.text);
}

bool group_check_timed(gpu_group *group, const attention_step *step, trial *trial,
                       check_result *result) {
  if (group_check_o_alone(group, step, trial, result)) return true;
  const error_text message = result->message;
  return fail(&result->message, "after it was timed, %s", message.text);
}
