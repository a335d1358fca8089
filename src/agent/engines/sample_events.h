// Samples of a signal engine as events of the recording: thread, weight, state; and the count of them. Session thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "agent/engines/engine.h"
#include "capture/signal_capture.h"

namespace tarsier::agent {

class SampleEvents {
 public:
  SampleEvents(EngineContext& context, recording::Event event) : context_(context), event_(event) {}

  // True if the writer has forgotten all ids since the last call: those of stacks are void.
  bool start_over_if_forgotten();
  struct Woken {
    std::string_view by = {};  // of name_of(WokenBy)
    recording::ThreadId waker = {};
    recording::StackId stack = {};
    std::string_view process = {};  // its name; without data: none
    int64_t process_id = 0;
  };
  struct What {
    recording::StackId stack;
    bool imprecise = false;
    std::string_view failure;  // why there is no stack; empty if there is one
    int64_t virtual_id = 0;    // of the virtual thread that the sampled thread carried; 0: none
    std::string_view wait;     // of waits: what for
    Woken woken = {};          // and by whom it was ended
  };
  void write(const capture::SampleHeader& sample, const What& what);
  // The name of a virtual thread, before its first sample.
  void name_virtual(int64_t id, std::string name);
  // The method at the top of the stack just written, by whatever the engine knows it.
  void add_self(const void* method, uint64_t weight_ns) {
    RecentSelf& recent = recent_self_[(reinterpret_cast<uintptr_t>(method) * kSpread) >> (64 - kLog2Recent)];
    if (recent.method != method) {
      if (recent.ns > 0) self_ns_[recent.method] += recent.ns;
      recent = {method, 0};
    }
    recent.ns += weight_ns;
  }

  // What add_self() was given is not to be used any more.
  void forget_methods();

  struct Counts {
    uint64_t written = 0, failed = 0, imprecise = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }
  // The one with the most self time so far, and its share; null if there is none.
  [[nodiscard]] std::pair<const void*, double> hottest() const;
  [[nodiscard]] recording::Event event() const { return event_; }
  recording::ThreadId thread_of(uint32_t serial);
  recording::ThreadId virtual_thread(int64_t id);

 private:
  EngineContext& context_;
  const recording::Event event_;
  uint64_t generation_ = ~uint64_t{0};  // of the writer's ids below
  std::unordered_map<uint32_t, recording::ThreadId> thread_ids_;
  struct RecentThread {
    uint32_t serial = 0;
    recording::ThreadId id{};
  };
  std::array<RecentThread, 256> recent_threads_{};  // by their serials
  std::unordered_map<int64_t, recording::ThreadId> virtual_ids_;
  std::unordered_map<int64_t, std::string> virtual_names_;  // of those that have one
  std::deque<int64_t> named_virtuals_;                      // in the order of their first names
  Counts counts_;
  // Of each method, but for what recent_self_ has of it.
  std::unordered_map<const void*, uint64_t> self_ns_;
  // Most samples are in few methods: those need not be looked up in a table of all, which is in no cache.
  struct RecentSelf {
    const void* method = nullptr;
    uint64_t ns = 0;
  };
  static constexpr int kLog2Recent = 9;
  static constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  std::array<RecentSelf, size_t{1} << kLog2Recent> recent_self_{};  // by a hash
  uint64_t total_ns_ = 0;
};

}  // namespace tarsier::agent
