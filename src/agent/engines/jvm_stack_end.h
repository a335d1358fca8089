// Where the stack of one of the JVM's own threads ends: nobody tells, so it is learned from its samples.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "hotspot/sigsafe/fragment.h"
#include "linux/mappings.h"

namespace tarsier::agent {

class JvmStackEnd {
 public:
  // A sample of that time. `reached`: the end of what was read of the stack, if it led to where the thread began; else
  // 0. The end, if what was known of it has changed.
  std::optional<uint64_t> saw(const hotspot::Fragment& fragment, uint64_t time_ns, uint64_t reached) {
    if (fragment.stack_bytes == 0) {
      if (time_ns <= learned_ns_) return std::nullopt;  // nobody knew it then
      learned_ns_ = static_cast<uint64_t>(monotonic_now().count);
      // Not known yet; or what was believed reaches to where no memory is.
      const bool known = end_ > fragment.sp;
      end_ = known ? fragment.sp + (end_ - fragment.sp) / 2 / kPage * kPage : linux::mapping_end(fragment.sp);
      return end_;
    }
    // The mapping may go on behind the stack.
    if (reached == 0 || is_exact_ || reached >= end_) return std::nullopt;
    is_exact_ = true;
    end_ = reached;
    return end_;
  }

 private:
  static constexpr uint64_t kPage = 4096;
  uint64_t end_ = 0;
  uint64_t learned_ns_ = 0;  // when
  bool is_exact_ = false;
};

}  // namespace tarsier::agent
