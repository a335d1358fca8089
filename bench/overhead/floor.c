// The floor of any sampling: the same timer ticks with nothing captured. Runs a command under a cpu-clock event of the
// given interval that all of its threads inherit, and that nobody reads.
//
//   floor INTERVAL_NS COMMAND ..
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const long long interval = argc > 2 ? atoll(argv[1]) : 0;
  if (interval <= 0) {
    fprintf(stderr, "usage: floor INTERVAL_NS COMMAND ..\n");
    return 2;
  }
  struct perf_event_attr attr = {
      .type = PERF_TYPE_SOFTWARE,
      .size = sizeof(attr),
      .config = PERF_COUNT_SW_CPU_CLOCK,
      .sample_period = (unsigned long long)interval,
      .inherit = 1,
      .disabled = 1,
      .enable_on_exec = 1,
  };
  // Without O_CLOEXEC: it must stay open.
  if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0) {
    perror("floor: perf_event_open");
    return 1;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 1;
}
