// Tests the rewriter from its command line to the compiler.
#define _GNU_SOURCE // mkdtemp, mkfifo
#define main        rewrite_main
#include "emulator/rewrite/main.c"
#undef main

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_rewrite.XXXXXX";

static const char *in_folder(const char *name) {
  static char paths[8][256];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static void make_folder(void) {
  cr_redirect_stderr();
  cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void) {
  char command[256];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  cr_assert_eq(system(command), 0);
}

TestSuite(program, .init = make_folder, .fini = remove_folder);

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  cr_assert_not_null(file);
  fputs(text, file);
  fclose(file);
}

static const char *get(const char *path) {
  static char text[4096];
  FILE *file = fopen(path, "rb");
  if (file == NULL) return "(no such file)";
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

static int run(const char *in, const char *out) {
  return rewrite_main(3, (char *[]){"rewrite", (char *)in, (char *)out, NULL});
}

static int files_in_folder(void) {
  int count = 0;
  DIR *directory = opendir(folder);
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
    count += entry->d_name[0] != '.';
  closedir(directory);
  return count;
}

Test(program, writes_the_rewritten_file) {
  put(in_folder("a.cu"), "k<<<1, 2>>>();\n");
  put(in_folder("a.cpp"), "what was there before, and longer than what takes its place; "
                          "what was there before, and longer than what takes its place");
  cr_assert_eq(run(in_folder("a.cu"), in_folder("a.cpp")), EXIT_OK);
  char expected[512];
  snprintf(expected, sizeof expected, "#line 1 \"%s\"\n::emulator::launcher(k, \"k\", 1, 2)();\n",
           in_folder("a.cu"));
  cr_expect_str_eq(get(in_folder("a.cpp")), expected, "%s", get(in_folder("a.cpp")));
  cr_expect_eq(files_in_folder(), 2);
}

// A file behind a link has the name that the reader knows.
Test(program, the_compiler_is_told_another_name) {
  put(in_folder("a.cu"), "int x;\n");
  char *named[] = {"rewrite", (char *)in_folder("a.cu"), (char *)in_folder("a.cpp"),
                   "/my \"try\"/a.cu", NULL};
  cr_assert_eq(rewrite_main(4, named), EXIT_OK);
  cr_expect_str_eq(get(in_folder("a.cpp")), "#line 1 \"/my \\\"try\\\"/a.cu\"\nint x;\n");
}

Test(program, a_refused_file_leaves_the_old_output) {
  put(in_folder("a.cu"), "\nk<<<1>>>();\n");
  put(in_folder("a.cpp"), "old");
  cr_expect_eq(run(in_folder("a.cu"), in_folder("a.cpp")), EXIT_BAD_INPUT);
  cr_expect_str_eq(get(in_folder("a.cpp")), "old");
  cr_expect_eq(files_in_folder(), 2);
  char expected[512];
  snprintf(expected, sizeof expected,
           "error: %s:2: a launch takes 2 to 4 arguments between <<< and >>> (grid, block, bytes "
           "of dynamic shared memory, stream), not 1\n",
           in_folder("a.cu"));
  fflush(stderr);
  cr_expect_stderr_eq_str(expected);
}

Test(program, bad_usage_and_unreadable_files_exit_2) {
  put(in_folder("a.cu"), "int x;\n");
  cr_expect_eq(rewrite_main(1, (char *[]){"rewrite", NULL}), EXIT_BAD_INPUT);
  cr_expect_eq(rewrite_main(2, (char *[]){"rewrite", "a.cu", NULL}), EXIT_BAD_INPUT);
  char *four[] = {"rewrite", (char *)in_folder("a.cu"), (char *)in_folder("a.cpp"), "c", "d", NULL};
  cr_expect_eq(rewrite_main(5, four), EXIT_BAD_INPUT);
  cr_expect_eq(run(in_folder("missing.cu"), in_folder("a.cpp")), EXIT_BAD_INPUT, "missing");
  cr_expect_eq(run(folder, in_folder("a.cpp")), EXIT_BAD_INPUT, "a directory to read");
  cr_expect_eq(run(in_folder("a.cu"), folder), EXIT_BAD_INPUT, "a directory to write");
  cr_assert_eq(mkfifo(in_folder("pipe"), 0600), 0);
  cr_expect_eq(run(in_folder("a.cu"), in_folder("pipe")), EXIT_BAD_INPUT, "a pipe to write");
  cr_expect_eq(run(in_folder("a.cu"), in_folder("no/a.cpp")), EXIT_BAD_INPUT, "no such folder");
  cr_expect_eq(files_in_folder(), 2);
}

Test(program, a_write_that_fails_half_way_leaves_the_old_file) {
  enum { BYTES = 1 << 16 };
  char *text = malloc(BYTES + 1);
  memset(text, ' ', BYTES);
  text[BYTES] = '\0';
  put(in_folder("a.cu"), text);
  put(in_folder("a.cpp"), "old");
  free(text);
  signal(SIGXFSZ, SIG_IGN); // so that the limit is an error and not the end of the process
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){BYTES / 2, BYTES}), 0);
  cr_expect_eq(run(in_folder("a.cu"), in_folder("a.cpp")), EXIT_BAD_INPUT);
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){BYTES, BYTES}), 0);
  cr_expect_str_eq(get(in_folder("a.cpp")), "old");
  cr_expect_eq(files_in_folder(), 2, "a temporary file was left");
}

// The compiler needs these parts of the emulator to accept the file below.
static const char stand_in[] = //
    "#define __global__\n"
    "#define __shared__ static\n"
    "namespace emulator {\n"
    "void *dynamic_shared_memory();\n"
    "template <int ALIGNMENT> void *dynamic_shared_memory();\n"
    "template <class... A> struct bound { void operator()(A...) const; };\n"
    "template <class... A>\n"
    "bound<A...> launcher(void (*)(A...), const char *, int, int, int = 0, void * = nullptr);\n"
    "}\n";

static const char kernels[] = //
    "#include \"stand_in.h\"\n"
    "template <class T, int D> struct tile { T x[D]; };\n"
    "namespace lab {\n"
    "template <class T, int D> __global__ void scale(T *x, int n) {\n"
    "  extern __shared__ __attribute__((aligned(16))) unsigned char smem[];\n"
    "  extern volatile __shared__ tile<T, (D > 3 ? 1 : 2)> tiles[];\n"
    "  __shared__ T stage[D];\n"
    "  x[n] = stage[0] + (T)smem[0] + tiles[1].x[0];\n"
    "}\n"
    "}\n"
    "#define LAUNCH(kernel, ...) \\\n"
    "  lab::kernel<float, 4><<<__VA_ARGS__>>>(x, n)\n"
    "void run(float *x, int n, void *stream) {\n"
    "  lab::scale<float, 1 << 2><<<(n + 3) / 4, n < 4 ? 4 : n,\n"
    "                              sizeof(tile<tile<float, 4>, 2>), // bytes\n"
    "                              stream>>>(x, n);\n"
    "  LAUNCH(scale, 1, 2, 3);\n"
    "}\n";

static int compile(const char *options) {
  char command[1024];
  const char *compiler = getenv("CXX");
  snprintf(command, sizeof command,
           "cd %s && %s -std=c++17 -Wall -Wextra -fsyntax-only %s a.cpp > log 2>&1", folder,
           compiler != NULL ? compiler : "g++", options);
  return system(command);
}

Test(program, the_compiler_accepts_the_result) {
  put(in_folder("stand_in.h"), stand_in);
  put(in_folder("a.cu"), kernels);
  cr_assert_eq(run(in_folder("a.cu"), in_folder("a.cpp")), EXIT_OK);
  cr_expect_eq(compile(""), 0, "%s", get(in_folder("log")));
}

Test(program, the_compiler_speaks_of_the_source_and_its_lines) {
  char text[sizeof kernels + 64];
  snprintf(text, sizeof text, "%sint wrong = nobody;\n", kernels);
  put(in_folder("stand_in.h"), stand_in);
  put(in_folder("a.cu"), text);
  cr_assert_eq(run(in_folder("a.cu"), in_folder("a.cpp")), EXIT_OK);
  cr_expect_neq(compile(""), 0);
  char expected[512];
  snprintf(expected, sizeof expected, "%s:19:13: error: ", in_folder("a.cu"));
  cr_expect(strstr(get(in_folder("log")), expected) != NULL, "%s", get(in_folder("log")));
}

// A warning for the condition alone, or none.
static void expect_warning(const char *condition, bool warns) {
  char source[256], wanted[256];
  snprintf(source, sizeof source, "// two lines\n%s\nint x;\n#else\nint y;\n#endif\n%s\n#endif\n",
           condition, condition);
  put(in_folder("arch.cu"), source);
  FILE *words = freopen(in_folder("words"), "w", stderr);
  cr_assert_not_null(words);
  cr_expect_eq(run(in_folder("arch.cu"), in_folder("arch.cpp")), 0);
  fflush(stderr);
  snprintf(wanted, sizeof wanted, "%s:2: warning: the emulator compiles the host's branch",
           in_folder("arch.cu"));
  const char *said = get(in_folder("words"));
  cr_expect_eq(strncmp(said, wanted, strlen(wanted)) == 0, warns, "%s: %s", condition, said);
  cr_expect(strstr(said, ":7:") == NULL, "warned twice: %s", said);
}

Test(program, warns_of_a_branch_for_the_device) {
  expect_warning("#ifdef __CUDA_ARCH__", true);
  expect_warning("#ifndef __CUDA_ARCH__", true);
  expect_warning("#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 800)", true);
  expect_warning("#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ < 700", true);
  expect_warning("#if __CUDA_ARCH__ == 900", true);
  // The device of the emulator takes the same branch, or another macro decides.
  expect_warning("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000", false);
  expect_warning("#if __CUDA_ARCH__ >= 800 && FAST", false);
  expect_warning("#if __CUDA_ARCH__ != 900 && 0", false);
  expect_warning("#if __CUDA_ARCH__ >= 10 * NEEDS", false);
  expect_warning("#ifdef __CUDACC__", false);
}
