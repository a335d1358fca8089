#include "linux/function_extents.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

namespace tarsier::linux {
namespace {

template <class T>
T read_at(std::span<const uint8_t> bytes, uint64_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// The unwind tables themselves. What they say of a function is how long it is, behind where it begins.
class Tables {
 public:
  explicit Tables(const ElfFile& file) {
    const ElfSection* section = file.section(".eh_frame");
    if (section == nullptr) return;
    auto bytes = file.bytes(*section);
    if (!bytes) return;
    address_ = section->address;
    bytes_ = std::move(*bytes);
  }

  // Of the function that begins at `begin`, whose entry is at `entry`; 0: not known. In which way addresses are written
  // stands elsewhere in the table; if it is the usual way, the begin is the one that the index has.
  [[nodiscard]] uint64_t length(uint64_t entry, uint64_t begin) const {
    constexpr uint64_t kBegin = 8, kLength = 12, kEnd = 16;
    const uint64_t at = entry - address_;
    if (bytes_.size() < kEnd || at > bytes_.size() - kEnd) return 0;
    const auto distance = int64_t{read_at<int32_t>(bytes_, at + kBegin)};
    if (entry + kBegin + static_cast<uint64_t>(distance) != begin) return 0;
    const auto length = read_at<int32_t>(bytes_, at + kLength);
    return length > 0 ? static_cast<uint64_t>(length) : 0;
  }

 private:
  uint64_t address_ = 0;
  std::vector<uint8_t> bytes_;
};

}  // namespace

Result<FunctionExtents> FunctionExtents::read(const ElfFile& file) {
  // The index: where each function begins and where its entry is, both relative to the index.
  constexpr uint8_t kUsual[] = {1, 0x1b, 0x03, 0x3b};
  constexpr uint64_t kFirst = 12, kEntry = 8, kCount = 8;
  const ElfSection* section = file.section(".eh_frame_hdr");
  if (section == nullptr) return Error{Errc::kUnsupported, "the library has no unwind tables"};
  const auto index = file.bytes(*section);
  if (!index) return index.error();
  if (index->size() < kFirst || std::memcmp(index->data(), kUsual, sizeof(kUsual)) != 0) {
    return Error{Errc::kUnsupported, "the library's unwind tables are not of the usual kind"};
  }
  const Tables tables(file);
  FunctionExtents result;
  auto& extents = result.extents_;
  const uint64_t count = std::min<uint64_t>(read_at<uint32_t>(*index, kCount), (index->size() - kFirst) / kEntry);
  extents.reserve(count);
  const auto absolute = [&](uint64_t at) {
    return section->address + static_cast<uint64_t>(int64_t{read_at<int32_t>(*index, at)});
  };
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t begin = absolute(kFirst + i * kEntry);
    extents.push_back({begin, begin + tables.length(absolute(kFirst + i * kEntry + 4), begin)});
  }
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  extents.erase(
      std::unique(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.begin == b.begin; }),
      extents.end());
  return result;
}

const FunctionExtents::Extent* FunctionExtents::at(uint64_t address) const {
  const auto next = std::upper_bound(extents_.begin(), extents_.end(), address,
                                     [](uint64_t wanted, const Extent& extent) { return wanted < extent.begin; });
  if (next == extents_.begin()) return nullptr;
  const Extent& found = *std::prev(next);
  return address < found.end ? &found : nullptr;
}

}  // namespace tarsier::linux
