// Which kernels a process has launched.
#ifndef KERNELS_H
#define KERNELS_H

// Records that the kernel is being launched, and writes it to the
// file of EMU_KERNELS. Only one launch at a time may call it.
void kernels_launched(const void *kernel);

#endif
