// The counters that a HotSpot JVM keeps for tools such as jstat (-XX:+UsePerfData, which is the default), in memory
// that it also shares as /tmp/hsperfdata_USER/PID. Whoever writes it may be at it, or hostile: every offset is checked.
//
//   prologue   magic 0xcafec0c0 (4) · byte order (1) · major, minor (2) · accessible (1) · used (4) · overflow (4)
//              · time stamp (8) · offset of the first entry (4) · number of entries (4)
//   entry      length (4) · offset of the name (4) · vector length (4) · type 'B','J',.. (1) · flags, units,
//              variability (3) · offset of the data (4) · name\0 · data
//
// The layout is the same from 8 to 25.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/result.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

struct PerfEntry {
  std::string_view name;  // within the bytes
  char type = 0;          // 'J': a number of eight bytes; 'B': text
  size_t at = 0;          // of its data, all of which lies within the bytes
  size_t size = 0;
};

// Those before the first that makes no sense: a JVM may just be writing it.
Result<std::vector<PerfEntry>> perf_entries(std::span<const uint8_t> bytes);

// Of the JVM that the memory belongs to. Entries stay where they are until the JVM ends; new ones may come.
class PerfMemory {
 public:
  static Result<PerfMemory> find(const Memory& memory, const VmStructs& structs);

  struct Text {
    Address address = 0;
    size_t size = 0;  // of the room for it; it ends with NUL unless it fills it
  };
  // Where its eight bytes lie; nothing if there is no such number.
  [[nodiscard]] std::optional<Address> number(std::string_view name) const;
  [[nodiscard]] std::optional<Text> text(std::string_view name) const;

  [[nodiscard]] std::optional<int64_t> read_number(std::string_view name) const;
  [[nodiscard]] std::string read_text(std::string_view name) const;  // empty if there is none

 private:
  struct Place {
    Address address;
    size_t size;
    char type;
  };
  explicit PerfMemory(const Memory& memory) : memory_(&memory) {}
  [[nodiscard]] const Place* find(std::string_view name, char type) const;

  const Memory* memory_;
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace tarsier::hotspot
