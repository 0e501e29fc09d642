"""The steps beside the attention of PyTorch and FlashAttention-3, in one process, on the same tensors.

`make peers` and `make spread` run this package, over a grid of shapes and over scores that are spread more
and more: python3 -m peers --help.

How a launch is timed is what `make bench` does (common/timing): CUDA events around each launch, contenders in
turn, launches to warm up, buffers that rotate so that the inputs are not in the L2 cache, the median of up to
100 samples. What is new here is Python, which takes 10 to 100 microseconds to enqueue a launch, and not
equally long for each contender. A short kernel would be over before the next call is made, and the time
between the two events would be Python's. So a kernel that spins goes first, and while the GPU is busy with
it, event, launch and event are enqueued: then the GPU takes them one after the other without a pause, and
Python's time is nobody's. Whether that worked can be seen: the first event must not have happened when the
last call returns. A sample that fails this is thrown away and taken again behind a longer spin (timing.py).

Capturing each contender in a CUDA graph would hide Python as well, but it times the graph's launch, which
bench does not, and needs a graph for each set of buffers.

Errors follow the lab's rule (reference.py). Only backends.py, reference.py, inputs.py and cell.py need PyTorch;
the rest is tested without.
"""
