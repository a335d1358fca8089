// The floor of any sampling: the same timer ticks with nothing captured, from cpu-clock events that nobody reads.
//
//   floor INTERVAL_NS COMMAND ..     runs a command, with an event for each of its threads
//   floor INTERVAL_NS -threads PID   an event for each thread, until stdin ends
//   floor INTERVAL_NS -cpus          an event for each CPU, whoever runs there, until stdin ends
//
// Threads do not inherit their event: of siblings with an inherited one the kernel just exchanges the two at a switch,
// which spares it most of the work, but then the signal of a tick can't be told to go to its very thread.
#include <dirent.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMostTasks = 1 << 22, kLookEveryMs = 10 };

static int open_clock(long long interval, pid_t task, int cpu) {
  struct perf_event_attr attr = {
      .type = PERF_TYPE_SOFTWARE,
      .size = sizeof(attr),
      .config = PERF_COUNT_SW_CPU_CLOCK,
      .sample_period = (unsigned long long)interval,
  };
  return (int)syscall(SYS_perf_event_open, &attr, task, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

// Of each thread, by its number.
static int clock_of[kMostTasks];      // 0: it has none
static unsigned seen_by[kMostTasks];  // the last look that found it
static pid_t ticking[1 << 16];        // who has one
static size_t tickers = 0;

// How many threads there are, or -1.
static int look(long long interval, const char* tasks_of) {
  static unsigned looks = 0;
  DIR* tasks = opendir(tasks_of);
  if (tasks == NULL) return -1;
  ++looks;
  int threads = 0;
  for (struct dirent* entry; (entry = readdir(tasks)) != NULL;) {
    const pid_t task = atoi(entry->d_name);
    if (task <= 0 || task >= kMostTasks) continue;
    ++threads;
    seen_by[task] = looks;
    if (clock_of[task] != 0 || tickers == sizeof(ticking) / sizeof(ticking[0])) continue;
    const int clock = open_clock(interval, task, -1);
    if (clock < 0) continue;
    clock_of[task] = clock;
    ticking[tickers++] = task;
  }
  closedir(tasks);
  for (size_t i = 0; i < tickers;) {
    const pid_t task = ticking[i];
    if (seen_by[task] == looks) {
      ++i;
      continue;
    }
    close(clock_of[task]);
    clock_of[task] = 0;
    ticking[i] = ticking[--tickers];
  }
  return threads;
}

static int told(size_t clocks) {
  if (clocks == 0) {
    perror("floor: perf_event_open");
    return 1;
  }
  printf("%zu clocks\n", clocks);
  fflush(stdout);
  return 0;
}

// Does stdin end within some time?
static int stdin_ends(int timeout_ms) {
  struct pollfd in = {.fd = 0, .events = POLLIN};
  char bytes[64];
  return poll(&in, 1, timeout_ms) > 0 && read(0, bytes, sizeof bytes) <= 0;
}

static int tick_threads(long long interval, const char* tasks_of) {
  if (look(interval, tasks_of) < 0) {
    perror(tasks_of);
    return 1;
  }
  if (told(tickers) != 0) return 1;
  while (!stdin_ends(kLookEveryMs) && look(interval, tasks_of) >= 0) {
  }
  return 0;
}

static int tick_cpus(long long interval) {
  size_t clocks = 0;
  for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); ++cpu) clocks += open_clock(interval, -1, cpu) >= 0;
  if (told(clocks) != 0) return 1;
  while (!stdin_ends(-1)) {
  }
  return 0;
}

// A process of its own looks for the command's threads, so that the command has our number and our parent.
static void tick_threads_of_parent(long long interval, const char* tasks_of) {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close(0);
  close(1);
  while (getppid() == parent && look(interval, tasks_of) >= 0) usleep(kLookEveryMs * 1000);
  _exit(0);
}

int main(int argc, char** argv) {
  const long long interval = argc > 2 ? atoll(argv[1]) : 0;
  if (interval <= 0) {
    fprintf(stderr, "usage: floor INTERVAL_NS COMMAND .. | -threads PID | -cpus\n");
    return 2;
  }
  char tasks_of[64];
  if (argc == 4 && strcmp(argv[2], "-threads") == 0) {
    snprintf(tasks_of, sizeof tasks_of, "/proc/%s/task", argv[3]);
    return tick_threads(interval, tasks_of);
  }
  if (argc == 3 && strcmp(argv[2], "-cpus") == 0) return tick_cpus(interval);
  const int clock = open_clock(interval, 0, -1);
  if (clock < 0) {
    perror("floor: perf_event_open");
    return 1;
  }
  close(clock);
  snprintf(tasks_of, sizeof tasks_of, "/proc/%d/task", getpid());
  if (fork() == 0) tick_threads_of_parent(interval, tasks_of);
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 1;
}
