// Puts the lab book's page together.
#ifndef BOOK_PAGE_H
#define BOOK_PAGE_H

#include "emulator/rewrite/text_buffer.h"

// Appends the whole page, in which everything that the manifest names stands: it asks for no other file. Returns false
// with a sentence when a file cannot be read, or git fails.
bool page_write(const text_buffer *manifest_text, text_buffer *page, error_text *error);

#endif
