// The words of a report on a thread that may miss a phase of an mbarrier.
#ifndef SANITIZE_PHASE_REPORT_H
#define SANITIZE_PHASE_REPORT_H

#define MISSED                                                                                     \
  "Barrier error detected. A thread may miss the phase for which it waits, or take another one "   \
  "for it\n"
#define HINT "hint: a wait tells phases apart by their parity alone, and "

#endif
