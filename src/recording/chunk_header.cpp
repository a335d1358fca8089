#include "recording/chunk_header.h"

#include <cstring>

#include "recording/format.h"

namespace tarsier::recording {
namespace {

int64_t clamped(double value) {
  constexpr double kLimit = 9.2e18;
  return static_cast<int64_t>(value > kLimit ? kLimit : value < -kLimit ? -kLimit : value);
}
// Times in a damaged file may be anything: wrap, don't overflow.
int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapping_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

}  // namespace

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

Nanos ChunkHeader::span_of(int64_t ticks) const {
  if (ticks_per_second == 1'000'000'000) return Nanos(ticks);
  return Nanos(clamped(static_cast<double>(ticks) * (1e9 / static_cast<double>(ticks_per_second))));
}

Nanos ChunkHeader::epoch_of(int64_t ticks) const {
  return Nanos(wrapping_add(start_nanos, span_of(wrapping_sub(ticks, start_ticks)).count));
}

}  // namespace tarsier::recording
