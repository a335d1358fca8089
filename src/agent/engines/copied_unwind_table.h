// The unwind tables of a library that may be unloaded at any moment, or that nobody vouches for: a copy, of which no
// more is believed than can be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/memory.h"
#include "capture/unwind_table.h"
#include "linux/loaded_library.h"

namespace tarsier::agent {

class CopiedUnwindTable {
 public:
  // Nothing if it is gone by now, has no such tables, or they are larger than `most` bytes.
  static std::optional<CopiedUnwindTable> copy(const Memory& memory, const linux::LoadedLibrary& library, size_t most);

  [[nodiscard]] bool contains(Address pc) const { return table_.contains(pc - moved_); }
  [[nodiscard]] std::optional<UnwindRule> rule_at(Address pc) const { return table_.rule_at(pc - moved_); }
  [[nodiscard]] size_t memory_used() const { return bytes_->capacity(); }

 private:
  CopiedUnwindTable(std::unique_ptr<std::vector<uint8_t>> bytes, uint64_t moved, const capture::UnwindTable& table)
      : bytes_(std::move(bytes)), moved_(moved), table_(table) {}

  std::unique_ptr<std::vector<uint8_t>> bytes_;  // stay where they are: the table points to them
  uint64_t moved_;                               // from an address in the copy to the library's
  capture::UnwindTable table_;
};

}  // namespace tarsier::agent
