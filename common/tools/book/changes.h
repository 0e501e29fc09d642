// What changes between two sources, as git sees it.
#ifndef BOOK_CHANGES_H
#define BOOK_CHANGES_H

#include "error/error.h"
#include <stdio.h>

// Writes the changes from `before` to `after` as JSON:
//   {"hunks": [[first line before, lines, first line after, lines], ...],
//    "gone": [lines of `before` that stand elsewhere in `after`], "come": [the same for `after`],
//    "text": [the lines of `after` in the hunks, one behind the other]}
// Lines are numbered from 1; a hunk without lines on a side begins behind that line. The algorithm is git's
// histogram, and a block of lines has moved if git's --color-moved says so; its indentation may differ. The text is
// there only with `with_text`. Returns false with a sentence when git fails.
bool changes_write(FILE *out, const char *before, const char *after, bool with_text,
                   error_text *error);

#endif
