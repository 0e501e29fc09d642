// For tests: a folder for each test, which is also its working folder, so
// that sentences can be compared together with the file names in them.
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

// Counts the files, including hidden ones.
static inline int temporary_folder_count(void) {
  int count = 0;
  DIR *folder = opendir(".");
  while (readdir(folder)) count++;
  closedir(folder);
  return count - 2; // . and ..
}

// Removes the folder and the files, links and empty folders that the test has left in it.
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
