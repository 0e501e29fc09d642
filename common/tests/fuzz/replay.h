// For tests: passes each file of a folder to a fuzzer's target, without the fuzzer.
#ifndef REPLAY_H
#define REPLAY_H

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Returns how many files there were. The target aborts when one is not handled as it should be.
static inline int replay(const char *folder, int (*target)(const uint8_t *data, size_t size)) {
  DIR *files = opendir(folder);
  cr_assert(files, "there is no folder %s: run the tests from the root of the lab", folder);
  int count = 0;
  for (struct dirent *file = readdir(files); file; file = readdir(files)) {
    if (file->d_name[0] == '.') continue;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
    FILE *in = fopen(path, "rb");
    cr_assert(in, "%s cannot be read", path);
    static uint8_t bytes[1 << 16];
    const size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    cr_log_info("%s", path);
    uint8_t *exact =
        malloc(size > 0 ? size : 1); // of its size, for AddressSanitizer to see an overrun
    memcpy(exact, bytes, size);
    target(exact, size);
    free(exact);
    count++;
  }
  closedir(files);
  return count;
}

#endif
