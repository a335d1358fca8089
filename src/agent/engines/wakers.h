// Who has woken threads, kept until the waits that they have ended come along. The kernel writes the waker when the
// thread is woken and the wait when it has got a CPU, into one ring: so the waker comes first, if it comes at all, and
// of each thread there is one at a time. Either may be missing, if there was no room. Session thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tarsier::agent {

// The order is that of linux::bpf::WokenBy.
enum class WokenBy : uint8_t { kUnknown, kThread, kJvm, kProcess, kInterrupt, kOngoing, kCount };
std::string_view name_of(WokenBy by);

struct Waker {
  uint64_t since = 0;  // when the wait began that it has ended
  WokenBy by = WokenBy::kUnknown;
  uint32_t serial = 0;     // of a Java thread
  int64_t virtual_id = 0;  // of the virtual thread on it
  int64_t id = 0;          // of a thread of this process, or of another process
  std::string name;        // of that thread or process
  bool has_stack = false;
};

class Wakers {
 public:
  // `forget_stack` is called for every waker with a stack whose wait has not come, with the number of the thread that
  // it has woken.
  explicit Wakers(std::function<void(uint32_t)> forget_stack) : forget_stack_(std::move(forget_stack)) {}
  ~Wakers() = default;
  Wakers(const Wakers&) = delete;
  Wakers& operator=(const Wakers&) = delete;

  // More than this are not kept at a time. Most are kept for as long as the thread stands in the run queue.
  static constexpr size_t kMost = 1 << 15;

  void add(uint32_t woken, Waker waker);
  // Who has ended the wait of this thread that began then; nothing if nobody knows.
  std::optional<Waker> take(uint32_t woken, uint64_t since);
  void thread_ended(uint32_t serial);

  [[nodiscard]] size_t size() const { return by_woken_.size(); }
  // Of the wakers that were added: how many of each kind, and how many whose wait has not come.
  [[nodiscard]] const auto& counts() const { return counts_; }
  [[nodiscard]] uint64_t without_wait() const { return without_wait_; }

 private:
  void give_up(uint32_t woken, const Waker& waker);

  std::function<void(uint32_t)> forget_stack_;
  std::unordered_map<uint32_t, Waker> by_woken_;  // by the number of the thread that was woken
  std::array<uint64_t, static_cast<size_t>(WokenBy::kCount)> counts_{};
  uint64_t without_wait_ = 0;
};

}  // namespace tarsier::agent
