# The lab book: one page to read, compare and play with. The Makefile includes this file.
.PHONY: book book-check
BOOK := build/book/index.html

book: ## the lab as one page, build/book/index.html: diffs, curves, counts, bugs, search; WORK=1 adds your own files
	@scripts/writable.sh build
	@scripts/deps.sh --book $${PREFIX:+"$$PREFIX"}
	@$(BUILDER) DEVICE=cpu build/cpu/book
	@WORK=$(WORK) scripts/book.sh build/cpu/book $(BOOK)

book-check: ## test the lab book in a browser, chromium; the pictures of its views lie in build/book
	@scripts/writable.sh build
	@scripts/deps.sh --book-check $${PREFIX:+"$$PREFIX"}
	@$(BUILDER) DEVICE=cpu build/cpu/book
	@scripts/book.sh build/cpu/book $(BOOK)
	@$$(scripts/examples.sh --python websocket) common/tests/book/check.py $(BOOK) build/cpu/book
