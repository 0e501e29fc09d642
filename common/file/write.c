#define _GNU_SOURCE
#include "file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- The file under way, and the signals that would leave it behind -----------------------------

static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDINGS = sizeof endings / sizeof endings[0] };
static struct sigaction before[ENDINGS];
static char partial[PATH_MAX];
static volatile sig_atomic_t partial_exists;

static void put_back(int signal) {
  for (int i = 0; i < ENDINGS; i++) {
    if (endings[i] == signal) sigaction(signal, &before[i], NULL);
  }
}

// A signal handler, which calls asynchronous-signal-safe functions only (POSIX.1-2017, "Signal Concepts").
static void remove_and_pass_on(int signal) {
  const int cause = errno;
  if (partial_exists) unlink(partial);
  put_back(signal);
  raise(signal); // the signal's usual effect follows when this handler returns
  errno = cause;
}

static void watch_signals(void) {
  struct sigaction action = {.sa_handler = remove_and_pass_on};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < ENDINGS; i++) {
    sigaction(endings[i], &action, &before[i]);
    if (before[i].sa_handler == SIG_IGN) put_back(endings[i]); // as under nohup
  }
}

// Holds the signals back while a file comes into being whose existence the handler does not know yet.
// `old` receives the mask to return to.
static void hold_signals(sigset_t *old) {
  sigset_t held;
  sigemptyset(&held);
  for (int i = 0; i < ENDINGS; i++) sigaddset(&held, endings[i]);
  pthread_sigmask(SIG_BLOCK, &held, old);
}

static void leave_signals(void) {
  for (int i = 0; i < ENDINGS; i++) put_back(endings[i]);
}

// ---- Writing ------------------------------------------------------------------------------------

// Creates the file beside `path`, on the same file system, so that it can be renamed to it. Users without
// permission to read `path` cannot read this file meanwhile. Returns its descriptor, or -1 with errno set.
static int create_beside(const char *path, mode_t mode) {
  for (unsigned attempt = 0;; attempt++) {
    const int length =
        snprintf(partial, sizeof partial, "%s.%ld-%u.tmp", path, (long)getpid(), attempt);
    if (length < 0 || (size_t)length >= sizeof partial) {
      errno = ENAMETOOLONG;
      return -1;
    }
    // On a busy disk open takes long, and a signal that arrives meanwhile is handled as soon as it returns.
    sigset_t mask;
    hold_signals(&mask);
    const int descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    const int cause = errno;
    partial_exists = descriptor >= 0;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    errno = cause;
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
}

static void discard(void) {
  const int cause = errno;
  unlink(partial);
  partial_exists = false;
  errno = cause;
}

// Only root can keep the owner. For other users the file belongs to them already, or will do so.
static bool keep_owner_and_mode(int descriptor, const struct stat *old) {
  if (fchown(descriptor, old->st_uid, old->st_gid) != 0) errno = 0;
  return fchmod(descriptor, old->st_mode & 07777) == 0;
}

static bool write_part(int descriptor, const file_part *part) {
  for (size_t done = 0; done < part->count;) {
    const ssize_t written = write(descriptor, (const char *)part->bytes + done, part->count - done);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += (size_t)written;
  }
  return true;
}

// Writes, closes and renames; errno tells why when it fails. `old` is NULL when there is no old file.
static bool finish(int descriptor, const char *path, const struct stat *old, const file_part *parts,
                   size_t count) {
  bool good = !old || keep_owner_and_mode(descriptor, old);
  for (size_t i = 0; i < count && good; i++) good = write_part(descriptor, &parts[i]);
  good = good && fsync(descriptor) == 0; // otherwise a power loss could leave an empty file
  const int cause = errno;
  const bool closed = close(descriptor) == 0;
  if (!good) errno = cause;
  if (!good || !closed || rename(partial, path) != 0) return false;
  partial_exists = false;
  return true;
}

bool file_write_parts(const char *path, const file_part *parts, size_t count, error_text *error) {
  struct stat old;
  const bool exists = stat(path, &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    return fail(error, "cannot write %s: it exists and is no ordinary file: choose another name",
                path);
  }
  watch_signals();
  const int descriptor = create_beside(path, exists ? old.st_mode & 0777 : 0666);
  bool good = descriptor >= 0;
  if (good && !finish(descriptor, path, exists ? &old : NULL, parts, count)) {
    discard();
    good = false;
  }
  const int cause = errno;
  leave_signals();
  return good || fail(error, "cannot write %s: %s", path, strerror(cause));
}

bool file_write(const char *path, const void *bytes, size_t count, error_text *error) {
  return file_write_parts(path, &(file_part){bytes, count}, 1, error);
}

bool file_can_write(const char *path, error_text *error) {
  watch_signals();
  const int descriptor = create_beside(path, 0600);
  const int cause = errno;
  if (descriptor >= 0) {
    close(descriptor);
    discard();
  }
  leave_signals();
  return descriptor >= 0 ||
         fail(error, "cannot write %s: %s: name a file in a folder that can be written", path,
              strerror(cause));
}
