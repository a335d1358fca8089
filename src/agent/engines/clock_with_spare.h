// A clock that takes something of the process for each thread (a descriptor, a timer), with one behind it that takes
// nothing: threads for which the first has nothing left are kept by the spare. The application's limits are its own.
#pragma once

#include <atomic>
#include <memory>

#include "capture/clock.h"

namespace tarsier::agent {

class ClockWithSpare final : public capture::Clock {
 public:
  ClockWithSpare(std::unique_ptr<capture::Clock> first, std::unique_ptr<capture::Clock> spare)
      : first_(std::move(first)), spare_(std::move(spare)) {}

  int open(capture::Repeats& repeats) noexcept override {
    repeats_ = &repeats;
    return first_->open(repeats);
  }
  void close() noexcept override;
  // Not by two threads at once. The spare is opened when the first thread needs it.
  int start(pid_t tid, capture::ThreadClock& thread) noexcept override;
  void stop(capture::ThreadClock& thread) noexcept override { of(thread).stop(thread); }
  void quieten(capture::ThreadClock& thread) noexcept override { of(thread).quieten(thread); }
  void tend() noexcept override { first_->tend(); }
  [[nodiscard]] Restless restless() const noexcept override { return first_->restless(); }

  [[nodiscard]] bool owns(const capture::ThreadClock& thread, const siginfo_t& info) const noexcept override {
    return of(thread).owns(thread, info);
  }
  [[nodiscard]] bool wants(capture::ThreadClock& thread) noexcept override { return of(thread).wants(thread); }
  uint64_t weight_ns(capture::ThreadClock& thread, const siginfo_t& info) noexcept override {
    return of(thread).weight_ns(thread, info);
  }
  uint32_t kernel_frames(capture::ThreadClock& thread, uint64_t* out) noexcept override {
    return of(thread).kernel_frames(thread, out);
  }
  void rest(capture::ThreadClock& thread, uint64_t sp) noexcept override { of(thread).rest(thread, sp); }
  void rearm(capture::ThreadClock& thread) noexcept override { of(thread).rearm(thread); }

  // Threads that the spare has been given so far, and the errno of the last that the first clock refused.
  [[nodiscard]] int64_t spared() const { return spared_.load(std::memory_order_relaxed); }
  [[nodiscard]] int last_error() const { return last_error_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] capture::Clock& of(const capture::ThreadClock& thread) const noexcept {
    return thread.by_spare ? *spare_ : *first_;
  }
  const std::unique_ptr<capture::Clock> first_, spare_;
  capture::Repeats* repeats_ = nullptr;
  bool spare_is_open_ = false;
  std::atomic<int64_t> spared_{0};
  std::atomic<int> last_error_{0};
};

}  // namespace tarsier::agent
