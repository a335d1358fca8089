#include "hotspot/perf_memory.h"

#include <algorithm>
#include <cstring>

namespace tarsier::hotspot {
namespace {

constexpr size_t kPrologue = 32;
constexpr size_t kUsedAt = 8;
constexpr size_t kEntryHeader = 20;
constexpr size_t kMostEntries = 10'000;  // a JVM has about 300
constexpr size_t kMostBytes = 4 << 20;   // 32 KB unless -XX:PerfDataMemorySize says otherwise

// Numbers are in the writer's byte order, which the prologue tells.
class Numbers {
 public:
  Numbers(std::span<const uint8_t> bytes, bool little_endian) : bytes_(bytes), little_endian_(little_endian) {}
  // 0xffffffff, which fits nowhere, if it lies outside.
  [[nodiscard]] uint32_t u32(size_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < 4) return UINT32_MAX;
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value |= uint32_t{bytes_[at + i]} << (little_endian_ ? 8 * i : 24 - 8 * i);
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
  bool little_endian_;
};

std::string_view until_nul(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

}  // namespace

Result<std::vector<PerfEntry>> perf_entries(std::span<const uint8_t> bytes) {
  constexpr uint8_t kMagic[] = {0xca, 0xfe, 0xc0, 0xc0};  // big endian whatever the byte order
  if (bytes.size() < kPrologue || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    return Error{Errc::kCorrupt, "no hsperfdata"};
  }
  const uint8_t major = bytes[5];
  if (major != 2) return Error{Errc::kUnsupported, "hsperfdata of version " + std::to_string(major)};
  const bool little_endian = bytes[4] == 1;
  const Numbers numbers(bytes, little_endian);

  std::vector<PerfEntry> entries;
  size_t at = numbers.u32(24);
  const size_t count = std::min<size_t>(numbers.u32(28), kMostEntries);
  for (size_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < kEntryHeader) break;
    const size_t length = numbers.u32(at);
    if (length < kEntryHeader || length > bytes.size() - at) break;
    const auto entry = bytes.subspan(at, length);
    const size_t begin = at;
    at += length;

    const Numbers fields(entry, little_endian);
    const size_t name_at = fields.u32(4), vector_length = fields.u32(8), data_at = fields.u32(16);
    const char type = static_cast<char>(entry[12]);
    const size_t size = vector_length > 0 ? vector_length : type == 'J' ? 8 : 0;
    const bool is_known = type == 'B' || (type == 'J' && vector_length == 0);
    if (!is_known || size == 0 || name_at >= length || data_at > length || size > length - data_at) continue;
    entries.push_back({until_nul(entry.subspan(name_at)), type, begin + data_at, size});
  }
  return entries;
}

Result<PerfMemory> PerfMemory::find(const Memory& memory, const VmStructs& structs) {
  const auto pointer = [&](const char* field) {
    const auto where = structs.address("PerfMemory", field);
    return where ? memory.read<Address>(*where).value_or(0) : 0;
  };
  if (!structs.address("PerfMemory", "_start")) {
    return Error{Errc::kUnsupported, "this JVM does not tell where its performance counters are"};
  }
  const Address start = pointer("_start"), end = pointer("_end");
  if (start == 0) return Error{Errc::kUnsupported, "the JVM keeps no performance counters (-XX:-UsePerfData)"};
  const Error unreadable{Errc::kFailed, "the JVM's performance counters can't be read"};
  if (start % 8 != 0 || end <= start) return unreadable;
  const auto used = memory.read<uint32_t>(start + kUsedAt);
  if (!used) return unreadable;
  std::vector<uint8_t> bytes(std::min({size_t{*used}, size_t{end - start}, kMostBytes}));
  if (bytes.size() < kPrologue || !memory.copy(bytes.data(), start, bytes.size())) return unreadable;
  const auto entries = perf_entries(bytes);
  if (!entries) return entries.error();
  PerfMemory found(memory);
  for (const PerfEntry& entry : *entries) {
    // The JVM itself writes numbers where they are aligned.
    if (entry.type == 'J' && entry.at % 8 != 0) continue;
    found.places_.emplace(entry.name, Place{start + entry.at, entry.size, entry.type});
  }
  return found;
}

const PerfMemory::Place* PerfMemory::find(std::string_view name, char type) const {
  const auto place = places_.find(name);
  return place != places_.end() && place->second.type == type ? &place->second : nullptr;
}

std::optional<Address> PerfMemory::number(std::string_view name) const {
  const Place* place = find(name, 'J');
  if (place == nullptr) return std::nullopt;
  return place->address;
}

std::optional<PerfMemory::Text> PerfMemory::text(std::string_view name) const {
  const Place* place = find(name, 'B');
  if (place == nullptr) return std::nullopt;
  return Text{place->address, place->size};
}

std::optional<int64_t> PerfMemory::read_number(std::string_view name) const {
  const auto address = number(name);
  return address ? memory_->read<int64_t>(*address) : std::nullopt;
}

std::string PerfMemory::read_text(std::string_view name) const {
  constexpr size_t kLongest = 4096;
  const auto place = text(name);
  if (!place) return {};
  std::string bytes(std::min(place->size, kLongest), '\0');
  if (!memory_->copy(bytes.data(), place->address, bytes.size())) return {};
  bytes.resize(std::min(bytes.find('\0'), bytes.size()));
  return bytes;
}

}  // namespace tarsier::hotspot
