// Instructions that belong to the four warps of a warpgroup (PTX: .aligned). Its threads execute the same ones in the
// same order: where one has come to a line, the others must come to it as well.
#include "warpgroup.h"

#include "fault.h"

#include <string.h>

void aligned_begin(warpgroup *warpgroup) {
  memset(warpgroup->aligned, 0, sizeof warpgroup->aligned);
}

void aligned_come(warpgroup *warpgroup, thread_products *own, const emulator_site *site) {
  aligned_instruction *entry = &warpgroup->aligned[own->aligned % ALIGNED_MAX];
  if (entry->threads == 0) {
    entry->number = own->aligned;
    entry->site = *site;
  }
  // A thread that is so far ahead of the others that their instructions fill all entries is not looked at.
  if (entry->number == own->aligned++) {
    const emulator_site *first = &entry->site;
    if (site->line != first->line || strcmp(site->file, first->file) != 0 ||
        strcmp(site->operation, first->operation) != 0) {
      emulator_fault(cudaErrorLaunchFailure,
                     "%s in %s:%d: all threads of a warpgroup must execute the same instruction: "
                     "others of them come to %s in %s:%d",
                     site->operation, site->file, site->line, first->operation, first->file,
                     first->line);
    }
    if (++entry->threads == WARPGROUP_THREADS) entry->threads = 0;
  }
}
