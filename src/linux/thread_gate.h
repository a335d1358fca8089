// Tells when the last thread has left a piece of code that is entered all the time, for next to nothing: a thread
// marks a place of its own by plain stores. Whoever wants to know whether anybody is inside makes all threads order
// their loads and stores first (membarrier), which costs him microseconds and them nothing.
//
// Used as Gate is: enter(), look at a shared pointer, leave(); the other side clears the pointer and waits until all
// have left. Where the kernel has no such barrier, and for threads that find no place of their own, it is a Gate.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tarsier::linux {

class ThreadGate {
 public:
  // Lives for ever, as its gate does.
  class alignas(64) Place {
   public:
    void enter() noexcept {
      if (is_own_) {
        passes_.store(passes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        // Neither the compiler nor, by the other side's barrier, the CPU moves what follows before it.
        std::atomic_signal_fence(std::memory_order_seq_cst);
      } else {
        passes_.fetch_add(1, std::memory_order_seq_cst);
      }
    }
    void leave() noexcept {
      if (is_own_) {
        passes_.store(passes_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
      } else {
        passes_.fetch_sub(1, std::memory_order_release);
      }
    }

   private:
    friend class ThreadGate;
    std::atomic<uintptr_t> thread_{0};  // whose it is
    // Of a place of one's own: times entered and left, odd if inside. Else: threads that are inside.
    std::atomic<uint32_t> passes_{0};
    bool is_own_ = false;
  };

  // Before any thread enters; once more does nothing.
  void open() noexcept;

  // The place of the calling thread. `mine`: any variable of its own; a thread that gets the same memory after this one
  // has ended gets its place as well, so that places don't run out.
  [[nodiscard]] Place& place_of(const void* mine) noexcept;
  // Until every thread that was inside has left: those that come later see what was stored before.
  void wait_until_left() const noexcept;

 private:
  static constexpr size_t kOwn = 1024, kShared = 16, kProbes = 8;
  Place own_[kOwn];
  Place shared_[kShared];
  bool is_open_ = false, has_barrier_ = false;
};

}  // namespace tarsier::linux
