// How native functions are left, noted as it is asked for, and asked again later without the libraries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "hotspot/native_frames.h"

namespace tarsier::hotspot {

class NotedRules final : public NativeFrames {
 public:
  explicit NotedRules(const NativeFrames& source) : source_(source) {}

  [[nodiscard]] std::optional<UnwindRule> rule_at(Address pc) const override;
  // What SavedRules reads. Places without a rule need no entry.
  [[nodiscard]] std::vector<uint8_t> encode() const;
  void forget() { rules_.clear(); }

 private:
  const NativeFrames& source_;
  mutable std::map<Address, UnwindRule> rules_;
};

class SavedRules final : public NativeFrames {
 public:
  // Whatever the bytes are: half an entry at their end is left out.
  explicit SavedRules(std::span<const uint8_t> bytes);

  [[nodiscard]] std::optional<UnwindRule> rule_at(Address pc) const override;

 private:
  std::map<Address, UnwindRule> rules_;
};

}  // namespace tarsier::hotspot
