#include "recording/chunk_header.h"

#include <algorithm>
#include <cstring>

#include "recording/format.h"

namespace tarsier::recording {
std::optional<ChunkHeader> ChunkHeader::parse(std::span<const uint8_t> bytes) {
  if (bytes.size() < kHeaderSize || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) return {};
  const uint8_t* const p = bytes.data();
  const uint64_t major = get_be(p + kVersionAt, 2);
  if (major != 1 && major != 2) return {};
  ChunkHeader header;
  header.size = get_be(p + kChunkSizeAt, 8);
  header.constant_pool = get_be(p + kConstantPoolAt, 8);
  header.metadata = get_be(p + kMetadataAt, 8);
  header.start_nanos = static_cast<int64_t>(get_be(p + kStartNanosAt, 8));
  header.duration_nanos = static_cast<int64_t>(get_be(p + kDurationAt, 8));
  header.start_ticks = static_cast<int64_t>(get_be(p + kStartTicksAt, 8));
  header.ticks_per_second = static_cast<int64_t>(get_be(p + kTicksPerSecondAt, 8));
  header.finished = p[kStateAt] == 0;
  if (header.ticks_per_second <= 0) return {};
  return header;
}

int64_t ChunkHeader::scaled(int64_t ticks) const {
  constexpr double kLimit = 9.2e18;
  const double nanos = static_cast<double>(ticks) * (1e9 / static_cast<double>(ticks_per_second));
  return static_cast<int64_t>(std::clamp(nanos, -kLimit, kLimit));
}

}  // namespace tarsier::recording
