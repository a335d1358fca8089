// How decoded stacks compare with what AsyncGetCallTrace has said about the same moments.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/agct_witness.h"
#include "hotspot/methods.h"
#include "hotspot/walked_stack.h"

namespace tarsier::agent {

enum class Agreement : uint8_t {
  kSame,
  kStaleBytecode,   // the same methods, but the innermost, which is interpreted, at another bytecode
  kOtherBytecode,   // likewise, and it is compiled
  kOtherInnermost,  // the same outer frames, but others at the inner end
  kEndsEarly,       // the same inner frames, but its stack ends before the thread's begins
  kDifferent,
  kUnloaded,    // classes of ours are gone since
  kIncomplete,  // ours, where it has found all
  kNoAnswer,    // of AsyncGetCallTrace
  kCount
};
std::string_view name_of(Agreement agreement);

// Of the Java frames; stubs and native code are none of its business.
Agreement compare(const hotspot::WalkedStack& ours, const capture::AgctWitness::Testimony& its);

class AgctAgreement {
 public:
  void add(const hotspot::WalkedStack& ours, capture::AgctWitness::Testimony its, hotspot::Methods& methods);

  // By how we have found the first frame.
  [[nodiscard]] uint64_t count(Agreement agreement, hotspot::WalkStart start) const {
    return counts_[static_cast<size_t>(agreement)][static_cast<size_t>(start)];
  }
  // In words, the first few of each kind that needs a judge.
  [[nodiscard]] const std::vector<std::string>& examples() const { return examples_; }

 private:
  using ByStart = std::array<uint64_t, static_cast<size_t>(hotspot::WalkStart::kCount)>;
  std::array<ByStart, static_cast<size_t>(Agreement::kCount)> counts_{};
  std::vector<std::string> examples_;
};

}  // namespace tarsier::agent
