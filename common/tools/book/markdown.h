// Renders the lab's documents as HTML, with md4c.
#ifndef BOOK_MARKDOWN_H
#define BOOK_MARKDOWN_H

#include "emulator/rewrite/text_buffer.h"

// Appends the document as HTML, in GitHub's dialect of Markdown. HTML comments are left out. The page that shows
// it resolves links, which lead to files of the repository. Returns false with a sentence when memory runs out.
bool markdown_to_html(const char *path, const text_buffer *markdown, text_buffer *html,
                      error_text *error);

#endif
