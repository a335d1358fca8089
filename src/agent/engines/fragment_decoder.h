// From stack fragments to events of the recording. Session thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "agent/agct_agreement.h"
#include "agent/engines/engine.h"
#include "agent/engines/fragment_saver.h"
#include "agent/engines/jvm_stack_end.h"
#include "agent/engines/known_stacks.h"
#include "agent/engines/native_code.h"
#include "agent/engines/native_names.h"
#include "agent/engines/sample_events.h"
#include "agent/engines/steady_bottom.h"
#include "agent/engines/wakers.h"
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
  // `waker`: of a wait, who has ended it; null: not known.
  void decode(const capture::FragmentRecord& record, const Waker* waker = nullptr) {
    decode(record, record.thread, waker);
  }
  // Of the thread that has woken another, which has that number: kept until that one's wait is decoded. Answers the
  // virtual thread that it was, if it was one.
  int64_t keep_waker(const capture::FragmentRecord& record, uint32_t woken);
  void forget_waker(uint32_t woken) { forget_kept(kOfWaker | woken); }
  // Above where the thread of the fragment that was decoded last has no Java frames, if that is now known; 0 if what
  // was known has proved wrong.
  [[nodiscard]] std::optional<uint64_t> java_bottom() const { return java_bottom_; }
  // It was a thread of the JVM's own, and that is where its stack ends.
  [[nodiscard]] bool was_of_jvm() const { return was_of_jvm_; }
  // Frames are missing from the stack that was decoded last, since too little of it was copied.
  [[nodiscard]] bool stack_was_cut() const {
    return walked_.end == hotspot::WalkEnd::kTooShort || walked_.end == hotspot::WalkEnd::kNotThawed;
  }
  // Of a record that was only to be kept, under the number that it had in the place of its thread's.
  struct Kept {
    recording::StackId stack;
    std::string_view failure;  // until the decoder is asked again
  };
  [[nodiscard]] std::optional<Kept> kept(uint32_t number);
  void forget_kept(uint32_t number);
  // Of a thread, or of the virtual thread that it carries.
  recording::ThreadId thread(uint32_t serial, int64_t virtual_id);
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
  // Of native frames, if they are wanted; otherwise null.
  struct NativeCounts {
    uint64_t samples = 0;      // that were taken in native code
    uint64_t complete = 0;     // of those: all native frames up to Java, or to where the thread began
    uint64_t gaps = 0;         // samples with native frames between Java frames
    uint64_t gaps_filled = 0;  // of those: all of them
  };
  [[nodiscard]] const NativeCounts* native_counts() const {
    return native_names_ != nullptr ? &native_counts_ : nullptr;
  }
  [[nodiscard]] size_t native_memory() const {
    return native_names_ != nullptr ? native_names_->memory_used() + native_.memory_used() : 0;
  }
  // What comes of walking every stack a second time, as if nothing were known; null unless that was asked for.
  struct Comparison {
    hotspot::WalkedStack whole;
    uint64_t walks = 0, reused = 0, different = 0;
  };
  [[nodiscard]] const Comparison* comparison() const { return comparison_.get(); }
  // Asked about every sample; must live as long.
  void set_witness(capture::AgctWitness& witness) { witness_ = &witness; }
  // Null without a witness.
  [[nodiscard]] const AgctAgreement* agreement() const { return witness_ != nullptr ? &agreement_ : nullptr; }
  // Null unless fragments are saved.
  [[nodiscard]] const FragmentSaver* saver() const { return saver_.get(); }

 private:
  // A name that is no method's. There are few, and each is looked up by its text once.
  struct Marker {
    std::string name;
    mutable uint64_t label = 0;  // as that of a method
  };
  // One frame of a decoded stack. What it points to stays, also when the walk that has found it is long over.
  struct Frame {
    const hotspot::MethodInfo* method;  // null: a stub, or a method that is gone
    const Marker* marker;               // of those
    int32_t bci;
    recording::FrameType type;
    int32_t line = -1;                         // -1: nobody has looked yet
    uint64_t label = 0;                        // of the method
    const NativeFunction* function = nullptr;  // of a library
  };
  struct Stack {
    // Java's, innermost first; without those that are known from the thread's last stack, unless they are `whole`.
    std::vector<Frame> frames;
    bool whole = false;
    const hotspot::MethodInfo* innermost = nullptr;  // null: the thread was in no Java method itself
    std::string failure;
    bool imprecise = false;
    bool deeper = false;     // outer frames are missing
    bool thawing = false;    // inner ones are
    int64_t virtual_id = 0;  // whose it is, if it is a virtual thread's
    std::string_view wait;   // of a thread that waits: what for
    // Of one that is kept: what it has been recorded as, which holds as long as ids do.
    recording::StackId id;
    uint32_t id_of = 0;  // method_ids_

    void start_over() {
      frames.clear();
      whole = false;
      id = {};
      id_of = 0;
      innermost = nullptr;
      failure.clear();
      imprecise = deeper = thawing = false;
      virtual_id = 0;
      wait = {};
    }
  };

  // A stack as it is recorded, outermost frame first.
  struct RecordedStack {
    std::vector<StackKey> keys;            // of the stack up to each frame
    std::vector<recording::Frame> frames;  // as many
    // Of the outermost ones: encoded when they first belong to a stack that is new, since most are not.
    recording::EncodedStack encoded;

    [[nodiscard]] size_t size() const { return keys.size(); }
    void shorten(size_t count) {
      if (count >= keys.size()) return;
      keys.resize(count);
      frames.resize(count);
      encoded.shorten(count);
    }
  };
  struct LastStack {
    hotspot::RememberedStack stack;
    RecordedStack recorded;

    void clear() {
      stack.clear();
      recorded.shorten(0);
    }
  };
  // What is known of a thread from its last sample.
  struct LastOf {
    uint32_t thread = 0;
    SteadyBottom bottom;
    LastStack own;
    LastStack of_waker;      // when it last woke another: a thread that is woken and wakes has two stacks in turn
    JvmStackEnd end_of_jvm;  // of a thread of the JVM's own
    std::optional<const Marker*> root;  // what stands below its frames: of Java threads null; nothing: not known
  };
  // What the check of a call has said. Most calls come up again and again.
  struct CheckedCall {
    const hotspot::MethodInfo* callee = nullptr;
    const hotspot::MethodInfo* caller = nullptr;
    int32_t bci = -1;
    hotspot::Edge edge = hotspot::Edge::kUncheckable;
  };
  static constexpr int kLog2Calls = 16;

  static constexpr uint32_t kOfWaker = 1U << 31;  // of the number under which a stack is kept

  FragmentDecoder(EngineContext& context, recording::Event event);
  // `number`: under which it is kept, if it is.
  void decode(const capture::FragmentRecord& record, uint32_t number, const Waker* waker);
  // What stays mapped is read without asking the kernel. The code heaps grow.
  void trust_code();
  void forget_methods();
  void start_over_if_forgotten();
  LastOf& last_of(uint32_t thread);
  // [GC], [JIT] or [VM]; null of Java threads.
  const Marker* root_of(LastOf& last);
  void forget_last();
  void learn_bottom(const capture::FragmentRecord& record, SteadyBottom& bottom);
  // Epochs of the methods.
  [[nodiscard]] uint64_t now() const;
  [[nodiscard]] uint64_t copied_at(const capture::FragmentRecord& record) const;
  [[nodiscard]] uint64_t held_until(const capture::FragmentRecord& record) const;  // its stack, ns
  // Of the frames that were not reused.
  void check_edges();
  hotspot::Edge check_edge(const hotspot::WalkedFrame& callee, const hotspot::WalkedFrame& caller);
  // What is known of the thread's last stack is left out of `out`, unless it shall be `whole`.
  void walk(const hotspot::Fragment& fragment, LastStack& last, bool whole, Stack& out);
  void compare_with_whole(const hotspot::Fragment& fragment);
  void save(const capture::FragmentRecord& record, bool wrong);
  void hear_witness(const capture::FragmentRecord& record);
  [[nodiscard]] std::string_view wait_of(const capture::FragmentRecord& record) const;
  void learn_name(const hotspot::Fragment& fragment);
  Frame frame_of(const hotspot::WalkedFrame& walked);
  Frame native_frame(Address pc);
  void count_native();
  const Marker* marker(std::string_view name);
  // Of a stub, by its pc.
  const Marker* stub_marker(const hotspot::WalkedFrame& walked);
  void keep(uint32_t number, const Stack& stack);
  // `known`: the outermost frames of the stack, to which the others are added.
  void write(const capture::SampleHeader& header, std::span<const uint64_t> kernel, const Stack& stack,
             RecordedStack& known, const Waker* waker);
  SampleEvents::Woken woken_by(const capture::SampleHeader& header, const Waker* waker);
  recording::StackId stack_id(std::span<const uint64_t> kernel, const Stack& stack, RecordedStack& known);
  recording::Frame recorded(const Frame& frame);
  recording::MethodId method_id(const Frame& frame);
  // With the id of the method for the writer.
  uint64_t label_of(const hotspot::MethodInfo& method);
  uint64_t label_of(const NativeFunction& function);
  uint64_t label_of(const Marker& marker);
  [[nodiscard]] bool is_valid(uint64_t label) const { return label >> 32 == method_ids_; }

  EngineContext& context_;
  TrustedMemory memory_;
  std::optional<hotspot::UnloadEpoch> epoch_;
  Redefinitions redefinitions_{nullptr, nullptr};
  uint64_t batch_ = 0;
  Address trusted_until_ = 0;
  uint64_t moment_ = 0, moment_began_ns_ = 0;
  std::unique_ptr<hotspot::CodeCache> cache_;
  std::unique_ptr<hotspot::CodeBlobs> blobs_;
  std::unique_ptr<hotspot::Methods> methods_;
  std::unique_ptr<hotspot::StackWalker> walker_;
  NativeCode native_;
  std::unique_ptr<NativeNames> native_names_;  // null: native frames are not wanted
  std::unique_ptr<FragmentSaver> saver_;
  StubNames stub_names_;
  hotspot::WalkedStack walked_;
  Stack stack_;
  std::optional<uint64_t> java_bottom_;
  bool was_of_jvm_ = false;

  SampleEvents events_;
  KnownStacks stacks_;
  uint32_t method_ids_ = 1;  // which of the ids that methods are labelled with are valid
  std::vector<recording::Frame> kernel_frames_, outer_frames_;
  std::map<std::string, Marker, std::less<>> markers_;
  linux::KernelSymbols kernel_symbols_;
  const bool incremental_;
  std::unique_ptr<Comparison> comparison_;
  capture::AgctWitness* witness_ = nullptr;
  AgctAgreement agreement_;
  std::vector<LastOf> last_of_;  // by a part of the thread's number
  RecordedStack nothing_known_;
  using KeptStacks = std::unordered_map<uint32_t, Stack>;
  KeptStacks last_;  // of threads that may be said to be where they were
  // Of those that were forgotten, with their memory: those of wakers come and go with every wait.
  std::vector<KeptStacks::node_type> spare_;
  std::vector<uint32_t> ended_;
  std::optional<hotspot::EdgeCheck> edge_check_;
  std::vector<CheckedCall> checked_calls_{size_t{1} << kLog2Calls};  // by a hash
  std::array<uint64_t, 3> edges_{};                                  // by Edge
  uint64_t all_frames_ = 0, reused_frames_ = 0;
  NativeCounts native_counts_;
  std::array<uint64_t, static_cast<size_t>(hotspot::WalkEnd::kCount)> ends_{};
  std::array<uint64_t, static_cast<size_t>(hotspot::WalkStart::kCount)> starts_{};
};

}  // namespace tarsier::agent
