#include "options/option_table.h"

#include <string.h>

const option_description option_table[OPTION_COUNT] = {
    [OPTION_BATCH] = {"--batch", "N", "4", "batch entries (default 4; on the emulator 1)"},
    [OPTION_HEADS] = {"--heads", "N", "8", "heads of Q (default 8; on the emulator 2)"},
    [OPTION_KV_HEADS] = {"--kv-heads", "N", "2",
                         "heads of K and V; must divide --heads (default: as many)"},
    [OPTION_SEQ] = {"--seq", "N", "512",
                    "rows of Q, K and V: sequence length (default 512; on the\nemulator 128; for "
                    "several GPUs 1024)"},
    [OPTION_SEQ_Q] = {"--seq-q", "N", "512", "rows of Q alone (default as for --seq)"},
    [OPTION_SEQ_KV] = {"--seq-kv", "N", "512", "rows of K and V alone (default as for --seq)"},
    [OPTION_DIM] = {"--dim", "N", "64", "columns: head dimension (default 64)"},
    [OPTION_DTYPE] = {"--dtype", "TYPE", "fp16", "element type: fp16 or bf16 (default fp16)"},
    [OPTION_CAUSAL] = {"--causal", NULL, NULL, "row i of Q sees only keys j <= i + seq_kv - seq_q"},
    [OPTION_SCALE] = {"--scale", "X", "0.125", "multiplies Q K^T (default 1 / sqrt(dim))"},
    [OPTION_INPUTS] = {"--inputs", "KIND", "normal",
                       "what to fill Q, K and V with (default normal):\n"
                       "normal  standard normal values\n"
                       "large   Q thirty times larger: exp overflows without row max\n"
                       "equal   all rows alike: O is V's row\n"
                       "onehot  a row of Q points at one key in dim\n"
                       "ramp    values grow along rows and columns\n"
                       "limit   near the largest fp16\n"
                       "rising  scores grow along the keys, in each head otherwise"},
    [OPTION_SEED] = {"--seed", "N", "1", "seed of the inputs (default 1)"},
    [OPTION_Q] = {"--q", "Q.npy", "Q.npy", "read Q: [batch, heads, seq_q, dim]"},
    [OPTION_K] = {"--k", "K.npy", "K.npy", "read K: [batch, kv_heads, seq_kv, dim]"},
    [OPTION_V] = {"--v", "V.npy", "V.npy", "read V: as K"},
    [OPTION_OUT] = {"--out", "O.npy", "O.npy", "write O: [batch, heads, seq_q, dim]"},
    [OPTION_OUT_DTYPE] = {"--out-dtype", "TYPE", "float32",
                          "type of the file of O: float32; or the element type itself,\n"
                          "which is the default: float16 for fp16, bfloat16 (its bits\n"
                          "as uint16) for bf16"},
    [OPTION_LSE] = {"--lse", "L.npy", "L.npy",
                    "write the log-sum-exp of the scaled scores, natural\n"
                    "logarithm: [batch, heads, seq_q], float32"},
    [OPTION_O_ALONE] = {"--o-alone", NULL, NULL,
                        "ask the step for O alone, not for lse, as all launches do that\n"
                        "are timed"},
    [OPTION_NO_CHECK] = {"--no-check", NULL, NULL,
                         "do not compare with the float64 reference (saves seconds\n"
                         "on long sequences); what --out writes is then unchecked"},
    [OPTION_CONFIG] = {"--config", "NAME", "64x64x4x2",
                       "steps with several configurations only: which one runs, as\n"
                       "BLOCK_M x BLOCK_N x WARPS, from step 06 on x STAGES\n"
                       "(default: the best measured)"},
    [OPTION_SPLITS] = {"--splits", "N", "8",
                       "steps 18 to 20, 24 to 26: into how many splits the keys of a\n"
                       "tile are divided (default: from shape and multiprocessors)"},
    [OPTION_GPUS] = {"--gpus", "N", "2",
                     "steps for several GPUs only: how many share the rows (default:\n"
                     "all; on the emulator EMU_GPUS says how many there are)"},
    [OPTION_MPI] = {"--mpi", NULL, NULL,
                    "steps for several GPUs only: one process for each GPU, which\n"
                    "mpirun starts, as in mpirun -np 4 build/gpu/step23 --mpi"},
    [OPTION_EMU_SEED] = {"--emu-seed", "N", "1",
                         "emulator only: the order in which threads run; 0 is the\n"
                         "plain one (default 0, or what EMU_SEED says)"},
    [OPTION_NO_TIME] = {"--no-time", NULL, NULL, "do not measure the time"},
    [OPTION_ROUNDS] = {"--rounds", "N", "10",
                       "short runs to time, 1 to 30; five give an interval (default:\n"
                       "10, and more while the noise is above 0.5 %)"},
    [OPTION_WARM_UP] = {"--warm-up", "N", "10", "launches before that, not timed (default 10)"},
    [OPTION_WARM_L2] = {"--warm-l2", NULL, NULL,
                        "time on one set of buffers, so that a launch finds in the L2\n"
                        "cache what the one before left there; otherwise sets rotate"},
    [OPTION_CSV] = {"--csv", NULL, NULL,
                    "report as two lines of comma-separated values: names, values"},
    [OPTION_HELP] = {"--help", NULL, NULL, "print this text"},
};

option_id option_find(const char *name, size_t length) {
  for (int id = 0; id < OPTION_COUNT; id++) {
    const char *known = option_table[id].name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) return (option_id)id;
  }
  return OPTION_COUNT;
}

static size_t smallest(size_t a, size_t b, size_t c) {
  const size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

// Returns how many characters must be inserted, deleted or replaced to turn one into the other
// (Levenshtein, "Binary codes capable of correcting deletions, insertions, and reversals", 1966).
static size_t edit_distance(const char *known, const char *name, size_t length) {
  enum { LONGEST = 32 }; // more than any known name has
  size_t
      row[LONGEST]; // row[i]: distance of known's first i characters from name's characters so far
  const size_t known_length = strlen(known);
  for (size_t i = 0; i <= known_length; i++) row[i] = i;
  for (size_t j = 0; j < length; j++) {
    size_t diagonal = row[0];
    row[0] = j + 1;
    for (size_t i = 0; i < known_length; i++) {
      const size_t replaced = diagonal + (known[i] != name[j]);
      diagonal = row[i + 1];
      row[i + 1] = smallest(replaced, row[i] + 1, row[i + 1] + 1);
    }
  }
  return row[known_length];
}

option_id option_nearest(const char *name, size_t length) {
  option_id nearest = (option_id)0;
  size_t least = (size_t)-1;
  for (int id = 0; id < OPTION_COUNT; id++) {
    const size_t distance = edit_distance(option_table[id].name, name, length);
    if (distance >= least) continue;
    least = distance;
    nearest = (option_id)id;
  }
  return nearest;
}
