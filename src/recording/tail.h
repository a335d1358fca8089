// Reads a recording while it is being written, a piece at a time: at each look the events that were flushed since the
// last.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "recording/reader.h"

namespace tarsier::recording {

struct ByteRange {
  uint64_t begin = 0, end = 0;
};

class Tail {
 public:
  static constexpr size_t kMostBytes = 64 << 20;
  // The file must be a recording from its first byte on, or empty as yet. `most_bytes`: if more than that is new in a
  // chunk, padding included, the older events of it are skipped. Who can't keep up thus falls behind by a look, not
  // without end.
  explicit Tail(std::string path, size_t most_bytes = kMostBytes) : path_(std::move(path)), most_bytes_(most_bytes) {}

  // visitor.chunk() comes at each look, also when a chunk goes on: keys of constants are those of before, but what the
  // visitor has selected must be selected again.
  Status look(Visitor& visitor);

  // What the file's further looks will not need: events, not constants; and all of the chunks before the current one.
  // Each range is told once.
  std::vector<ByteRange> take_passed() { return std::exchange(passed_, {}); }
  // From the next look on.
  void read_at_most(size_t bytes) { most_bytes_ = bytes; }
  // Events that were skipped, and those that were not, of the selected types.
  [[nodiscard]] uint64_t skipped() const { return skipped_; }
  [[nodiscard]] uint64_t visited() const { return visited_; }
  // By the last look.
  [[nodiscard]] size_t bytes_read() const { return bytes_read_; }

 private:
  std::string path_;
  size_t most_bytes_;
  uint64_t skipped_ = 0, visited_ = 0;
  size_t bytes_read_ = 0;
  uint64_t chunk_at_ = 0;
  uint64_t position_ = 0;  // in the chunk: read up to there
  std::vector<ByteRange> passed_;
};

}  // namespace tarsier::recording
