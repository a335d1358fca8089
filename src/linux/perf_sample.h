// Samples that the kernel takes by itself: the user's registers and a piece of the stack, written into a PerfRing. No
// signal reaches the thread, and no right is needed to have them of one's own threads, in user mode.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tarsier::linux {

struct PerfSample {
  uint64_t event = 0;    // PerfSampler::id
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  uint64_t pc = 0, sp = 0;
  std::span<const uint64_t> general;  // by kGeneralOrder
  std::span<const uint64_t> kernel;   // addresses, innermost first, among marks that are no addresses
  std::span<const uint8_t> stack;     // from sp on, as much as was asked for and could be read

  // aarch64: x0 to x30. x86_64: rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, and behind rip r8 to r15.
#if defined(__aarch64__)
  static constexpr size_t kRegisters = 33;  // general ones, sp, pc
#else
  static constexpr size_t kRegisters = 17;  // general ones, rip as the ninth
#endif

  // The body of a PERF_RECORD_SAMPLE of a PerfSampler. Nothing if it is not understood; registers may be missing, if
  // there were none (`general` is empty then).
  static std::optional<PerfSample> parse(std::span<const uint8_t> body, bool kernel);
};

// The clock of one thread on one CPU.
class PerfSampler {
 public:
  // Below this the kernel rounds up.
  static constexpr uint64_t kFinestNs = 10'000;
  // More does not fit into a record with its other parts.
  static constexpr uint32_t kMostStack = 62 << 10;
  static constexpr uint32_t kMaxKernelFrames = 64;

  struct Options {
    pid_t thread = 0;  // 0: the calling one
    int cpu = 0;
    uint64_t period_ns = 1'000'000;
    uint32_t stack_bytes = 0;  // a multiple of 8
    bool kernel = false;       // sample time in the kernel as well, with its frames
    bool count_lost = false;   // see lost(); refused before Linux 6.0
  };
  // Could it be opened? 0, or an errno. Nothing stays open.
  static int probe(const Options& options);
  // Starts it: from now on samples go into the ring. Or an errno.
  static std::pair<PerfSampler, int> open(const Options& options, int ring);
  PerfSampler() = default;

  [[nodiscard]] int fd() const { return event_.get(); }
  [[nodiscard]] uint64_t id() const { return id_; }
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(event_); }
  void set_period(uint64_t period_ns) const noexcept;
  void disable() const noexcept;
  // How many samples have found no room, if they are counted. What the kernel writes into the ring about that comes
  // with the next sample that finds some.
  [[nodiscard]] std::optional<uint64_t> lost() const noexcept;

 private:
  unique_fd event_;
  uint64_t id_ = 0;
};

}  // namespace tarsier::linux
