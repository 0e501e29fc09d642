// The end of a program that runs a step's code. Such code may end the whole process, by exit(0) for instance, and
// the status 0 would then look like success. So a program says that it has come to its own end.
#ifndef FINISH_H
#define FINISH_H

// Runs `program` with the arguments of main, and returns its status, for main to return. If the process exits
// before `program` returns, by exit or quick_exit, the status is EXIT_CHECK_FAILED, and a sentence says why.
//
// A process cannot notice some endings of its own, such as _exit(0) or another program in its place. The
// caller can. When the environment variable LAB_FINISHED names a file, a line is added to it as soon as
// `program` has returned. scripts/finished.sh demands that line.
//
// Where something that was printed could not be written, success becomes EXIT_BAD_INPUT, and a sentence says why.
int finish_run(int (*program)(int argc, char **argv), int argc, char **argv);

#endif
