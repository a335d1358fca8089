#include "hotspot/unload_epoch.h"

namespace tarsier::hotspot {

// The JVM's performance data, version 2.0, the same from 8 to 25: a head, then entries, each of which tells its length.
std::optional<UnloadEpoch> UnloadEpoch::find(const Memory& memory, const VmStructs& structs) {
  struct Entry {
    int32_t length, name_offset, vector_length;
    int8_t type, flags, units, variability;
    int32_t data_offset;
  };
  constexpr Address kFirstEntry = 24, kEntryCount = 28;  // in the head
  const auto field = structs.address("PerfMemory", "_start");
  const auto start = field ? memory.read<Address>(*field) : std::nullopt;
  if (!start || *start == 0) return std::nullopt;
  const int32_t first = memory.read<int32_t>(*start + kFirstEntry).value_or(0);
  const int32_t count = memory.read<int32_t>(*start + kEntryCount).value_or(0);
  UnloadEpoch epoch;
  Address at = *start + static_cast<Address>(first);
  for (int32_t i = 0; i < count && first > 0; ++i) {
    const auto entry = memory.read<Entry>(at);
    if (!entry || entry->length <= 0) break;
    const auto name = memory.read_string(at + static_cast<Address>(entry->name_offset), 128).value_or("");
    const Address data = at + static_cast<Address>(entry->data_offset);
    if (name == "java.cls.unloadedClasses") epoch.counter_ = data;
    if (name == "java.cls.sharedUnloadedClasses") epoch.shared_counter_ = data;
    at += static_cast<Address>(entry->length);
  }
  if (epoch.counter_ == 0 || epoch.shared_counter_ == 0) return std::nullopt;
  return epoch;
}

}  // namespace tarsier::hotspot
