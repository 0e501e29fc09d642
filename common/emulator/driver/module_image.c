#define _GNU_SOURCE
#include "module_image.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef EMULATOR_LOCKSTEP
static const char mode[] = "count";
#elif defined EMULATOR_OBSERVED
static const char mode[] = "sanitize";
#else
static const char mode[] = "run";
#endif

const char *module_image_mode(void) { return mode; }

// The first bytes of a fatbin and of its wrapper (fatbinary_section.h, and what cuobjdump reads).
static const uint32_t MAGIC_FATBIN = 0xBA55ED50, MAGIC_WRAPPER = 0x466243B1;
enum { MACHINE_CUDA = 190 }; // EM_CUDA of the ELF header

static const char how[] = "make the module with scripts/nvcc-cpu (-cubin, -fatbin or -ptx) or with "
                          "nvrtc, from its source";

// The bytes up to the last one that a header of the file speaks of; more than `limit` when it does not hold them.
static size_t elf_bytes(const unsigned char *image, size_t limit) {
  Elf64_Ehdr header;
  memcpy(&header, image, sizeof header);
  size_t end = header.e_shoff + (size_t)header.e_shnum * sizeof(Elf64_Shdr);
  if (header.e_shoff > limit || end > limit) return SIZE_MAX;
  for (size_t i = 0; i < header.e_shnum; i++) {
    Elf64_Shdr section;
    memcpy(&section, image + header.e_shoff + i * sizeof section, sizeof section);
    const size_t section_end = section.sh_offset + section.sh_size;
    if (section.sh_type != SHT_NOBITS && section_end > end) end = section_end;
  }
  return end;
}

static int digit_of(char c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *found = c != '\0' ? strchr(digits, c) : NULL;
  return found != NULL ? (int)(found - digits) : -1;
}

// Returns the number of bytes that the text stands for. It ends at its first character that is none of base64.
static size_t decode(const char *text, unsigned char *bytes) {
  size_t count = 0;
  unsigned bits = 0, held = 0;
  for (; digit_of(*text) >= 0 || *text == '\n'; text++) {
    if (*text == '\n') continue;
    bits = bits << 6 | (unsigned)digit_of(*text);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes[count++] = (unsigned char)(bits >> held);
  }
  return count;
}

static const char *behind_comments(const char *text) {
  while (*text == '\n' || *text == ' ' || strncmp(text, "//", 2) == 0) {
    text = strchr(text, '\n');
    if (text == NULL) return "";
    text++;
  }
  return text;
}

static CUresult refuse(CUresult result, module_error *error, const char *why) {
  snprintf(error->text, sizeof error->text, "%s: %s", why, how);
  return result;
}

static CUresult read_text(const char *text, module_image *out, module_error *error) {
  const char *body = behind_comments(text);
  if (strncmp(body, ".version", 8) == 0)
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, error,
                  "the image is PTX, which the emulator cannot compile");
  out->bytes = malloc(strlen(body) + 1);
  if (out->bytes == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  out->count = decode(body, out->bytes);
  return CUDA_SUCCESS;
}

static CUresult read_elf(const unsigned char *image, size_t limit, module_image *out,
                         module_error *error) {
  Elf64_Ehdr header;
  if (limit < sizeof header) return refuse(CUDA_ERROR_INVALID_IMAGE, error, "the image is cut off");
  memcpy(&header, image, sizeof header);
  if (header.e_machine == MACHINE_CUDA)
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, error,
                  "the image is a cubin, a GPU's machine code, which a CPU cannot run");
  out->count = elf_bytes(image, limit);
  if (out->count > limit) return refuse(CUDA_ERROR_INVALID_IMAGE, error, "the image is cut off");
  out->bytes = malloc(out->count);
  if (out->bytes == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  memcpy(out->bytes, image, out->count);
  return CUDA_SUCCESS;
}

static bool made_for(const module_image *image, const char *wanted) {
  char mark[64];
  const int bytes = snprintf(mark, sizeof mark, "emulator module: %s", wanted);
  return memmem(image->bytes, image->count, mark, (size_t)bytes + 1) != NULL;
}

// Is it one of nvcc-cpu's, for the mode of this program?
static CUresult check(const module_image *image, module_error *error) {
  if (made_for(image, mode)) return CUDA_SUCCESS;
  static const char *const modes[] = {"run", "sanitize", "count"};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (!made_for(image, modes[i])) continue;
    snprintf(error->text, sizeof error->text,
             "the module was made for --mode=%s of nvcc-cpu, and the program for --mode=%s: make "
             "both with the same mode",
             modes[i], mode);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  return refuse(CUDA_ERROR_INVALID_IMAGE, error, "the image is no module of nvcc-cpu");
}

CUresult module_image_read(const void *image, size_t limit, module_image *out,
                           module_error *error) {
  *out = (module_image){0};
  uint32_t magic;
  memcpy(&magic, image, sizeof magic);
  CUresult result;
  if (magic == MAGIC_FATBIN || magic == MAGIC_WRAPPER)
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, error,
                  "the image is a fatbin, a GPU's machine code, which a CPU cannot run");
  if (memcmp(image, ELFMAG, SELFMAG) == 0)
    result = read_elf(image, limit, out, error);
  else
    result = read_text(image, out, error);
  if (result == CUDA_SUCCESS) result = check(out, error);
  if (result != CUDA_SUCCESS) module_image_free(out);
  return result;
}

void module_image_free(module_image *image) {
  free(image->bytes);
  *image = (module_image){0};
}
