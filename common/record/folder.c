#define _GNU_SOURCE
#include "record/folder.h"

#include "file/file.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool record_folder_make(const char *data_folder, const device_info *device, record_folder *folder,
                        error_text *error) {
  if (!*data_folder) return fail(error, "the data folder has no name: name one, such as results");
  snprintf(folder->path, sizeof folder->path, "%s/%s", data_folder, device->slug);
  // The folders above it first, such as work of work/.data.
  char next = '/';
  for (size_t end = 1; next; end++) {
    next = folder->path[end];
    if (next != '/' && next) continue;
    folder->path[end] = '\0';
    if (mkdir(folder->path, 0777) != 0 && errno != EEXIST)
      return fail(error, "cannot make the folder %s: %s", folder->path, strerror(errno));
    folder->path[end] = next;
  }
  // A file may have the folder's name, and then this path leads nowhere.
  char inside[sizeof folder->path + 2];
  snprintf(inside, sizeof inside, "%s/.", folder->path);
  return access(inside, W_OK) == 0 ||
         fail(error, "cannot write into the folder %s: %s", folder->path, strerror(errno));
}

record_path record_file(const record_folder *folder, const char *name) {
  record_path path;
  snprintf(path.text, sizeof path.text, "%s/%s.csv", folder->path, name);
  return path;
}

bool record_save(const record_folder *folder, const char *name, const char *text, size_t length,
                 error_text *error) {
  const record_path path = record_file(folder, name);
  if (!file_write(path.text, text, length, error)) return false;
  printf("written: %s\n", error_printable(path.text).text);
  return true;
}
