#include "attach/perf_data.h"

#include <cstring>

namespace tarsier::attach {
namespace {

constexpr size_t kPrologue = 32;
constexpr size_t kEntryHeader = 20;
constexpr size_t kMaxEntries = 10'000;  // a JVM has about 300

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

Result<PerfData> parse_perf_data(std::span<const uint8_t> bytes) {
  constexpr uint8_t kMagic[] = {0xca, 0xfe, 0xc0, 0xc0};  // big endian whatever the byte order
  if (bytes.size() < kPrologue || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    return Error{Errc::kCorrupt, "no hsperfdata"};
  }
  const uint8_t major = bytes[5];
  if (major != 2) return Error{Errc::kUnsupported, "hsperfdata of version " + std::to_string(major)};
  const Numbers numbers(bytes, bytes[4] == 1);

  PerfData counters;
  size_t at = numbers.u32(24);
  const size_t entries = std::min<size_t>(numbers.u32(28), kMaxEntries);
  for (size_t i = 0; i < entries; ++i) {
    if (at > bytes.size() || bytes.size() - at < kEntryHeader) break;
    const size_t length = numbers.u32(at);
    if (length < kEntryHeader || length > bytes.size() - at) break;  // a JVM that is just writing it: keep what we have
    const auto entry = bytes.subspan(at, length);
    at += length;

    const Numbers fields(entry, bytes[4] == 1);
    const size_t name_at = fields.u32(4), data_length = fields.u32(8), data_at = fields.u32(16);
    const bool is_string = entry[12] == 'B' && data_length > 0;
    if (!is_string || name_at >= length || data_at > length || data_length > length - data_at) continue;
    counters.emplace(until_nul(entry.subspan(name_at)), until_nul(entry.subspan(data_at, data_length)));
  }
  return counters;
}

}  // namespace tarsier::attach
