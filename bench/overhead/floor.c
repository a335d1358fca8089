// The floor of any sampling: the same timer ticks with nothing captured, from cpu-clock events that nobody reads.
//
//   floor INTERVAL_NS COMMAND ..     runs a command; all of its threads inherit the event
//   floor INTERVAL_NS -threads PID   an event for each thread that runs now, and those that it starts, until stdin ends
//   floor INTERVAL_NS -cpus          an event for each CPU, whoever runs there, until stdin ends
#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_clock(long long interval, pid_t task, int cpu, int on_exec) {
  struct perf_event_attr attr = {
      .type = PERF_TYPE_SOFTWARE,
      .size = sizeof(attr),
      .config = PERF_COUNT_SW_CPU_CLOCK,
      .sample_period = (unsigned long long)interval,
      .inherit = cpu < 0,
      .disabled = on_exec,
      .enable_on_exec = on_exec,
  };
  // Without O_CLOEXEC: it must stay open.
  return (int)syscall(SYS_perf_event_open, &attr, task, cpu, -1, 0);
}

static int until_stdin_ends(int clocks) {
  if (clocks == 0) {
    perror("floor: perf_event_open");
    return 1;
  }
  printf("%d clocks\n", clocks);
  fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
  return 0;
}

static int tick_threads(long long interval, const char* pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/task", pid);
  DIR* tasks = opendir(path);
  if (tasks == NULL) {
    perror(path);
    return 1;
  }
  int clocks = 0;
  for (struct dirent* entry; (entry = readdir(tasks)) != NULL;) {
    const pid_t task = atoi(entry->d_name);
    clocks += task > 0 && open_clock(interval, task, -1, 0) >= 0;
  }
  return until_stdin_ends(clocks);
}

static int tick_cpus(long long interval) {
  int clocks = 0;
  for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); ++cpu) {
    clocks += open_clock(interval, -1, cpu, 0) >= 0;
  }
  return until_stdin_ends(clocks);
}

int main(int argc, char** argv) {
  const long long interval = argc > 2 ? atoll(argv[1]) : 0;
  if (interval <= 0) {
    fprintf(stderr, "usage: floor INTERVAL_NS COMMAND .. | -threads PID | -cpus\n");
    return 2;
  }
  if (argc == 4 && strcmp(argv[2], "-threads") == 0) {
    return tick_threads(interval, argv[3]);
  }
  if (argc == 3 && strcmp(argv[2], "-cpus") == 0) {
    return tick_cpus(interval);
  }
  if (open_clock(interval, 0, -1, 1) < 0) {
    perror("floor: perf_event_open");
    return 1;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 1;
}
