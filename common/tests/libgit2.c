// Linked into each test program. Criterion starts libgit2 in each test's process, and libgit2 then reads the machine's
// certificates, for connections that no test makes: a third of the processor time of a test that does little. So libgit2 is
// started when Criterion asks for what it is there for, the difference of two texts. The program's functions take the place of
// the library's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

int git_libgit2_init(void);
int git_libgit2_shutdown(void);
int git_diff_buffers(const void *old, size_t old_bytes, const char *old_path, const void *new,
                     size_t new_bytes, const char *new_path, const void *options, void *on_file,
                     void *on_binary, void *on_hunk, void *on_line, void *context);

int git_libgit2_init(void) { return 1; }
int git_libgit2_shutdown(void) { return 0; }

int git_diff_buffers(const void *old, size_t old_bytes, const char *old_path, const void *new,
                     size_t new_bytes, const char *new_path, const void *options, void *on_file,
                     void *on_binary, void *on_hunk, void *on_line, void *context) {
  __typeof__(git_libgit2_init) *init;
  __typeof__(git_diff_buffers) *diff;
  *(void **)&init = dlsym(RTLD_NEXT, "git_libgit2_init");
  *(void **)&diff = dlsym(RTLD_NEXT, "git_diff_buffers");
  if (!init || !diff || init() < 0) return -1;
  return diff(old, old_bytes, old_path, new, new_bytes, new_path, options, on_file, on_binary,
              on_hunk, on_line, context);
}
