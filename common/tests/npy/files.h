// Gives each test a folder of its own, and writes and reads whole files in it.
#ifndef TEST_NPY_FILES_H
#define TEST_NPY_FILES_H

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/test_npy.XXXXXX";

static inline void make_folder(void) { cr_assert_not_null(mkdtemp(folder)); }

static inline void remove_folder(void) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  cr_assert_eq(system(command), 0);
}

// The text is valid until the eighth call after this one.
static inline const char *in_folder(const char *name) {
  static char paths[8][256];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static inline void put(const char *path, const void *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  cr_assert_not_null(file, "%s", path);
  cr_assert_eq(fwrite(bytes, 1, length, file), length);
  cr_assert_eq(fclose(file), 0);
}

// The file's bytes, up to the capacity; SIZE_MAX when there is no such file.
static inline size_t get(const char *path, void *bytes, size_t capacity) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return SIZE_MAX;
  size_t length = fread(bytes, 1, capacity, file);
  fclose(file);
  return length;
}

static inline int files_in_folder(void) {
  int count = 0;
  DIR *directory = opendir(folder);
  cr_assert_not_null(directory);
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
    count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  closedir(directory);
  return count;
}

#endif
