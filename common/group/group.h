// Several GPUs that work on one problem: one host thread for each GPU, and NCCL between them. A rank that fails ends all
// ranks, with the first sentence of all and without waiting for ever.
#ifndef GROUP_H
#define GROUP_H

#include "check/check.h"
#include "group/processes.h"
#include "step/step.h"
#include "timing/figures.h"
#include "trial/guard.h"
#include "trial/trial.h"
#include <stdatomic.h>

enum {
  GROUP_MOST_RANKS = 64,
  GROUP_MOST_EMULATED = 8 // DEVICES_MAX of the emulator
};

// One rank of this process.
typedef struct {
  attention_group group;
  int device;
  cudaStream_t stream, copies[GROUP_MOST_RANKS];
  attention_rows q_rows[2], kv_rows[2]; // that the rank has: of each head, or of all heads in a row
  guarded_buffer q, k, v, o, lse, workspace;
} gpu_rank;

typedef struct {
  int ranks; // of all processes
  int count; // of this process: members[0] to members[count - 1]
  gpu_rank members[GROUP_MOST_RANKS];
  bool reachable; // each GPU reaches the memory of the others
  bool by_heads;  // a rank is dealt some of the heads, and not some rows of each head
  attention_peer peers[GROUP_MOST_RANKS];
  attention_shape shape;
  error_text doing; // what the sentence of a rank that fails begins with; empty where that is clear
  atomic_bool failed;                     // set once, by the first rank that fails
  error_text sentence;                    // of that rank
  atomic_uint lined_up[GROUP_MOST_RANKS]; // how often each member has called group_line_up
} gpu_group;

// Tells whether so many ranks can share out the shape on `gpus` GPUs. The sentence says what is too many.
bool group_fits(const attention_shape *shape, int ranks, int gpus, error_text *error);

// Lets the emulator imitate so many GPUs, or all that it can. Where EMU_GPUS is set, it changes nothing unless `overwrite`
// is true. GPUs do not read this.
void group_imitate(int gpus, bool overwrite);

// Tells whether the step can share the shape out among so many ranks. The sentence names the step, and says why not.
bool group_supported(const attention_step *step, const attention_shape *shape, int ranks,
                     error_text *error);

// Makes a group of `ranks` GPUs in this process, numbered from 0, and connects them. Prints a note where two of them
// cannot reach each other's memory, because their data then goes through the host.
bool group_open(gpu_group *group, int ranks, error_text *error);
void group_close(gpu_group *group);

// Ends the connections of a group in which a rank has failed, and with them the kernels of exchanges that wait for that
// rank. To free memory of these GPUs before would wait for such a kernel for ever. group_close does so by itself.
void group_abort(gpu_group *group);

// Makes the part of a group that is this process' one rank. All processes call it, and each uses one GPU of its machine.
bool group_open_process(gpu_group *group, const process_place *place, error_text *error);

// Deals the trial's Q, K and V out, and allocates outputs and the workspace of the step. group_undeal frees them, after
// which the group can be dealt to again; group_close does so as well. Copies of a group can be dealt to side by side: they
// share the connections, and one of them is closed in the end. Where a rank of a copy has failed, group_abort ends the
// connections of that copy before anything is freed, and the caller makes the others forget them.
bool group_deal(gpu_group *group, const attention_step *step, const trial *trial,
                error_text *error);
void group_undeal(gpu_group *group);

// Calls `work` for each rank of this process in a thread of its own, with the rank's GPU current, and waits for all.
// Where one fails, the others are ended, and `error` is the sentence of the first. `work` may call group_wait and
// group_line_up.
typedef bool group_work(gpu_group *group, gpu_rank *member, void *context, error_text *error);
bool group_each(gpu_group *group, group_work *work, void *context, error_text *error);

// Waits until the member's stream has done its work. Returns false when NCCL reports an error, when another rank has
// failed, or when LAB_LIMIT seconds have passed.
bool group_wait(gpu_group *group, gpu_rank *member, error_text *error);

// Waits until all ranks of this process have called it as often as this one; each calls it before each launch. So none
// begins a launch before all have enqueued the one before. A call of CUDA that takes memory, or that loads what it needs
// for the first time, may wait until all GPUs that reach each other's memory are idle (NVIDIA/nccl on GitHub, #744). If
// other ranks had enqueued further launches by then, their GPUs would wait in the exchange for the rank that is inside
// this call, and never be idle. Returns false when another rank has failed, or when LAB_LIMIT seconds have passed.
bool group_line_up(gpu_group *group, gpu_rank *member, error_text *error);

// The arguments of a rank's launch.
attention_args group_arguments(const gpu_group *group, const gpu_rank *member, bool o_alone);

// Poisons outputs and workspaces, launches the step so many times on all ranks without waiting in between, and collects O
// and lse of the last launch in the trial, from the ranks of all processes. With o_alone the trial's lse stays as it was.
bool group_run(gpu_group *group, const attention_step *step, int launches, trial *trial,
               error_text *error);

// Copies a rank's part of O, and of lse unless o_alone is set, to the trial, once its stream has done its work.
bool group_collect(const gpu_group *group, gpu_rank *member, trial *trial, error_text *error);

// Compares the collected outputs with the trial's reference. All red zones must be intact, and the inputs unchanged.
// Where there are several processes, all call it. Only the first one needs the reference, each examines the memory of its
// own rank, and all get the same answer, with the sentence of the first that found something.
bool group_check(gpu_group *group, trial *trial, check_result *result);

// Runs the step once more, for O alone, as launches do that are timed, and checks that O. `result` is that of group_check,
// and keeps the larger error of O. Returns false with result->message set when it is wrong, or when a rank fails, which
// group->failed tells.
bool group_check_o_alone(gpu_group *group, const attention_step *step, trial *trial,
                         check_result *result);

// The same, after the step has been timed: it may be right when it is checked, and do less in the launches after that.
bool group_check_timed(gpu_group *group, const attention_step *step, trial *trial,
                       check_result *result);

// Times launches on all ranks, back to back, and returns the milliseconds of one launch on the slowest rank of all
// processes, once for each of `rounds` rounds.
bool group_time(gpu_group *group, const attention_step *step, int launches, int rounds,
                double *milliseconds, error_text *error);

// Times the step in rounds of ten launches back to back, as timing/README.md says of launches on several GPUs. `rounds` is
// 0 where the noise shall decide how many there are. A round gives one time, the mean of its launches, so the percentiles
// of the figures are those of rounds. All processes call it, and get the same times.
bool group_measure(gpu_group *group, const attention_step *step, size_t rounds,
                   timing_figures *figures, error_text *error);

#endif
