"""The steps beside the attention of PyTorch and FlashAttention-3, in one process, on the same tensors.

`make peers`, `make shapes` and `make spread` run this package, over a grid of shapes, over shapes that users have
and the grid lacks, and over scores that are spread more and more: python3 -m peers --help.

Launches are timed by the code that times the steps of `make bench` (common/timing, through timing.py): short bursts
in rounds, whose order is drawn anew, on buffers that rotate so that the inputs are not in the L2 cache. Python takes
10 to 100 microseconds to enqueue a launch, and not equally long for each contender. A kernel that spins goes first,
and while the GPU is busy with it, event, launch and event are enqueued. Where Python was late, the launch is taken
again behind a longer spin. Short launches are also recorded in a CUDA graph and replayed, which hides Python in
another way; both times stand in the record.

Errors follow the lab's rule (reference.py). Only backends.py, reference.py, inputs.py and cell.py need PyTorch;
the rest is tested without.
"""
