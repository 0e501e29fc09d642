// The words with which a step refuses an element type that its build leaves out (LAB_ONE_TYPE in kernel.cuh). The tests
// know the reason by them.
#ifndef LEFT_OUT_H
#define LEFT_OUT_H

#define LEFT_OUT_BY_THE_BUILD "this build leaves the element type out for this head_dim"

#endif
