#include "emulator/rewrite/ptx_name.h"

#include <string.h>

static bool same(const char *word, size_t length, const char *other) {
  return strlen(other) == length && memcmp(word, other, length) == 0;
}

static bool is_among(const char *word, size_t length, const char *const *list) {
  for (; *list != NULL; list++)
    if (same(word, length, *list)) return true;
  return false;
}

void ptx_write_word(text_buffer *out, const char *word, size_t length) {
  for (size_t i = 0; i < length; i++) {
    const char c = word[i] == '.' || word[i] == '%' || word[i] == '$' ? '_' : word[i];
    text_buffer_append(out, &c, 1);
  }
}

static const char *const types[] = {"s8",     "s16", "s32",  "s64",  "u8",   "u16",   "u32", "u64",
                                    "b8",     "b16", "b32",  "b64",  "f16",  "f16x2", "f32", "bf16",
                                    "bf16x2", "f64", "tf32", "pred", "b128", NULL};

bool ptx_is_type(const char *word, size_t length) { return is_among(word, length, types); }

// What says how fast, how exact at the last place, or how an access is cached, and changes no value here. The last two are
// the only ones of their kind here: the matrices of ldmatrix and stmatrix, and the way in which boxes are copied.
static const char *const left_out[] = {
    "ca",      "cg",      "cs",      "lu",      "cv",      "wb",     "wt",    "nc",   "volatile",
    "relaxed", "acquire", "release", "acq_rel", "sc",      "cta",    "gpu",   "sys",  "weak",
    "approx",  "ftz",     "full",    "sync",    "aligned", "global", "noftz", "L1",   "L2",
    "uni",     "v2",      "v4",      "cluster", "mmio",    "vec",    "m8n8",  "tile", NULL};

// barrier.cluster is another instruction than barrier, and its relaxed form orders less.
static bool is_left_out(const char *name, const char *word, size_t length) {
  const bool of_cluster = strncmp(name, "barrier.cluster", 15) == 0;
  if (of_cluster && (same(word, length, "cluster") || same(word, length, "relaxed"))) return false;
  return is_among(word, length, left_out);
}

// The instructions of include/detail/ptx/. An instruction of this list with modifiers that no function has is
// named by the compiler.
static const char *const known[] = {"mov",          "add",        "sub",
                                    "mul",          "mad",        "fma",
                                    "div",          "rem",        "neg",
                                    "abs",          "min",        "max",
                                    "and",          "or",         "xor",
                                    "not",          "shl",        "shr",
                                    "selp",         "setp",       "cvt",
                                    "cvta",         "ld",         "st",
                                    "red",          "atom",       "bar",
                                    "barrier",      "membar",     "fence",
                                    "ex2",          "lg2",        "rcp",
                                    "sqrt",         "rsqrt",      "sin",
                                    "cos",          "tanh",       "lop3",
                                    "shf",          "prmt",       "popc",
                                    "clz",          "brev",       "bfe",
                                    "bfi",          "dp4a",       "vote",
                                    "shfl",         "activemask", "redux",
                                    "cp",           "prefetch",   "ldmatrix",
                                    "mma",          "nanosleep",  "trap",
                                    "bfind",        "mul24",      "sad",
                                    "discard",      "prefetchu",  "copysign",
                                    "isspacep",     "vadd",       "vshl",
                                    "vshr",         "exit",       "griddepcontrol",
                                    "mbarrier",     "wgmma",      "setmaxnreg",
                                    "elect",        "mapa",       "stmatrix",
                                    "createpolicy", NULL};

// Returns the end of the modifier, at the next point; "L1::no_allocate" is one.
static const char *part_end(const char *part, const char *end) {
  while (part < end && *part != '.') part++;
  return part;
}

bool ptx_write_name(const char *name, const char *end, bool unpacks, text_buffer *out,
                    error_text *error) {
  const char *base_end = part_end(name, end);
  if (!is_among(name, (size_t)(base_end - name), known))
    return fail(error,
                "the emulator has no PTX instruction %.*s: use a function of CUDA C++ that does "
                "the same, or a GPU",
                (int)(end - name), name);
  text_buffer_append_string(out, "::emulator::ptx::");
  ptx_write_word(out, name, (size_t)(base_end - name));
  text_buffer_append_string(out, unpacks ? "_unpacked_" : "_");
  text_buffer template_arguments = {0};
  for (const char *part = base_end; part < end;) {
    const char *word = part + 1, *stop = part_end(word, end);
    size_t length = (size_t)(stop - word);
    const char *colons = memchr(word, ':', length);
    if (colons != NULL) length = (size_t)(colons - word);
    part = stop;
    if (is_among(word, length, types)) {
      text_buffer_append_string(&template_arguments, template_arguments.length > 0 ? ", " : "<");
      text_buffer_append_string(&template_arguments, "::emulator::ptx::");
      text_buffer_append(&template_arguments, word, length);
    } else if (!is_left_out(name, word, length)) {
      ptx_write_word(out, word, length);
      text_buffer_append_string(out, "_");
    }
  }
  if (template_arguments.length > 0) {
    text_buffer_append(out, template_arguments.data, template_arguments.length);
    text_buffer_append_string(out, ">");
  }
  text_buffer_free(&template_arguments);
  return true;
}
