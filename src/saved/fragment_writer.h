// Fragments into a recording, each with the memory that decoding it takes. What stands there already is not written
// again: a reader keeps what it has read and takes the changes in.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/noted_memory.h"
#include "base/units.h"
#include "hotspot/lone_walk.h"
#include "recording/writer.h"

namespace tarsier::saved {

class FragmentWriter {
 public:
  explicit FragmentWriter(recording::Writer& writer) : writer_(writer) {}

  // Before the first fragment.
  void write_jvm(Nanos time, std::string_view architecture, int release, std::string_view structs);

  struct Fragment {
    Nanos time;
    recording::ThreadId thread;
    const hotspot::LoneWalk& walk;
    std::span<const uint8_t> rules;
    std::string_view result;
    bool as_written;
  };
  // `memory`: all that was read to decode it.
  void write(const Fragment& fragment, const NotedMemory& memory);

  // In the recording, about.
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  void write_memory(Nanos time, const NotedMemory& memory);
  void write_run(Nanos time, Address begin, bool readable, std::span<const uint8_t> content, size_t lines);

  // More would take too much of the agent's memory; when they are forgotten they are just written again.
  static constexpr size_t kMostKnown = 1 << 16;
  recording::Writer& writer_;
  std::unordered_map<Address, uint64_t> known_;  // a hash of each line as it stands in the recording; 0: unreadable
  uint64_t bytes_ = 0;
};

}  // namespace tarsier::saved
