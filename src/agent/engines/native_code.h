// The unwind tables of the libraries whose functions Java code ends up in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "agent/engines/copied_unwind_table.h"
#include "base/units.h"
#include "capture/unwind_table.h"
#include "hotspot/native_frames.h"
#include "linux/loaded_library.h"

namespace tarsier::agent {

// "libm.so.6", "[native]" if the pc is in none. Session thread.
std::string library_name(Address pc);

class NativeCode final : public hotspot::NativeFrames {
 public:
  NativeCode() { look(); }
  // All libraries, the application's own as well: of those, what is read through `memory` and takes no more than `most`
  // bytes.
  NativeCode(const Memory& memory, size_t most)
      : memory_(&memory), most_(most), unloaded_(linux::library_changes().unloaded) {
    look();
  }
  // As they are now; they stay as they are unless rule_at() is called.
  [[nodiscard]] std::span<const capture::UnwindTable> tables() const { return tables_; }
  [[nodiscard]] std::optional<UnwindRule> rule_at(Address pc) const override;

  // True if a library has been unloaded since the last call: what was found out about its code does not hold any more.
  // Of code that was sampled before, nobody knows whose it was.
  bool forget_unloaded();
  // When what is asked about from now on was seen.
  void set_time(uint64_t time_ns) { doubtful_ = time_ns < certain_from_ns_; }
  // True if what lies at this address now may not be what lay there at that time.
  [[nodiscard]] bool is_doubtful(Address pc) const;
  [[nodiscard]] size_t memory_used() const;

 private:
  void look() const;
  void copy_tables(const linux::LoadedLibrary& library) const;
  [[nodiscard]] std::optional<UnwindRule> find(Address pc) const;
  [[nodiscard]] std::optional<UnwindRule> find_in_tables(Address pc, bool& found) const;

  // A rule takes a microsecond to find, and return addresses recur.
  struct Known {
    Address pc = 0;
    std::optional<UnwindRule> rule;
  };
  static constexpr size_t kKnown = 1 << 12;

  const Memory* memory_ = nullptr;
  size_t most_ = 0;
  uint64_t unloaded_ = 0;  // libraries so far
  uint64_t certain_from_ns_ = 0;
  bool doubtful_ = false;
  mutable std::vector<capture::UnwindTable> tables_;
  struct Copied {
    uint64_t code_begin, base;
    CopiedUnwindTable table;
  };
  mutable std::vector<Copied> copied_;
  mutable Nanos looked_;  // when
  mutable std::vector<Known> known_{kKnown};
};

}  // namespace tarsier::agent
