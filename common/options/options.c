#include "options/options.h"

#include "file/file.h"
#include "options/number.h"
#include "shape/shape.h"
#include "timing/timing.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LARGEST_SIZE = 1 << 30, MOST_LAUNCHES = 1000000, MOST_SPLITS = 65536 };

static bool parse_size(const char *name, const char *text, int *size, error_text *error) {
  int64_t value = 0;
  if (!number_parse_integer(name, text, 1, LARGEST_SIZE, &value, error)) return false;
  *size = (int)value;
  return true;
}

static bool parse_count(const char *name, const char *text, int64_t least, int64_t most,
                        size_t *count, error_text *error) {
  int64_t value = 0;
  if (!number_parse_integer(name, text, least, most, &value, error)) return false;
  *count = (size_t)value;
  return true;
}

// Looks `text` up among the words; the sentence of a failure lists them.
static bool parse_word(const char *name, const char *text, const char *const *words, int count,
                       int *index, error_text *error) {
  for (int i = 0; i < count; i++) {
    if (strcmp(text, words[i]) == 0) {
      *index = i;
      return true;
    }
  }
  char list[256] = "";
  for (int i = 0; i < count; i++) {
    strcat(list, i == 0 ? "" : i == count - 1 ? " or " : ", ");
    strcat(list, words[i]);
  }
  return fail(error, "%s is \"%s\": give %s", name, text, list);
}

static bool parse_dtype(const char *name, const char *text, attention_dtype *dtype,
                        error_text *error) {
  static const char *const words[] = {[ATTENTION_FP16] = "fp16", [ATTENTION_BF16] = "bf16"};
  int index = 0;
  if (!parse_word(name, text, words, 2, &index, error)) return false;
  *dtype = (attention_dtype)index;
  return true;
}

static bool parse_inputs(const char *name, const char *text, inputs_kind *kind, error_text *error) {
  const char *words[INPUTS_KINDS];
  for (int i = 0; i < INPUTS_KINDS; i++) words[i] = inputs_name((inputs_kind)i);
  int index = 0;
  if (!parse_word(name, text, words, INPUTS_KINDS, &index, error)) return false;
  *kind = (inputs_kind)index;
  return true;
}

static bool parse_out_dtype(const char *name, const char *text, output_dtype *dtype,
                            error_text *error) {
  static const char *const words[] = {
      [OUTPUT_FLOAT16] = "float16", [OUTPUT_BFLOAT16] = "bfloat16", [OUTPUT_FLOAT32] = "float32"};
  int index = 0;
  if (!parse_word(name, text, words, 3, &index, error)) return false;
  *dtype = (output_dtype)index;
  return true;
}

// `value` is NULL for a flag, which `given` holds already.
static bool set_option(options *options, option_id id, const char *value, error_text *error) {
  const char *name = option_table[id].name;
  attention_shape *shape = &options->shape;
  switch (id) {
  case OPTION_BATCH: return parse_size(name, value, &shape->batch, error);
  case OPTION_HEADS: return parse_size(name, value, &shape->heads, error);
  case OPTION_KV_HEADS: return parse_size(name, value, &shape->kv_heads, error);
  case OPTION_SEQ:
    return parse_size(name, value, &shape->seq_q, error) &&
           parse_size(name, value, &shape->seq_kv, error);
  case OPTION_SEQ_Q: return parse_size(name, value, &shape->seq_q, error);
  case OPTION_SEQ_KV: return parse_size(name, value, &shape->seq_kv, error);
  case OPTION_DIM: return parse_size(name, value, &shape->head_dim, error);
  case OPTION_DTYPE: return parse_dtype(name, value, &shape->dtype, error);
  case OPTION_SCALE: return number_parse_float(name, value, &shape->scale, error);
  case OPTION_INPUTS: return parse_inputs(name, value, &options->inputs, error);
  case OPTION_SEED: return number_parse_unsigned(name, value, &options->seed, error);
  case OPTION_Q: options->q = value; return true;
  case OPTION_K: options->k = value; return true;
  case OPTION_V: options->v = value; return true;
  case OPTION_OUT: options->out = value; return true;
  case OPTION_OUT_DTYPE: return parse_out_dtype(name, value, &options->out_dtype, error);
  case OPTION_LSE: options->lse = value; return true;
  case OPTION_CONFIG: options->config = value; return true;
  case OPTION_SPLITS: return parse_count(name, value, 1, MOST_SPLITS, &options->splits, error);
  case OPTION_GPUS: return parse_size(name, value, &options->gpus, error);
  case OPTION_EMU_SEED: return number_parse_unsigned(name, value, &options->emu_seed, error);
  case OPTION_ROUNDS:
    return parse_count(name, value, 1, TIMING_MOST_ROUNDS, &options->rounds, error);
  case OPTION_WARM_UP: return parse_count(name, value, 0, MOST_LAUNCHES, &options->warm_up, error);
  case OPTION_CAUSAL: shape->causal = true; return true;
  case OPTION_MPI:
  case OPTION_O_ALONE:
  case OPTION_NO_CHECK:
  case OPTION_NO_TIME:
  case OPTION_WARM_L2:
  case OPTION_CSV:
  case OPTION_HELP:
  case OPTION_COUNT: break;
  }
  return true;
}

// Reads the argument number `*next`, "--name", "--name=value" or "--name" and "value", and steps over
// it.
static bool parse_argument(int argc, char *const *argv, int *next, options *options,
                           error_text *error) {
  const char *argument = argv[(*next)++];
  if (strncmp(argument, "--", 2) != 0) {
    return fail(error, "\"%s\" is not an option: options begin with -- (--help lists them)",
                argument);
  }
  const size_t length = strcspn(argument, "=");
  const option_id id = option_find(argument, length);
  if (id == OPTION_COUNT) {
    return fail(error, "there is no option %.*s: the nearest is %s (--help lists them)",
                (int)length, argument, option_table[option_nearest(argument, length)].name);
  }
  const option_description *option = &option_table[id];
  if (options->given[id]) return fail(error, "%s is given twice: leave one out", option->name);
  options->given[id] = true;

  const char *value = argument[length] == '=' ? argument + length + 1 : NULL;
  if (!option->value) {
    return value ? fail(error, "%s is a switch and takes no value: leave \"=%s\" out", option->name,
                        value)
                 : set_option(options, id, NULL, error);
  }
  // A word with two dashes is the next option rather than a value; "--out=--odd" writes to "--odd".
  if (!value && *next < argc && strncmp(argv[*next], "--", 2) != 0) value = argv[(*next)++];
  if (!value || *value == '\0') {
    return fail(error, "%s needs a value: for example %s %s", option->name, option->name,
                option->example);
  }
  return set_option(options, id, value, error);
}

static bool check_inputs_given(const options *options, error_text *error) {
  const option_id files[] = {OPTION_Q, OPTION_K, OPTION_V};
  option_id present = OPTION_COUNT;
  option_id absent = OPTION_COUNT;
  for (int i = 0; i < 3; i++) *(options->given[files[i]] ? &present : &absent) = files[i];
  if (present == OPTION_COUNT) return true;
  if (absent != OPTION_COUNT) {
    return fail(error, "%s is given without %s: give all three of --q, --k and --v, or none",
                option_table[present].name, option_table[absent].name);
  }
  const option_id makers[] = {OPTION_INPUTS, OPTION_SEED};
  for (int i = 0; i < 2; i++) {
    if (!options->given[makers[i]]) continue;
    return fail(error,
                "%s makes tensors, and --q, --k and --v read them: leave one or the other out",
                option_table[makers[i]].name);
  }
  return true;
}

static bool check_outputs_given(options *options, error_text *error) {
  const bool fp16 = options->shape.dtype == ATTENTION_FP16;
  const output_dtype own = fp16 ? OUTPUT_FLOAT16 : OUTPUT_BFLOAT16;
  if (!options->given[OPTION_OUT_DTYPE]) options->out_dtype = own;
  if (options->out_dtype != own && options->out_dtype != OUTPUT_FLOAT32) {
    return fail(error, "O is %s: --out-dtype can be %s or float32",
                shape_dtype_name(options->shape.dtype), fp16 ? "float16" : "bfloat16");
  }
  if (options->given[OPTION_OUT_DTYPE] && !options->out) {
    return fail(error, "--out-dtype is the type of the file that --out names: give --out as well");
  }
  const char *const files[] = {options->out, options->lse, options->q, options->k, options->v};
  const option_id ids[] = {OPTION_OUT, OPTION_LSE, OPTION_Q, OPTION_K, OPTION_V};
  for (int i = 0; i < 2; i++) {
    for (int j = i + 1; j < 5; j++) {
      if (!files[i] || !files[j]) continue;
      if (strcmp(files[i], files[j]) != 0 && !file_same(files[i], files[j])) continue;
      return fail(error, "%s and %s name the same file %s: give another name to write to",
                  option_table[ids[i]].name, option_table[ids[j]].name, files[i]);
    }
  }
  return true;
}

// Refuses options that are valid by themselves, but not together.
static bool check_combination(options *options, error_text *error) {
  const option_id one_side[] = {OPTION_SEQ_Q, OPTION_SEQ_KV};
  for (int i = 0; i < 2; i++) {
    if (!options->given[OPTION_SEQ] || !options->given[one_side[i]]) continue;
    return fail(error, "--seq sets both lengths already: leave it out, or %s",
                option_table[one_side[i]].name);
  }
  const option_id times[] = {OPTION_ROUNDS, OPTION_WARM_UP, OPTION_WARM_L2};
  for (int i = 0; i < 3; i++) {
    if (!options->given[OPTION_NO_TIME] || !options->given[times[i]]) continue;
    return fail(error, "%s says how to measure the time and --no-time not to: leave one out",
                option_table[times[i]].name);
  }
  if (options->given[OPTION_O_ALONE] && options->given[OPTION_LSE])
    return fail(error, "--lse writes what --o-alone does not ask the step for: leave one out");
  return check_inputs_given(options, error) && check_outputs_given(options, error);
}

// The configuration's name for the step, which holds the splits as well.
static void name_splits(options *options) {
  static char name[64];
  if (!options->given[OPTION_SPLITS]) return;
  snprintf(name, sizeof name, "%s:%zu", options->config ? options->config : "", options->splits);
  options->config = name;
}

bool options_parse(int argc, char *const *argv, options *options, error_text *error) {
  *options = (struct options){.seed = 1, .warm_up = 10};
  for (int next = 1; next < argc;) {
    if (strcmp(argv[next], "--help") == 0 || strcmp(argv[next], "-h") == 0) {
      options->given[OPTION_HELP] = true;
      return true;
    }
    if (!parse_argument(argc, argv, &next, options, error)) return false;
  }
  name_splits(options);
  return check_combination(options, error);
}

bool options_fit_one_gpu(const options *options, error_text *error) {
  static const option_id several[] = {OPTION_GPUS, OPTION_MPI};
  for (int i = 0; i < 2; i++)
    if (options->given[several[i]])
      return fail(error,
                  "%s is for the steps for several GPUs, from 21 on, and this step works on "
                  "one: leave it out",
                  option_table[several[i]].name);
  return true;
}

bool options_fit_device(const options *options, bool emulated, error_text *error) {
  if (!emulated) {
    return !options->given[OPTION_EMU_SEED] ||
           fail(error,
                "--emu-seed sets the emulator's order of threads, and this program runs on a "
                "GPU, whose order cannot be set: leave it out");
  }
  const option_id times[] = {OPTION_ROUNDS, OPTION_WARM_UP, OPTION_WARM_L2};
  for (int i = 0; i < 3; i++) {
    if (!options->given[times[i]]) continue;
    return fail(error,
                "%s says how to measure the time, which on the emulator means nothing: "
                "leave it out, or build with DEVICE=gpu",
                option_table[times[i]].name);
  }
  return true;
}

float options_default_scale(int head_dim) { return (float)(1.0 / sqrt((double)head_dim)); }

attention_shape options_shape(const options *options, bool emulated) {
  attention_shape shape = options->shape;
  if (shape.batch == 0) shape.batch = emulated ? 1 : 4;
  if (shape.heads == 0) shape.heads = emulated ? 2 : 8;
  if (shape.kv_heads == 0) shape.kv_heads = shape.heads;
  if (shape.seq_q == 0) shape.seq_q = emulated ? 128 : 512;
  if (shape.seq_kv == 0) shape.seq_kv = emulated ? 128 : 512;
  if (shape.head_dim == 0) shape.head_dim = 64;
  if (!options->given[OPTION_SCALE]) shape.scale = options_default_scale(shape.head_dim);
  return shape;
}
