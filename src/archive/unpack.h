// The recording in a .jfr.zst, also in one that was damaged, cut short, or made to fill the disk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tarsier::archive {

// By its first bytes: a zstd frame, whatever the file is called.
bool is_archive(std::span<const uint8_t> bytes);

// More than both is a bomb: recordings shrink to a half or a fifth, the emptiest to a hundredth.
struct Limits {
  uint64_t bytes = 256 << 20;
  uint64_t times_the_archive = 200;
};

struct Unpacked {
  uint64_t bytes = 0;
  std::vector<std::string> problems;  // what is missing, and where in the archive; empty: nothing
};

// Writes the recording into `fd`, an empty regular file. Of a damaged chunk what comes before the damage is kept, the
// rest of it is zeros, so that the chunks behind it stay where they were. kCorrupt if there is no recording in it.
Result<Unpacked> unpack(std::span<const uint8_t> archive, int fd, const Limits& limits = {});

}  // namespace tarsier::archive
