// The words with which a step refuses an element type or a head_dim that its build leaves out (LAB_ONE_TYPE and
// LAB_ONE_DIM in kernel.cuh). The tests know the reason by them.
#ifndef LEFT_OUT_H
#define LEFT_OUT_H

#define LEFT_OUT_BY_THE_BUILD "this build leaves out the head_dim in this element type"

#endif
