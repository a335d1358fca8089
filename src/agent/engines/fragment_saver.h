// --save-fragments: keeps fragments in the recording together with the memory that the decoder has read, so that
// tarsier-replay can decode them again. Session thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "agent/engines/engine.h"
#include "base/noted_memory.h"
#include "capture/fragment_capture.h"
#include "hotspot/noted_rules.h"
#include "hotspot/stack_walker.h"
#include "saved/fragment_writer.h"

namespace tarsier::agent {

class FragmentSaver {
 public:
  // All must live as long.
  FragmentSaver(EngineContext& context, const Memory& memory, const hotspot::NativeFrames& native);

  struct Decoded {
    const hotspot::WalkedStack& stack;
    bool wrong;  // a call in it can't be
    uint64_t epoch, decoded_in;
  };
  // Saves it if it is its turn, or if something is the matter with its stack.
  void consider(const capture::FragmentRecord& record, const Decoded& decoded);
  void add_to(EngineStats& stats) const;

 private:
  [[nodiscard]] bool wants(const Decoded& decoded);
  void save(const capture::FragmentRecord& record, const Decoded& decoded);
  void write(const capture::FragmentRecord& record, const hotspot::LoneWalk& walk, const std::string& result,
             bool as_written);

  EngineContext& context_;
  const uint64_t every_;
  std::set<std::string, std::less<>> types_;  // that the decoder wants to know about
  const hotspot::VmStructs structs_;
  NotedMemory memory_;
  hotspot::NotedRules rules_;
  saved::FragmentWriter writer_;
  uint64_t seen_ = 0, saved_ = 0, not_saved_ = 0, differ_ = 0;
  bool jvm_is_written_ = false;
  std::array<uint64_t, static_cast<size_t>(hotspot::WalkEnd::kCount)> odd_{};
};

}  // namespace tarsier::agent
