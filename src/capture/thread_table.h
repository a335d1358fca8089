// From a native thread id to what a handler needs to know about the thread: one load, no hashing, no lock.
// The table covers every id that the kernel may give out; untouched pages cost nothing.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>

namespace tarsier::capture {

template <class T>
class ThreadTable {
 public:
  // `memory` is zeroed and holds `size` pointers; the caller owns it.
  ThreadTable(void* memory, size_t size) noexcept : slots_(static_cast<std::atomic<T*>*>(memory)), size_(size) {}

  [[nodiscard]] T* find(pid_t tid) const noexcept {
    // Pairs with the release in set(): the thread's data is complete when we see the pointer.
    return static_cast<size_t>(tid) < size_ ? slots_[tid].load(std::memory_order_acquire) : nullptr;
  }
  bool set(pid_t tid, T* value) noexcept {
    if (static_cast<size_t>(tid) >= size_) return false;
    slots_[tid].store(value, std::memory_order_release);
    return true;
  }

 private:
  std::atomic<T*>* const slots_;
  const size_t size_;
};

}  // namespace tarsier::capture
