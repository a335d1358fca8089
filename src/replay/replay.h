// Decodes the fragments that are saved in a recording again, with nothing but what was saved with them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/noted_memory.h"
#include "base/result.h"
#include "saved/fragment_reader.h"

namespace tarsier::replay {

struct Replayed {
  const saved::SavedJvm& jvm;
  const saved::SavedFragment& fragment;
  const NotedMemory& memory;  // what was read of it this time
  const std::string& result;  // as text; the cause if it can't be decoded at all

  [[nodiscard]] bool same() const { return result == fragment.result; }
};

struct Summary {
  uint64_t fragments = 0, different = 0;
  std::vector<std::string> problems;  // of the file
};

// A .jfr or a .jfr.zst. kFailed if it has no saved fragments.
Result<Summary> replay_file(const std::string& path, const std::function<void(const Replayed&)>& on_replayed);

// The text of a stack, decoded alone over this memory.
std::string decode(const Memory& memory, const saved::SavedJvm& jvm, const saved::SavedFragment& fragment);

// What has changed from one text to the other, line by line: "- was", "+ is".
std::string difference(const std::string& was, const std::string& is);

}  // namespace tarsier::replay
