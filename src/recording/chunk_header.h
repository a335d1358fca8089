// A chunk's header, as found in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/units.h"

namespace tarsier::recording {

struct ChunkHeader {
  uint64_t size = 0;
  uint64_t constant_pool = 0;
  uint64_t metadata = 0;
  int64_t start_nanos = 0;
  int64_t duration_nanos = 0;
  int64_t start_ticks = 0;
  int64_t ticks_per_second = 0;
  bool finished = false;

  // None if no chunk can start here.
  static std::optional<ChunkHeader> parse(std::span<const uint8_t> bytes);

  [[nodiscard]] Nanos span_of(int64_t ticks) const {
    return Nanos(ticks_per_second == 1'000'000'000 ? ticks : scaled(ticks));
  }
  [[nodiscard]] Nanos epoch_of(int64_t ticks) const {
    // Times in a damaged file may be anything: they wrap.
    const uint64_t since_start = static_cast<uint64_t>(ticks) - static_cast<uint64_t>(start_ticks);
    const auto span = static_cast<uint64_t>(span_of(static_cast<int64_t>(since_start)).count);
    return Nanos(static_cast<int64_t>(static_cast<uint64_t>(start_nanos) + span));
  }

 private:
  [[nodiscard]] int64_t scaled(int64_t ticks) const;
};

}  // namespace tarsier::recording
