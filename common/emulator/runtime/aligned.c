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

// A thread of the warpgroup that begins at `first` has ended without an instruction that others have executed.
static void report_missing(worker *worker, unsigned first, uint64_t most, unsigned missing) {
  const warpgroup *warpgroup = &worker->warpgroups[first / WARPGROUP_THREADS];
  const emulator_site *site = &warpgroup->aligned[(most - 1) % ALIGNED_MAX].site;
  const uint3 block = worker->block.block_index;
  if (fault_report_begin(worker, cudaErrorLaunchFailure)) {
    fault_report_title("%s in %s:%d: all threads of a warpgroup must execute the same instruction: "
                       "%u of the %u threads have ended without it",
                       site->operation, site->file, site->line, missing, WARPGROUP_THREADS);
    fault_report_line("in threads %u-%u of block (%u,%u,%u)", first, first + WARPGROUP_THREADS - 1,
                      block.x, block.y, block.z);
    fault_report_end(worker, cudaErrorLaunchFailure);
  }
  fault_leave(worker);
}

void aligned_end(worker *worker) {
  for (unsigned first = 0; first + WARPGROUP_THREADS <= worker->thread_count;
       first += WARPGROUP_THREADS) {
    const thread *threads = &worker->threads[first];
    uint64_t most = 0;
    for (unsigned i = 0; i < WARPGROUP_THREADS; i++)
      if (threads[i].products.aligned > most) most = threads[i].products.aligned;
    unsigned missing = 0;
    for (unsigned i = 0; i < WARPGROUP_THREADS; i++) missing += threads[i].products.aligned < most;
    if (missing > 0) report_missing(worker, first, most, missing);
  }
}
