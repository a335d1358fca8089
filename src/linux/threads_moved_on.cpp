#include "linux/threads_moved_on.h"

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "linux/procfs.h"

namespace tarsier::linux {
namespace {

struct Watched {
  pid_t tid;
  Nanos cpu;
  int seen_asleep = 0;
};

bool has_moved_on(Watched& thread) {
  constexpr Nanos kAWhile = micros(200);  // what the kernel does for it at ticks counts as well
  constexpr int kTwice = 2;               // whom the JVM has stopped for a moment by a signal sleeps anywhere
  const char state = thread_state(thread.tid);
  const auto cpu = thread_cpu_time(thread.tid);
  if (!cpu || *cpu - thread.cpu >= kAWhile) return true;  // gone, or somewhere else by now
  thread.seen_asleep = state == 'S' ? thread.seen_asleep + 1 : 0;
  return thread.seen_asleep >= kTwice;
}

}  // namespace

bool threads_moved_on(Nanos patience) noexcept try {
  const Nanos end = monotonic_now() + patience;
  std::vector<Watched> threads;
  const std::vector<pid_t> ids = thread_ids();
  if (ids.empty()) return false;  // they can't be listed
  for (const pid_t tid : ids) {
    if (tid != ::gettid()) threads.push_back({tid, thread_cpu_time(tid).value_or(Nanos(0))});
  }
  while (true) {
    std::erase_if(threads, has_moved_on);
    if (threads.empty()) return true;
    if (monotonic_now() >= end) return false;
    constexpr std::chrono::milliseconds kBetween(10);
    std::this_thread::sleep_for(kBetween);
  }
} catch (const std::bad_alloc&) {
  return false;  // nobody knows
}

}  // namespace tarsier::linux
