// Which accesses of threads come before those of products and of the copy engine.
#ifndef SANITIZE_PROXIES_H
#define SANITIZE_PROXIES_H

#include "order.h"

// Call it when a block begins.
void proxies_forget(void);

// Whether the thread that wrote, one of the running cluster, has executed a fence.proxy.async since, and `thread`
// comes after that fence.
bool proxies_fenced(const past_access *write, unsigned thread);

// For a thread's access in the running cluster, and a copy that `thread` starts now, which is ordered behind it: whether
// a fence.proxy.async stands on the way from the one to the other.
bool proxies_fenced_before_copy(const past_access *past, unsigned thread);

#endif
