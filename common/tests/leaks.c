// Linked into each test program: tells AddressSanitizer, if the program is built with it, that leaks of Criterion are
// none of its business. Criterion 2.4.1 does not free all that it allocates.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

const char *__lsan_default_suppressions(void) { return "leak:libcriterion\n"; }

// Nothing is said of such leaks, because tests compare what their children write.
const char *__lsan_default_options(void) { return "print_suppressions=0"; }
