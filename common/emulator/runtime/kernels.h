// Which kernels a process has launched.
#ifndef KERNELS_H
#define KERNELS_H

// Notes that the kernel is being launched, and writes it to the file of EMU_KERNELS. Call with no two launches
// at a time.
void kernels_launched(const void *kernel);

#endif
