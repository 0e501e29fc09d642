// The part of a recorded timeline that is kept, a few key blocks in the middle of a tile.
#ifndef TIMELINE_STRETCH_H
#define TIMELINE_STRETCH_H

#include "timeline/ring.h"
#include "timeline/sites.h"

// Decides of each TIMELINE_PRODUCT, the begin of a product of a warp group, whether it is a product of Q and K: it is
// if the function that it stands in has "scores" in its name, or its line calls multiply_scores. Its kind becomes TIMELINE_QUEUE_SCORES or
// TIMELINE_QUEUE_OUTPUT.
// Loads of fragments of V for one product by mma.sync, which follow each other without another event between them,
// become one event, and so do stores, and the row maxima of one softmax.
void timeline_list_simplify(timeline_list *list, const timeline_sources *sources);

// Numbers the key blocks of each warp from 1 on, from its first product on: numbers[i] belongs to entry i, and is 0
// where the event is no product. The softmax has the number of the product of Q and K before it. A warp begins again with each block of the grid.
void timeline_number_key_blocks(const timeline_list *list, unsigned *numbers);

typedef struct {
  int64_t begin, end; // clocks
} timeline_stretch;

// Chooses `blocks` key blocks of the warp with the most products, as near to the middle of its events as possible, and
// where it can be, such that no warp stores rows of O meanwhile. Without so many key blocks it is all that there is.
timeline_stretch timeline_choose_stretch(const timeline_list *list, unsigned blocks);

#endif
