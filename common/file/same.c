#define _GNU_SOURCE // basename
#include "file/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool same_inode(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

// Finds the folder in which a file of this name would be made.
static bool look_at_folder(const char *path, struct stat *folder) {
  const size_t length = (size_t)(basename(path) - path);
  char *name = length > 0 ? strndup(path, length) : strdup(".");
  const bool found = name && stat(name, folder) == 0;
  free(name);
  return found;
}

bool file_same(const char *a, const char *b) {
  struct stat a_status, b_status;
  const bool a_exists = stat(a, &a_status) == 0;
  const bool b_exists = stat(b, &b_status) == 0;
  if (a_exists && b_exists) return same_inode(&a_status, &b_status);
  if (a_exists != b_exists) return false;
  return strcmp(basename(a), basename(b)) == 0 && look_at_folder(a, &a_status) &&
         look_at_folder(b, &b_status) && same_inode(&a_status, &b_status);
}
