// What an unfriendly native library in the application does: Native.java calls it. Compiled by conftest.py.
#define _GNU_SOURCE
#include <errno.h>
#include <jni.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static void burn(long nanos) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  const long end = t.tv_sec * 1000000000L + t.tv_nsec + nanos;
  do {
    for (volatile int i = 0; i < 1000; ++i) {
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  } while (t.tv_sec * 1000000000L + t.tv_nsec < end);
}

// ---- handlers of the application's own

static atomic_long handled[65];
static void count(int number) { atomic_fetch_add(&handled[number], 1); }

JNIEXPORT void JNICALL Java_Native_handle(JNIEnv* env, jclass c, jint number) {
  (void)env, (void)c;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = count;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, NULL);
}
JNIEXPORT jlong JNICALL Java_Native_handled(JNIEnv* env, jclass c, jint number) {
  (void)env, (void)c;
  return atomic_load(&handled[number]);
}
JNIEXPORT jboolean JNICALL Java_Native_isOurs(JNIEnv* env, jclass c, jint number) {
  (void)env, (void)c;
  struct sigaction action;
  sigaction(number, NULL, &action);
  return action.sa_handler == count;
}
// A classic profiler: its own timer and its own handler.
JNIEXPORT void JNICALL Java_Native_profile(JNIEnv* env, jclass c, jint micros) {
  Java_Native_handle(env, c, SIGPROF);
  const struct itimerval timer = {{0, micros}, {0, micros}};
  setitimer(ITIMER_PROF, &timer, NULL);
}

// A handler for SIGSEGV that passes on what is not its own, as libjsig wants it.
static char* guarded;
static atomic_long faults;
static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  if ((char*)info->si_addr != guarded) _exit(99);  // libjsig calls us only for what the JVM does not know
  atomic_fetch_add(&faults, 1);
  mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}
JNIEXPORT jlong JNICALL Java_Native_fault(JNIEnv* env, jclass c, jint times) {
  (void)env, (void)c;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGSEGV, &action, NULL);
  guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < times; ++i) {
    mprotect(guarded, 4096, PROT_NONE);
    *(volatile char*)guarded = 1;
  }
  return atomic_load(&faults);
}

// ---- fork without exec: the child uses CPU time and must end as it likes

JNIEXPORT jint JNICALL Java_Native_fork(JNIEnv* env, jclass c, jint times) {
  (void)env, (void)c;
  int good = 0;
  for (int i = 0; i < times; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      burn(5000000);
      _exit(42);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) continue;
    good += WIFEXITED(status) && WEXITSTATUS(status) == 42;
  }
  return good;
}

// ---- errno, and system calls that end early

struct feed {
  int pipe;
  _Atomic uint32_t word;
  atomic_bool stop;
};
static void* feed(void* argument) {
  struct feed* feed = argument;
  while (!atomic_load(&feed->stop)) {
    const struct timespec pause = {0, 300000};
    nanosleep(&pause, NULL);
    if (write(feed->pipe, "x", 1) != 1) break;
    atomic_fetch_add(&feed->word, 1);
    syscall(SYS_futex, &feed->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
  close(feed->pipe);
  return NULL;
}

// For so many rounds and milliseconds at least: {rounds, errno changed, EINTR of read, of futex, of nanosleep}
JNIEXPORT jlongArray JNICALL Java_Native_interruptions(JNIEnv* env, jclass c, jint rounds, jint millis) {
  (void)c;
  jlong seen[5] = {0};
  int ends[2];
  if (pipe(ends) != 0) return NULL;
  struct feed feeder = {ends[1], 0, 0};
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the feeder is not the one that is looked at
  pthread_create(&thread, NULL, feed, &feeder);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  const long end = t.tv_sec * 1000L + t.tv_nsec / 1000000 + millis;
  do {
    ++seen[0];
    errno = 12345;
    burn(200000);  // no call of it fails
    seen[1] += errno != 12345;
    char byte;
    if (read(ends[0], &byte, 1) < 0 && errno == EINTR) ++seen[2];
    const uint32_t value = atomic_load(&feeder.word);
    if (syscall(SYS_futex, &feeder.word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0) != 0 && errno == EINTR) ++seen[3];
    const struct timespec pause = {0, 50000};
    if (nanosleep(&pause, NULL) != 0 && errno == EINTR) ++seen[4];
    clock_gettime(CLOCK_MONOTONIC, &t);
  } while (seen[0] < rounds || t.tv_sec * 1000L + t.tv_nsec / 1000000 < end);
  atomic_store(&feeder.stop, 1);
  pthread_join(thread, NULL);
  close(ends[0]);
  jlongArray result = (*env)->NewLongArray(env, 5);
  if (result) (*env)->SetLongArrayRegion(env, result, 0, 5, seen);
  return result;
}

// ---- a stack of its own below that of the thread, with nothing above it that may be read

static ucontext_t outside, inside;
static void burn_inside(void) { burn(500000000); }

// Whether it lay where it was meant to.
JNIEXPORT jboolean JNICALL Java_Native_elsewhere(JNIEnv* env, jclass c) {
  (void)env, (void)c;
  enum { kRoom = 1 << 16, kGuard = 1 << 16 };
  char* const here = (char*)((uintptr_t)&env & ~0xffffUL);
  char* room = mmap(here - (64 << 20), kRoom + kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED || mprotect(room, kRoom, PROT_READ | PROT_WRITE) != 0) return 0;
  getcontext(&inside);
  inside.uc_stack.ss_sp = room;
  inside.uc_stack.ss_size = kRoom;
  inside.uc_link = &outside;
  makecontext(&inside, burn_inside, 0);
  swapcontext(&outside, &inside);
  munmap(room, kRoom + kGuard);
  return room < here && here - room < 1 << 30;
}

// ---- how much stack a handler needs: it is made to run on a painted one

enum { kStack = 1 << 18, kPaint = 0xA5 };
static unsigned char* painted;
static long used(void) {
  long from = 0;
  while (from < kStack && painted[from] == kPaint) ++from;
  return kStack - from;
}
static void nothing(int number) { (void)number; }

// The calling thread's handler of that signal runs on the painted stack from now on. Answers what the kernel's own frame
// and an empty handler take.
JNIEXPORT jlong JNICALL Java_Native_paint(JNIEnv* env, jclass c, jint number) {
  (void)env, (void)c;
  painted = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(painted, kPaint, kStack);
  const stack_t stack = {.ss_sp = painted, .ss_size = kStack};
  sigaltstack(&stack, NULL);
  struct sigaction action, empty;
  memset(&empty, 0, sizeof empty);
  empty.sa_handler = nothing;
  empty.sa_flags = SA_ONSTACK;
  sigaction(SIGRTMIN + 5, &empty, NULL);
  syscall(SYS_tgkill, getpid(), gettid(), SIGRTMIN + 5);
  const long frame = used();
  memset(painted, kPaint, kStack);
  sigaction(number, NULL, &action);
  action.sa_flags |= SA_ONSTACK;
  sigaction(number, &action, NULL);
  return frame;
}
JNIEXPORT jlong JNICALL Java_Native_painted(JNIEnv* env, jclass c) {
  (void)env, (void)c;
  return used();
}
