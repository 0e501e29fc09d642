#include "step/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void step_read_parent(const char *step, char parent[64]) {
  const char *folder = getenv("STEPS_FOLDER");
  char path[512], line[256];
  parent[0] = '\0';
  snprintf(path, sizeof path, "%s/%s/attention.cu", folder && *folder ? folder : "steps", step);
  FILE *file = fopen(path, "r");
  if (!file) return;
  while (fgets(line, sizeof line, file) && strncmp(line, "//", 2) == 0) {
    if (sscanf(line, "// After: %63s", parent) == 1) break;
  }
  fclose(file);
}
