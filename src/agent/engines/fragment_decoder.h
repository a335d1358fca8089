// From stack fragments to events of the recording. Session thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "agent/engines/engine.h"
#include "agent/engines/fragment_saver.h"
#include "agent/engines/native_code.h"
#include "agent/engines/sample_events.h"
#include "agent/engines/stack_key.h"
#include "agent/engines/steady_bottom.h"
#include "agent/redefinitions.h"
#include "agent/stub_names.h"
#include "base/trusted_memory.h"
#include "capture/fragment_capture.h"
#include "hotspot/code_cache.h"
#include "hotspot/edge_check.h"
#include "hotspot/remembered_stack.h"
#include "hotspot/stack_walker.h"
#include "hotspot/unload_epoch.h"
#include "linux/kernel_symbols.h"

namespace tarsier::agent {

class FragmentDecoder {
 public:
  static Result<std::unique_ptr<FragmentDecoder>> make(EngineContext& context, recording::Event event);

  // Before a batch of samples.
  void begin();
  void decode(const capture::FragmentRecord& record);
  // Above where the thread of the fragment that was decoded last has no Java frames, if that is now known; 0 if what
  // was known has proved wrong.
  [[nodiscard]] std::optional<uint64_t> java_bottom() const { return java_bottom_; }
  // Frames are missing from the stack that was decoded last, since too little of it was copied.
  [[nodiscard]] bool stack_was_cut() const {
    return walked_.end == hotspot::WalkEnd::kTooShort || walked_.end == hotspot::WalkEnd::kNotThawed;
  }
  // Once a second.
  void forget_ended_threads();

  [[nodiscard]] const std::optional<hotspot::UnloadEpoch>& epoch() const { return epoch_; }
  [[nodiscard]] const SampleEvents::Counts& counts() const { return events_.counts(); }
  [[nodiscard]] std::pair<std::string, double> hottest() const;
  // How many samples, by how their walk started and ended.
  [[nodiscard]] const auto& ends() const { return ends_; }
  [[nodiscard]] const auto& starts() const { return starts_; }
  // Of two frames of which the one has called the other, by what their bytecodes say about it.
  [[nodiscard]] const auto& edges() const { return edges_; }
  // Of all frames, how many were known from the stack that the thread had before.
  [[nodiscard]] uint64_t frames() const { return all_frames_; }
  [[nodiscard]] uint64_t reused_frames() const { return reused_frames_; }
  // Null unless fragments are saved.
  [[nodiscard]] const FragmentSaver* saver() const { return saver_.get(); }

 private:
  // One frame of a decoded stack. What it points to stays.
  struct Frame {
    const hotspot::MethodInfo* method;  // null: a stub, or a method that is gone
    const std::string* marker;          // of those
    int32_t bci;
    recording::FrameType type;
    bool operator==(const Frame&) const = default;
  };
  struct Stack {
    std::vector<Frame> frames;  // Java's, innermost first
    std::string failure;
    bool imprecise = false;
    bool deeper = false;     // outer frames are missing
    bool thawing = false;    // inner ones are
    int64_t virtual_id = 0;  // whose it is, if it is a virtual thread's
    std::string_view wait;   // of a thread that waits: what for
  };

  // What is known of a thread from its last sample.
  struct LastOf {
    uint32_t thread = 0;
    SteadyBottom bottom;
    hotspot::RememberedStack stack;
    std::vector<recording::Frame> recorded;  // of its frames, outermost first, as far as they are known
  };

  FragmentDecoder(EngineContext& context, recording::Event event);
  void forget_methods();
  LastOf& last_of(uint32_t thread);
  void forget_last();
  void learn_bottom(const capture::FragmentRecord& record, SteadyBottom& bottom);
  // Epochs of the methods.
  [[nodiscard]] uint64_t now() const;
  [[nodiscard]] uint64_t copied_at(const capture::FragmentRecord& record) const;
  void check_edges();
  hotspot::Edge check_edge(const hotspot::WalkedFrame& callee, const hotspot::WalkedFrame& caller);
  void walk(const hotspot::Fragment& fragment, LastOf& last, Stack& out);
  void save(const capture::FragmentRecord& record, bool wrong);
  [[nodiscard]] std::string_view wait_of(const capture::FragmentRecord& record) const;
  void learn_name(const hotspot::Fragment& fragment);
  Frame frame_of(const hotspot::WalkedFrame& walked);
  const std::string* marker(std::string name);
  // `known`: of the stack's frames, outermost first; it learns the others if they are needed.
  void write(const capture::SampleHeader& header, std::span<const uint64_t> kernel, const Stack& stack,
             std::vector<recording::Frame>& known);
  recording::StackId stack_id(std::span<const uint64_t> kernel, const Stack& stack,
                              std::vector<recording::Frame>& known);
  recording::Frame recorded(const Frame& frame);
  recording::MethodId method_id(const Frame& frame);

  EngineContext& context_;
  TrustedMemory memory_;
  std::optional<hotspot::UnloadEpoch> epoch_;
  Redefinitions redefinitions_;
  uint64_t batch_ = 0;
  std::unique_ptr<hotspot::CodeCache> cache_;
  std::unique_ptr<hotspot::CodeBlobs> blobs_;
  std::unique_ptr<hotspot::Methods> methods_;
  std::unique_ptr<hotspot::StackWalker> walker_;
  const NativeCode native_;
  std::unique_ptr<FragmentSaver> saver_;
  StubNames stub_names_;
  hotspot::WalkedStack walked_;
  Stack stack_;
  std::optional<uint64_t> java_bottom_;

  SampleEvents events_;
  std::unordered_map<StackKey, recording::StackId, StackKeyHash> stacks_;
  std::unordered_map<const void*, recording::MethodId> method_ids_;  // by MethodInfo or marker
  std::vector<recording::Frame> frames_;
  std::vector<uint64_t> hashed_;
  std::unordered_map<std::string, std::unique_ptr<std::string>> markers_;
  linux::KernelSymbols kernel_symbols_;
  std::vector<LastOf> last_of_;  // by a part of the thread's number
  std::vector<recording::Frame> nothing_known_;
  std::unordered_map<uint32_t, Stack> last_;  // of threads that may be said to be where they were
  std::vector<uint32_t> ended_;
  std::optional<hotspot::EdgeCheck> edge_check_;
  std::unordered_map<StackKey, hotspot::Edge, StackKeyHash> known_edges_;
  std::array<uint64_t, 3> edges_{};  // by Edge
  uint64_t all_frames_ = 0, reused_frames_ = 0;
  std::array<uint64_t, static_cast<size_t>(hotspot::WalkEnd::kCount)> ends_{};
  std::array<uint64_t, static_cast<size_t>(hotspot::WalkStart::kCount)> starts_{};
};

}  // namespace tarsier::agent
