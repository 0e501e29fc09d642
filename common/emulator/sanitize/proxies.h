// Which writes of threads are visible to products and to the copy engine.
#ifndef SANITIZE_PROXIES_H
#define SANITIZE_PROXIES_H

#include "order.h"

// Call it when a block begins.
void proxies_forget(void);

// Whether the thread that wrote, one of the running block, has executed a fence.proxy.async since, and `thread`
// comes after that fence.
bool proxies_fenced(const past_access *write, unsigned thread);

#endif
