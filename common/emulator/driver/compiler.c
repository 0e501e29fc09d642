#define _GNU_SOURCE
#include "compiler.h"
#include "module_image.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool text_list_add(text_list *list, const char *text) {
  char **larger = realloc(list->items, (list->count + 1) * sizeof *larger);
  if (larger == NULL) return false;
  list->items = larger;
  list->items[list->count] = strdup(text);
  return list->items[list->count] != NULL && ++list->count > 0;
}

void text_list_free(text_list *list) {
  for (size_t i = 0; i < list->count; i++) free(list->items[i]);
  free(list->items);
  *list = (text_list){0};
}

void compiled_add_to_log(compiled *result, const char *sentence) {
  char *longer = NULL;
  if (asprintf(&longer, "%serror: %s\n", result->log != NULL ? result->log : "", sentence) < 0)
    return;
  free(result->log);
  result->log = longer;
}

void compiled_free(compiled *result) {
  free(result->text);
  free(result->log);
  *result = (compiled){0};
}

// scripts/nvcc-cpu lies two folders above this library, which is build/cpu/libemulator.so.
static bool find_script(char *path) {
  static const char in_library = 0;
  Dl_info info;
  char library[PATH_MAX];
  if (dladdr(&in_library, &info) == 0 || realpath(info.dli_fname, library) == NULL) return false;
  for (int i = 0; i < 3; i++) {
    char *slash = strrchr(library, '/');
    if (slash == NULL) return false;
    *slash = '\0';
  }
  return snprintf(path, PATH_MAX, "%s/scripts/nvcc-cpu", library) < PATH_MAX &&
         access(path, X_OK) == 0;
}

// Makes the folders of FOLDER/NAME, of which FOLDER is there.
static void make_folders(char *path, size_t folder_length) {
  for (char *slash = strchr(path + folder_length + 1, '/'); slash != NULL;
       slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
  }
}

// Writes FOLDER/NAME, of which the compiler's messages say `shown`.
static bool write_source(const char *folder, const char *name, const char *shown,
                         const char *text) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return false;
  make_folders(path, strlen(folder));
  FILE *file = fopen(path, "w");
  if (file == NULL) return false;
  fputs("#line 1 \"", file);
  for (const char *c = shown; *c != '\0'; c++)
    fprintf(file, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c == '\n' ? ' ' : *c);
  fprintf(file, "\"\n%s\n", text);
  return fclose(file) == 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where) {
  (void)status, (void)kind, (void)where;
  return remove(path);
}

// Runs the script, whose words go to the file `log`. Returns its exit status; -1 when it cannot be run.
static int run(const char *script, const text_list *words, const char *log) {
  char **arguments = calloc(words->count + 2, sizeof *arguments);
  if (arguments == NULL) return -1;
  arguments[0] = (char *)(uintptr_t)script;
  memcpy(arguments + 1, words->items, words->count * sizeof *arguments);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t process;
  int status = -1;
  if (posix_spawn(&process, script, &actions, NULL, arguments, environ) == 0) {
    while (waitpid(process, &status, 0) < 0) {
      if (errno == EINTR) continue;
      status = -1;
      break;
    }
  }
  posix_spawn_file_actions_destroy(&actions);
  free(arguments);
  return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_inside(const char *name) {
  return name[0] != '/' && name[0] != '\0' && strstr(name, "..") == NULL;
}

static bool write_sources(const compiler_input *input, const char *folder, compiled *result) {
  for (size_t i = 0; i < input->headers->count; i++) {
    const char *name = input->header_names->items[i];
    if (!is_inside(name)) {
      compiled_add_to_log(result, "a header's name is a path out of the program's own folder: "
                                  "give it a name without .. and without / at the beginning");
      return false;
    }
    if (!write_source(folder, name, name, input->headers->items[i])) return false;
  }
  return write_source(folder, "nvrtc program.cu", input->name, input->source);
}

// The words behind nvcc-cpu. NVIDIA's compiler takes compute_75 when no option names another one.
static bool add_words(text_list *words, const compiler_input *input, const char *folder) {
  char text[PATH_MAX + 32];
  bool with_architecture = false;
  bool done = text_list_add(words, "-ptx");
  for (size_t i = 0; i < input->option_count; i++) {
    const char *option = input->options[i];
    with_architecture |= strstr(option, "-arch") != NULL || strstr(option, "gpu-arch") != NULL;
    done = done && text_list_add(words, option);
  }
  done = done && (with_architecture || text_list_add(words, "-arch=compute_75"));
  snprintf(text, sizeof text, "--mode=%s", module_image_mode());
  done = done && text_list_add(words, text) && text_list_add(words, "-D__CUDACC_RTC__=1");
  snprintf(text, sizeof text, "-I%s", folder);
  done = done && text_list_add(words, text) && text_list_add(words, "-o");
  snprintf(text, sizeof text, "%s/nvrtc module.ptx", folder);
  done = done && text_list_add(words, text);
  for (size_t i = 0; done && i < input->expressions->count; i++) {
    char *word = NULL;
    done = asprintf(&word, "--name-expression=%s", input->expressions->items[i]) >= 0 &&
           text_list_add(words, word);
    free(word);
  }
  snprintf(text, sizeof text, "%s/nvrtc program.cu", folder);
  return done && text_list_add(words, text);
}

bool compiler_run(const compiler_input *input, compiled *result) {
  *result = (compiled){0};
  char script[PATH_MAX], folder[PATH_MAX - 64], path[PATH_MAX];
  const char *place = getenv("TMPDIR");
  if (!find_script(script)) {
    compiled_add_to_log(result, "scripts/nvcc-cpu is not where the emulator was built: nvrtc "
                                "compiles with it, so keep the lab's folder as it is");
    return false;
  }
  snprintf(folder, sizeof folder, "%s/nvrtc-XXXXXX",
           place != NULL && place[0] != '\0' ? place : "/tmp");
  if (mkdtemp(folder) == NULL) {
    compiled_add_to_log(result, "nvrtc cannot make a folder for its files: set TMPDIR to a folder "
                                "that you can write to");
    return false;
  }
  text_list words = {0};
  int status = -1;
  if (write_sources(input, folder, result) && add_words(&words, input, folder)) {
    snprintf(path, sizeof path, "%s/nvrtc log", folder);
    status = run(script, &words, path);
    size_t bytes;
    free(result->log);
    result->log = module_read_file(path, &bytes);
    snprintf(path, sizeof path, "%s/nvrtc module.ptx", folder);
    if (status == 0) result->text = module_read_file(path, &result->text_bytes);
  }
  text_list_free(&words);
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  if (status != 0 && (result->log == NULL || result->log[0] == '\0'))
    compiled_add_to_log(result, "nvrtc could not run scripts/nvcc-cpu");
  return status == 0 && result->text != NULL;
}
