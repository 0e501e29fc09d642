// A launch that may begin before the kernel before it in its stream has ended: it has the attribute
// cudaLaunchAttributeProgrammaticStreamSerialization. On the emulator it never does, since kernels run one after the
// other. The sanitizer finds what would go wrong on a GPU: it takes no access of the kernel before as past until a thread
// has waited for that kernel's end.
#include "block.h"
#include "observer.h"

void emulator_wait_for_earlier_kernel(void) { observer_earlier_wait(current_worker); }
