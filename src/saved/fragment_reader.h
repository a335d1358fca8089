// The fragments that are saved in a recording, each with the memory as the decoder saw it. The file is hostile: what
// makes no sense is an error in words.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/noted_memory.h"
#include "base/result.h"
#include "base/units.h"
#include "hotspot/lone_walk.h"
#include "hotspot/machine.h"
#include "hotspot/vm_structs.h"
#include "recording/reader.h"

namespace tarsier::saved {

struct SavedJvm {
  const hotspot::Machine* machine = nullptr;
  int release = 0;
  std::string structs_text;
  hotspot::VmStructs structs;

  [[nodiscard]] hotspot::JvmKind kind() const { return {structs, *machine, release}; }
};

// What was not saved can't be read.
class SavedMemory final : public Memory {
 public:
  bool copy(void* out, Address from, size_t size) const noexcept override;

  // Whole lines. False: they are none.
  [[nodiscard]] bool put(Address begin, std::span<const uint8_t> content);
  [[nodiscard]] bool remove(Address begin, uint64_t size);
  void clear() { lines_.clear(); }

 private:
  std::map<Address, NotedMemory::Content> lines_;
};

struct SavedFragment {
  Nanos time;  // since the epoch
  std::string thread;
  std::vector<uint64_t> words;  // a Fragment and what follows it
  uint64_t epoch = 0, decoded_in = 0;
  std::vector<uint8_t> rules;
  size_t max_depth = 0;
  std::string result;
  bool as_written = false;

  [[nodiscard]] const hotspot::Fragment& fragment() const {
    return *reinterpret_cast<const hotspot::Fragment*>(words.data());
  }
  [[nodiscard]] hotspot::LoneWalk walk() const { return {fragment(), epoch, decoded_in, max_depth}; }
};

struct ReadFragments {
  uint64_t count = 0;
  std::vector<std::string> problems;  // of the file
};

// Called for each of them, in the order of the recording. The memory is that of the fragment until the next one.
using OnFragment = std::function<void(const SavedJvm&, const SavedMemory&, const SavedFragment&)>;
Result<ReadFragments> read_fragments(recording::Recording& recording, const OnFragment& on_fragment);

}  // namespace tarsier::saved
