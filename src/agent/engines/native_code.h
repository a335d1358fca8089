// The unwind tables of the libraries whose functions compiled Java code calls directly.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capture/unwind_table.h"
#include "hotspot/native_frames.h"

namespace tarsier::agent {

// "libm.so.6", "[native]" if the pc is in none. Session thread.
std::string library_name(Address pc);

class NativeCode final : public hotspot::NativeFrames {
 public:
  NativeCode();
  [[nodiscard]] std::span<const capture::UnwindTable> tables() const { return tables_; }
  [[nodiscard]] std::optional<UnwindRule> rule_at(Address pc) const override;

 private:
  std::vector<capture::UnwindTable> tables_;
};

}  // namespace tarsier::agent
