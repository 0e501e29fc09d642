// Stands in for libgit2 in the test programs. Criterion starts libgit2 in each test's process, where it reads the machine's
// certificates, and brings a dozen more libraries with it, for connections that no test makes: two thirds of the processor time
// of a test that does little. What Criterion has libgit2 for is the difference of two texts, in assertions such as
// cr_assert(eq(str, a, b)). The library itself computes that; only then it is loaded, as LIBGIT2.
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
  // In a namespace of its own, because in this one the name is that of this library.
  void *library = dlmopen(LM_ID_NEWLM, LIBGIT2, RTLD_NOW);
  __typeof__(git_libgit2_init) *init = NULL;
  __typeof__(git_diff_buffers) *diff = NULL;
  if (library) {
    *(void **)&init = dlsym(library, "git_libgit2_init");
    *(void **)&diff = dlsym(library, "git_diff_buffers");
  }
  if (!init || !diff || init() < 0) return 0; // no difference is shown
  return diff(old, old_bytes, old_path, new, new_bytes, new_path, options, on_file, on_binary,
              on_hunk, on_line, context);
}
