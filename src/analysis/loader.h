// Turns the events of a recording into a Model. One table says which event types are read and by whom.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/index_table.h"
#include "analysis/lock_pass.h"
#include "analysis/lock_table.h"
#include "analysis/model.h"
#include "analysis/pauses.h"
#include "analysis/stack_builder.h"
#include "recording/reader.h"

namespace tarsier::analysis {

class SoFar;

class Loader : public recording::Visitor {
 public:
  // `only_locks`: nothing else is read.
  explicit Loader(LockPass& locks, bool only_locks = false) : stacks_(model_), locks_(locks), only_locks_(only_locks) {}
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  void chunk(recording::Chunk& chunk) override;
  void event(const recording::Chunk& chunk, const recording::EventView& event) override;
  // What is there by now; the locks' events are the pass's.
  [[nodiscard]] Model& so_far() { return model_; }
  void passed(uint64_t bytes, uint64_t of_all) override;
  // Whom passed() tells about it.
  void tell(const std::function<void(const SoFar&)>& watch) { watch_ = watch; }
  // The model as if the recording ended here, during the call only; see so_far.h.
  void look(const std::function<void(const Model&)>& at);
  // Once, after the last event.
  Model finish(const recording::ReadSummary& summary);

 private:
  static constexpr size_t kMaxFields = 7;
  using Fields = std::array<recording::FieldIndex, kMaxFields>;
  using Handler = void (Loader::*)(const recording::Chunk&, const recording::EventView&, const Fields&);
  struct HandledType {
    std::string_view name;
    Handler handler;
    std::array<std::string_view, kMaxFields> fields;  // in the order in which the handler wants them
  };
  // Events with many fields: those of locks (loader_locks.cpp) and of the machine (loader_machine.cpp).
  static constexpr size_t kMaxWideFields = 13;
  using WideFields = std::array<recording::FieldIndex, kMaxWideFields>;
  using WideHandler = void (Loader::*)(const recording::Chunk&, const recording::EventView&, const WideFields&);
  struct WideType {
    std::string_view name;
    WideHandler handler;
    std::array<std::string_view, kMaxWideFields> fields;
  };
  struct Selected {
    Handler handler = nullptr;
    Fields fields;
    WideHandler wide_handler = nullptr;
    WideFields wide_fields;
  };
  struct ResolvedStack {
    StackIndex stack{};
    bool truncated = false;
    bool failed = false;  // its outermost frame says so

    // In one number, for a KeyMap.
    static constexpr uint32_t kTruncated = 1U << 30, kFailed = 1U << 31;
    static ResolvedStack unpack(uint32_t packed) {
      return {StackIndex(packed & (kTruncated - 1)), (packed & kTruncated) != 0, (packed & kFailed) != 0};
    }
    [[nodiscard]] uint32_t pack() const { return stack.value | (truncated ? kTruncated : 0) | (failed ? kFailed : 0); }
  };
  static_assert(StackBuilder::kMaxNodes < ResolvedStack::kTruncated);
  // Samples of a period that the file states elsewhere: those from `first` on.
  struct PeriodOf {
    size_t first;
    std::optional<Nanos> period;
  };
  static const HandledType kTypes[];
  static const WideType kLockTypes[];
  static const WideType kMachineTypes[];

  void execution_sample(const recording::Chunk&, const recording::EventView&, const Fields&);
  void wall_sample(const recording::Chunk&, const recording::EventView&, const Fields&);
  void wait(const recording::Chunk&, const recording::EventView&, const Fields&);
  void object_allocation(const recording::Chunk&, const recording::EventView&, const Fields&);
  void tlab_allocation(const recording::Chunk&, const recording::EventView&, const Fields&);
  void cpu_time_sample(const recording::Chunk&, const recording::EventView&, const Fields&);
  void cpu_time_lost(const recording::Chunk&, const recording::EventView&, const Fields&);
  void active_setting(const recording::Chunk&, const recording::EventView&, const Fields&);
  void jvm_information(const recording::Chunk&, const recording::EventView&, const Fields&);
  void cpu_information(const recording::Chunk&, const recording::EventView&, const Fields&);
  void container_configuration(const recording::Chunk&, const recording::EventView&, const Fields&);
  void session(const recording::Chunk&, const recording::EventView&, const Fields&);
  void engine_used(const recording::Chunk&, const recording::EventView&, const Fields&);
  void engine_samples(const recording::Chunk&, const recording::EventView&, const Fields&);
  void engine_dropped(const recording::Chunk&, const recording::EventView&, const Fields&);
  void engine_counter(const recording::Chunk&, const recording::EventView&, const Fields&);
  void thread_time(const recording::Chunk&, const recording::EventView&, const Fields&);
  void overhead(const recording::Chunk&, const recording::EventView&, const Fields&);
  void collection(const recording::Chunk&, const recording::EventView&, const Fields&);
  void collection_pause(const recording::Chunk&, const recording::EventView&, const Fields&);
  void safepoint_begin(const recording::Chunk&, const recording::EventView&, const Fields&);
  void safepoint_end(const recording::Chunk&, const recording::EventView&, const Fields&);
  void safepoints(const recording::Chunk&, const recording::EventView&, const Fields&);
  void vm_operation(const recording::Chunk&, const recording::EventView&, const Fields&);
  void monitor_enter(const recording::Chunk&, const recording::EventView&, const WideFields&);
  void monitor_exit(const recording::Chunk&, const recording::EventView&, const WideFields&);
  void thread_park(const recording::Chunk&, const recording::EventView&, const WideFields&);
  void unpark(const recording::Chunk&, const recording::EventView&, const WideFields&);
  void lock_hold(const recording::Chunk&, const recording::EventView&, const WideFields&);
  void deadlock(const recording::Chunk&, const recording::EventView&, const WideFields&);
  void thread_cpu(const recording::Chunk&, const recording::EventView&, const WideFields&);
  void thread_counter(const recording::Chunk&, const recording::EventView&, const WideFields&);
  void machine_cpu(const recording::Chunk&, const recording::EventView&, const WideFields&);

  Selected& select(recording::Chunk& chunk, recording::TypeIndex type);
  void select_wide(recording::Chunk& chunk, const WideType& handled);
  void select_lock_types(recording::Chunk& chunk);
  void select_machine_types(recording::Chunk& chunk);

  Sample sample(const recording::Chunk&, const recording::EventView&, recording::FieldIndex thread,
                recording::FieldIndex stack);
  // Of tarsier's own samples: flags and weight.
  void finish_sample(const recording::EventView&, const Fields&, Sample& sample);
  void find_waker(const recording::Chunk&, const recording::EventView&, WaitInfo& wait);
  void add_allocation(const recording::Chunk&, const recording::EventView&, const Fields&, int64_t weight,
                      double objects, Samples& samples, std::vector<float>& counts);
  bool is_sleeping(const recording::EventView& event, recording::FieldIndex state);
  // Nearly all constants are known already.
  ResolvedStack resolve_stack(const recording::Chunk& chunk, recording::ConstantKey key) {
    uint32_t& known = stack_keys_[static_cast<uint64_t>(key.key)];
    if (known == KeyMap::kNone) add_stack(chunk, key, known);
    return ResolvedStack::unpack(known);
  }
  MethodIndex resolve_class(const recording::Chunk& chunk, recording::ConstantKey key) {
    uint32_t& known = class_keys_[static_cast<uint64_t>(key.key)];
    if (known == KeyMap::kNone) add_class(chunk, key, known);
    return MethodIndex(known);
  }
  MethodIndex resolve_method(const recording::Chunk&, recording::ConstantKey key);
  ThreadIndex resolve_thread(const recording::Chunk& chunk, recording::ConstantKey key) {
    uint32_t& known = thread_keys_[static_cast<uint64_t>(key.key)];
    if (known == KeyMap::kNone) add_thread(chunk, key, known);
    return ThreadIndex(known);
  }
  void add_stack(const recording::Chunk&, recording::ConstantKey key, uint32_t& known);
  void add_class(const recording::Chunk&, recording::ConstantKey key, uint32_t& known);
  void add_thread(const recording::Chunk&, recording::ConstantKey key, uint32_t& known);
  // Whose lock event it is, and when it happened.
  struct LockMoment {
    int64_t time_ns = 0;
    ThreadIndex thread{};
    StackIndex stack{};
    bool failed = false;
  };
  LockMoment lock_moment(const recording::Chunk&, const recording::EventView&, const WideFields&);
  ThreadIndex other_thread(const recording::Chunk&, const recording::EventView&, recording::FieldIndex field);
  LockIndex resolve_lock(const recording::Chunk&, const recording::EventView&, const WideFields&);
  LockIndex find_lock(const LockObject& lock) { return lock_table_.find_or_add(model_.locks.locks, lock); }
  int64_t end_after(int64_t begin, int64_t duration);
  void fail(Sample& sample, std::string_view cause);
  Engine& engine(std::string_view name);
  int64_t within_bounds(int64_t weight);

  void end_chunk();
  void weigh_by_period();
  void choose_samples();
  void choose_allocations();
  void settle_accounts();

  Model model_;
  StackBuilder stacks_;
  LockPass& locks_;
  const bool only_locks_;
  std::function<void(const SoFar&)> watch_;
  std::map<std::tuple<int64_t, int64_t, std::string>, ThreadIndex> threads_;  // os id, java id, name if both are 0
  std::map<std::string, StackIndex, std::less<>> failures_;
  std::map<std::string, size_t, std::less<>> engines_;
  std::map<std::string, uint32_t> processes_;  // index into Model::waker_processes

  // Of JFR itself and of other agents: their samples say nothing about their weight.
  Samples by_period_;
  std::vector<PeriodOf> periods_;
  uint64_t cpu_time_samples_ = 0;
  uint64_t cpu_time_lost_ = 0;
  Nanos cpu_time_period_;
  uint64_t own_samples_ = 0;  // with a weight: ours
  uint64_t own_allocations_ = 0;
  // By TLAB events, which count only if nothing better is there.
  Samples by_tlab_;
  std::vector<float> by_tlab_objects_;
  int64_t weight_left_ = int64_t{1} << 62;
  int64_t lock_time_left_ = int64_t{1} << 62;  // likewise, of the time that threads were blocked
  LockTable lock_table_;
  MachineMoment now_;
  PauseCollector pauses_;
  int hardware_threads_ = 0;
  int container_cpus_ = 0;
  int64_t end_ns_ = 0;

  // The current chunk.
  std::vector<Selected> selected_;  // by type
  int64_t execution_sample_id_ = -1;
  int64_t chunk_start_ = 0;
  int64_t chunk_duration_ = 0;
  int64_t chunk_last_event_ = 0;
  bool in_chunk_ = false;
  KeyMap stack_keys_, method_keys_, thread_keys_, class_keys_;
  struct WakerFields {
    recording::FieldIndex waker, stack, by, name;
  };
  WakerFields waker_fields_;          // of waits, which have more fields than others
  recording::ConstantKey state_key_;  // of the last sample, and what it means
  bool state_is_sleeping_ = false;
  recording::StackView stack_view_;
  std::vector<StackNode> frames_;
};

}  // namespace tarsier::analysis
