// The unwind tables of the libraries whose functions Java code ends up in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "capture/unwind_table.h"
#include "hotspot/native_frames.h"

namespace tarsier::agent {

// "libm.so.6", "[native]" if the pc is in none. Session thread.
std::string library_name(Address pc);

class NativeCode final : public hotspot::NativeFrames {
 public:
  NativeCode() { look(); }
  // As they are now; they stay as they are unless rule_at() is called.
  [[nodiscard]] std::span<const capture::UnwindTable> tables() const { return tables_; }
  [[nodiscard]] std::optional<UnwindRule> rule_at(Address pc) const override;

 private:
  void look() const;
  [[nodiscard]] std::optional<UnwindRule> find(Address pc) const;

  // A rule takes a microsecond to find, and return addresses recur.
  struct Known {
    Address pc = 0;
    std::optional<UnwindRule> rule;
  };
  static constexpr size_t kKnown = 1 << 12;

  mutable std::vector<capture::UnwindTable> tables_;
  mutable Nanos looked_;  // when
  mutable std::vector<Known> known_{kKnown};
};

}  // namespace tarsier::agent
