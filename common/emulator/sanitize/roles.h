// What parts of a block do for each other.
#ifndef SANITIZE_ROLES_H
#define SANITIZE_ROLES_H

#include "block.h"

// The running thread exits: adds a finding when it has started a product and not waited for it.
void products_check_waited(worker *worker);

#endif
