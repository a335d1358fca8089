// What one sample costs the thread that is sampled, without a JVM: a few words stand in for a JavaThread, the ticks and
// the copies are real. See README.md.
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "agent/engines/kernel_capture.h"
#include "base/clock.h"
#include "base/mapping.h"
#include "capture/fragment_capture.h"
#include "capture/perf_clock.h"
#include "linux/bpf_program.h"
#include "linux/signals.h"

namespace {

using namespace tarsier;

constexpr size_t kRing = size_t{4} << 20;
const hotspot::ThreadFields kFields{8, 16, 24, 32, 40, 48, nullptr, nullptr};

// Reads samples as they come, as the decoder would, and throws them away.
class Reader {
 public:
  explicit Reader(std::function<void()> read) : thread_([this, read = std::move(read)] {
    while (!end_.load()) {
      read();
      ::usleep(20'000);
    }
    read();
  }) {}
  ~Reader() {
    end_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> end_{false};
  std::thread thread_;
};

struct Round {
  double seconds = 0;  // of CPU time
  uint64_t samples = 0;
};

class Bench {
 public:
  Bench(Nanos interval, size_t stack_bytes) : interval_(interval), stack_bytes_(stack_bytes) {}

  // The same work each time, on a stack of the given size.
  double spin() {
    auto* room = static_cast<volatile uint8_t*>(__builtin_alloca(stack_bytes_));
    for (size_t i = 0; i < stack_bytes_; i += 64) room[i] = 1;
    java_thread_[6] = reinterpret_cast<uint64_t>(room) + stack_bytes_;
    const Nanos before = clock_now(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < 150'000'000; ++i) room[0] = static_cast<uint8_t>(room[0] + 1);
    return static_cast<double>((clock_now(CLOCK_THREAD_CPUTIME_ID) - before).count) / 1e9;
  }

  Round nothing() { return {spin(), 0}; }

  Round floor() {
    perf_event_attr attr;
    std::memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = static_cast<uint64_t>(interval_.count);
    const unique_fd event(static_cast<int>(::syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
    if (event.get() < 0) fail("perf events are not permitted");
    const double seconds = spin();
    return {seconds, static_cast<uint64_t>(seconds * 1e9 / static_cast<double>(interval_.count))};
  }

  Round signal() {
    auto signal = linux::OwnedSignal::take(capture::SignalCapture::handle_signal);
    if (!signal) fail(signal.error().what);
    capture::PerfClock clock({signal->number(), static_cast<uint64_t>(interval_.count), true});
    constexpr size_t kThreads = size_t{1} << 22;
    const Mapping ring(kRing), table(kThreads * sizeof(void*));
    std::memset(ring.data(), 0, ring.size());  // a ring that has gone round once, as it has in nearly all of a recording
    const auto capture = std::make_unique<capture::FragmentCapture>(
        clock, kFields, capture::SignalCapture::Memory{ring.data(), ring.size(), table.data(), kThreads});
    capture::SampledThread thread;
    thread.clock.serial = 42;
    thread.java_thread = reinterpret_cast<const uint8_t*>(java_thread_);
    capture->threads().set(::gettid(), &thread);
    capture::SignalCapture::activate(capture.get());
    Round round;
    {
      const Reader reader([&] { capture->ring().consume([](const uint8_t*, size_t) {}); });
      if (clock.start(::gettid(), thread.clock) != 0) fail("perf events are not permitted");
      round.seconds = spin();
      clock.stop(thread.clock);
    }
    capture::SignalCapture::activate(nullptr);
    round.samples = capture->counters().taken.load();
    return round;
  }

  Round kernel() {
    linux::bpf::Settings settings{};
    settings.java = agent::KernelCapture::layout_of(kFields, nullptr);
    if (Status aimed = linux::aim_at(settings, "/proc/self"); !aimed) fail(aimed.error().what);
    auto parts = linux::make_kernel_parts(settings, {kRing});
    if (!parts) fail(parts.error().what);
    auto capture = agent::KernelCapture::over(std::move(*parts), interval_, kRing);
    if (!capture) fail(capture.error().what);
    agent::JavaThread thread;
    thread.serial = 42;
    thread.tid = ::gettid();
    thread.java_thread = reinterpret_cast<const uint8_t*>(java_thread_);
    if (!(*capture)->thread_started(thread)) fail("the program's table of threads is full");
    Round round;
    {
      const Reader reader([&] { (*capture)->consume([](const capture::FragmentRecord&) {}, SIZE_MAX); });
      if (Status started = (*capture)->start(); !started) fail(started.error().what);
      round.seconds = spin();
      (*capture)->silence();
    }
    round.samples = (*capture)->counters().taken;
    return round;
  }

 private:
  [[noreturn]] static void fail(const std::string& what) {
    std::fprintf(stderr, "bench/capture: %s\n", what.c_str());
    std::exit(1);
  }

  const Nanos interval_;
  const size_t stack_bytes_;
  uint64_t java_thread_[8] = {0, 0x111, 0x222, 0x333, 8, 0, 0, 0};
};

struct Way {
  const char* name;
  Round (Bench::*run)();
  std::vector<Round> rounds = {};
};

// The median, and the range that holds it with 95 % (from the order statistics).
std::string with_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto reach = static_cast<size_t>(std::max(0.0, (n - 1) / 2 - 0.98 * std::sqrt(n)));
  char text[64];
  std::snprintf(text, sizeof(text), "%6.2f [%5.2f, %5.2f]", values[values.size() / 2], values[reach],
                values[values.size() - 1 - reach]);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  const int interval_us = argc > 2 ? std::atoi(argv[2]) : 200;
  const int stack_kb = argc > 3 ? std::atoi(argv[3]) : 8;
  if (rounds < 3 || interval_us < 10 || stack_kb < 1 || stack_kb > 32) {
    std::fprintf(stderr, "usage: bench/capture/run [ROUNDS >= 3 [INTERVAL_US >= 10 [STACK_KB 1..32]]]\n");
    return 2;
  }
  Bench bench(micros(interval_us), static_cast<size_t>(stack_kb) << 10);
  Way ways[] = {{"nothing", &Bench::nothing}, {"floor", &Bench::floor}, {"signal", &Bench::signal},
                {"kernel", &Bench::kernel}};
  bench.spin();
  std::mt19937 random(1);
  std::vector<Way*> order = {&ways[0], &ways[1], &ways[2], &ways[3]};
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (Way* way : order) way->rounds.push_back((bench.*way->run)());
  }
  std::printf("%d KB of stack, every %d us, %d rounds; us of the sampled thread's CPU time a sample\n\n", stack_kb,
              interval_us, rounds);
  std::printf("%-8s %24s %24s\n", "", "above nothing", "above the floor");
  for (const Way& way : std::span(ways).subspan(1)) {
    std::vector<double> above_nothing, above_floor;
    for (size_t i = 0; i < way.rounds.size(); ++i) {
      const Round &round = way.rounds[i], &floor = ways[1].rounds[i];
      const auto samples = static_cast<double>(std::max<uint64_t>(round.samples, 1));
      const double of_floor = (floor.seconds - ways[0].rounds[i].seconds) / static_cast<double>(floor.samples);
      const double own = (round.seconds - ways[0].rounds[i].seconds) / samples;
      above_nothing.push_back(1e6 * own);
      above_floor.push_back(1e6 * (own - of_floor));
    }
    std::printf("%-8s %24s %24s\n", way.name, with_interval(above_nothing).c_str(), with_interval(above_floor).c_str());
  }
}
