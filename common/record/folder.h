// The folder of a device's records, DATA_FOLDER/<device>/NAME.csv.
#ifndef FOLDER_H
#define FOLDER_H

#include "device/device.h"

typedef struct {
  char path[2048];
} record_folder;

// Makes the folder for this device's records, and tests before the work begins that files can be written
// there. Returns false with a sentence when they cannot.
bool record_folder_make(const char *data_folder, const device_info *device, record_folder *folder,
                        error_text *error);

typedef struct {
  char text[4096];
} record_path;

// Returns the path of the record of that name.
record_path record_file(const record_folder *folder, const char *name);

// Writes the record, whole or not at all, and says on standard output where it is.
bool record_save(const record_folder *folder, const char *name, const char *text, size_t length,
                 error_text *error);

#endif
