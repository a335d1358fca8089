// Samples of threads that were not known when they were taken. Most are of threads that are not Java's; but what a Java
// thread does before the JVM tells us of it (some 20 us: much, for a thread that lives for 100) is Java's as well.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tarsier::agent {

class StartingThreads {
 public:
  // Any thread: from now on the samples of thread `tid` that are still unknown are its.
  void started(pid_t tid, uint32_t serial);
  void ended(pid_t tid, uint64_t now_ns);

  // The rest is the session thread's.
  // Whose sample this is, if that is known by now. Not that of a thread that had ended before: what it does then is the
  // JVM's and the kernel's affair, and not part of its CPU time.
  [[nodiscard]] std::optional<uint32_t> owner(pid_t tid, uint64_t time_ns);
  // Keeps a sample for settle(), as long as there is room.
  void keep(pid_t tid, uint64_t time_ns, std::span<const uint8_t> record);
  // About once a second: calls visit(uint32_t serial, uint8_t* record) for those kept ones whose owner is known by now,
  // and forgets the others, and threads that had ended before the last call.
  template <class Visit>
  void settle(Visit&& visit) {
    for (Kept& kept : kept_) {
      if (const auto serial = owner(kept.tid, kept.time_ns)) visit(*serial, kept.record.data());
    }
    kept_.clear();
    forget_ended();
  }

 private:
  struct Known {
    uint32_t serial = 0;
    uint64_t ended_ns = 0;  // CLOCK_MONOTONIC; 0: it lives
  };
  struct Kept {
    pid_t tid;
    uint64_t time_ns;
    std::vector<uint8_t> record;
  };
  static constexpr size_t kMostKept = 1 << 13;  // of some 400 bytes
  void forget_ended();

  std::mutex lock_;
  std::unordered_map<pid_t, Known> known_;
  std::vector<pid_t> ended_, ended_before_;
  std::vector<Kept> kept_;
};

}  // namespace tarsier::agent
