// For tests that need a program which a machine may lack.
#ifndef NEEDS_H
#define NEEDS_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline bool has_tool(const char *tool) {
  const char *path = getenv("PATH");
  for (const char *folder = path; folder && *folder;) {
    const size_t length = strcspn(folder, ":");
    char file[4096];
    snprintf(file, sizeof file, "%.*s/%s", (int)length, folder, tool);
    if (access(file, X_OK) == 0) return true;
    folder += length + (folder[length] == ':');
  }
  return false;
}

// Skips the test when PATH holds no such program, with the reason that scripts/check.sh knows.
static inline void needs_tool(const char *tool) {
  if (!has_tool(tool)) cr_skip_test("needs %s", tool);
}

// Skips a test of what gcc and g++ alone do where clang compiles the lab.
static inline void needs_gcc(void) {
#ifdef __clang__
  cr_skip_test("needs gcc and g++ as the lab's compilers");
#endif
}

#endif
