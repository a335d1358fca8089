// Tells when the last signal handler has left.
//
// Handlers enter(), look at a shared pointer and leave(); whoever wants to free what the pointer leads to first clears
// it and then waits until quiet(). The counters live for ever, so a handler that was preempted before it entered finds
// the pointer cleared, never freed memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tarsier {

class Gate {
 public:
  // `key` spreads the threads over cache lines; pass the same one to leave().
  void enter(uint32_t key) noexcept {
    // seq_cst, as in quiet(): either we see the cleared pointer, or the other side sees us.
    shards_[key % kShards].inside.fetch_add(1, std::memory_order_seq_cst);
  }
  void leave(uint32_t key) noexcept {
    // Release: pairs with quiet(), which then sees all that the handler wrote.
    shards_[key % kShards].inside.fetch_sub(1, std::memory_order_release);
  }
  [[nodiscard]] bool quiet() const noexcept {
    for (const Shard& shard : shards_) {
      if (shard.inside.load(std::memory_order_seq_cst) != 0) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kShards = 16;
  struct alignas(64) Shard {
    std::atomic<int32_t> inside{0};
  };
  Shard shards_[kShards];
};

}  // namespace tarsier
