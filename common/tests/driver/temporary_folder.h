// For tests: a folder of their own, which is also the working folder, so that sentences can be
// compared with file names and all.
#ifndef TEMPORARY_FOLDER_H
#define TEMPORARY_FOLDER_H

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char temporary_folder[] = "/tmp/lab-test-XXXXXX";

static void temporary_folder_enter(void) {
  cr_assert(mkdtemp(temporary_folder) && chdir(temporary_folder) == 0, "no temporary folder");
}

// How many files there are, hidden ones too.
static inline int temporary_folder_count(void) {
  int count = 0;
  DIR *folder = opendir(".");
  while (readdir(folder)) count++;
  closedir(folder);
  return count - 2; // . and ..
}

// Removes the folder and what the test has left in it: files, links and empty folders.
static void temporary_folder_leave(void) {
  DIR *folder = opendir(temporary_folder);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    if (unlinkat(dirfd(folder), entry->d_name, 0) != 0) {
      unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR);
    }
  }
  if (folder) closedir(folder);
  rmdir(temporary_folder);
}

#endif
