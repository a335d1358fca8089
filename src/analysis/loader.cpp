#include "analysis/loader.h"

#include <algorithm>

namespace tarsier::analysis {

using recording::Chunk;
using recording::ConstantKey;
using recording::EventView;
using recording::FieldIndex;
using recording::TypeIndex;

namespace {

constexpr std::string_view kExecutionSample = "jdk.ExecutionSample";
constexpr std::string_view kWait = "tarsier.Wait";
// async-profiler (in its wall-clock mode) and our writer mark samples of threads that did not run.
constexpr std::string_view kSleeping = "STATE_SLEEPING";

}  // namespace

const Loader::HandledType Loader::kTypes[] = {
    {kExecutionSample,
     &Loader::execution_sample,
     {"sampledThread", "stackTrace", "state", "weight", "imprecise", "failure", "carrier"}},
    {"tarsier.WallSample",
     &Loader::wall_sample,
     {"sampledThread", "stackTrace", "state", "weight", "imprecise", "failure"}},
    {kWait, &Loader::wait, {"sampledThread", "stackTrace", "kind", "weight", "imprecise", "failure", "ongoing"}},
    {"jdk.ObjectAllocationSample",
     &Loader::object_allocation,
     {"eventThread", "stackTrace", "objectClass", "weight", "size", "failure"}},
    {"jdk.ObjectAllocationInNewTLAB",
     &Loader::tlab_allocation,
     {"eventThread", "stackTrace", "objectClass", "tlabSize", "allocationSize"}},
    {"jdk.ObjectAllocationOutsideTLAB",
     &Loader::tlab_allocation,
     {"eventThread", "stackTrace", "objectClass", "allocationSize", "allocationSize"}},
    {"jdk.CPUTimeSample",
     &Loader::cpu_time_sample,
     {"eventThread", "stackTrace", "samplingPeriod", "failed", "biased"}},
    {"jdk.CPUTimeSamplesLost", &Loader::cpu_time_lost, {"lostSamples"}},
    {"jdk.GarbageCollection", &Loader::collection, {"duration", "name", "cause"}},
    {"jdk.GCPhasePause", &Loader::collection_pause, {"duration", "name"}},
    {"jdk.SafepointBegin", &Loader::safepoint_begin, {"duration", "safepointId"}},
    {"jdk.SafepointEnd", &Loader::safepoint_end, {"duration", "safepointId"}},
    {"jdk.ExecuteVMOperation", &Loader::vm_operation, {"duration", "operation", "safepoint"}},
    {"tarsier.Safepoints", &Loader::safepoints, {"duration", "count", "time", "timeToStop"}},
    {"jdk.ActiveSetting", &Loader::active_setting, {"id", "name", "value"}},
    {"jdk.JVMInformation", &Loader::jvm_information, {"jvmVersion", "pid"}},
    {"jdk.CPUInformation", &Loader::cpu_information, {"hwThreads"}},
    {"jdk.ContainerConfiguration", &Loader::container_configuration, {"effectiveCpuCount"}},
    {"tarsier.Session", &Loader::session, {"tarsierVersion", "jvm", "pid", "cpus", "attached"}},
    {"tarsier.EngineUsed", &Loader::engine_used, {"engine", "mechanism", "why", "interval", "intervalBytes"}},
    {"tarsier.EngineSamples", &Loader::engine_samples, {"engine", "taken", "written", "failed"}},
    {"tarsier.EngineDropped", &Loader::engine_dropped, {"engine", "cause", "count"}},
    {"tarsier.EngineCounter", &Loader::engine_counter, {"engine", "name", "value"}},
    {"tarsier.ThreadTime", &Loader::thread_time, {"thread", "part", "time", "count"}},
    {"tarsier.Overhead", &Loader::overhead, {"appThreads", "background"}},
};

void Loader::chunk(Chunk& chunk) {
  end_chunk();
  in_chunk_ = true;
  chunk_start_ = chunk.start().count;
  chunk_duration_ = chunk.duration().count;
  chunk_last_event_ = chunk_start_;
  model_.start_ns = model_.start_ns == 0 ? chunk_start_ : std::min(model_.start_ns, chunk_start_);
  // The same in all chunks of a file of ours.
  if (__builtin_sub_overflow(chunk_start_, chunk.clock_start().count, &model_.clock_offset_ns)) {
    model_.clock_offset_ns = 0;
  }
  periods_.push_back({by_period_.size(), std::nullopt});

  selected_.clear();
  for (const HandledType& handled : kTypes) {
    if (only_locks_) break;
    const TypeIndex type = chunk.type(handled.name);
    if (!type) continue;
    Selected& selected = select(chunk, type);
    selected.handler = handled.handler;
    for (size_t i = 0; i < kMaxFields; ++i) {
      if (!handled.fields[i].empty()) selected.fields[i] = chunk.field(type, handled.fields[i]);
    }
    if (handled.name == kWait) {
      waker_fields_ = {chunk.field(type, "waker"), chunk.field(type, "wakerStackTrace"), chunk.field(type, "wokenBy"),
                       chunk.field(type, "wakerName")};
    }
    if (handled.name == kExecutionSample) execution_sample_id_ = chunk.type_id(type);
  }
  if (!only_locks_) select_machine_types(chunk);
  select_lock_types(chunk);
}

void Loader::select_wide(Chunk& chunk, const WideType& handled) {
  const TypeIndex type = chunk.type(handled.name);
  if (!type) return;
  Selected& selected = select(chunk, type);
  selected.wide_handler = handled.handler;
  selected.wide_fields = {};
  for (size_t i = 0; i < kMaxWideFields; ++i) {
    if (!handled.fields[i].empty()) selected.wide_fields[i] = chunk.field(type, handled.fields[i]);
  }
}

Loader::Selected& Loader::select(Chunk& chunk, TypeIndex type) {
  chunk.select(type);
  const auto index = static_cast<size_t>(type.index);
  if (selected_.size() <= index) selected_.resize(index + 1);
  return selected_[index];
}

void Loader::event(const Chunk& chunk, const EventView& event) {
  const TypeIndex type = event.type();
  if (!type || static_cast<size_t>(type.index) >= selected_.size()) return;
  const Selected& selected = selected_[static_cast<size_t>(type.index)];
  if (selected.handler == nullptr && selected.wide_handler == nullptr) return;
  chunk_last_event_ = std::max(chunk_last_event_, event.start().count);
  if (selected.handler != nullptr) {
    (this->*selected.handler)(chunk, event, selected.fields);
  } else {
    (this->*selected.wide_handler)(chunk, event, selected.wide_fields);
  }
}

void Loader::end_chunk() {
  if (in_chunk_) {
    // An unfinished chunk does not know its duration: what happened last in it is its end.
    int64_t end = 0;
    if (chunk_duration_ <= 0 || __builtin_add_overflow(chunk_start_, chunk_duration_, &end)) end = chunk_last_event_;
    end_ns_ = std::max(end_ns_, end);
  }
  in_chunk_ = false;
  execution_sample_id_ = -1;
  stack_keys_.clear();
  method_keys_.clear();
  thread_keys_.clear();
  class_keys_.clear();
  state_key_ = {};
}

int64_t Loader::within_bounds(int64_t weight) {
  weight = std::clamp<int64_t>(weight, 0, weight_left_);
  weight_left_ -= weight;
  return weight;
}

Sample Loader::sample(const Chunk& chunk, const EventView& event, FieldIndex thread, FieldIndex stack) {
  const ResolvedStack resolved = resolve_stack(chunk, event.constant(stack));
  Sample sample{.time_ns = event.start().count,
                .thread = resolve_thread(chunk, event.constant(thread)),
                .stack = resolved.stack,
                .failed = resolved.failed,
                .truncated = resolved.truncated};
  return sample;
}

void Loader::execution_sample(const Chunk& chunk, const EventView& event, const Fields& fields) {
  const auto& [thread, stack, state, weight, unused1, unused2, carrier] = fields;
  if (weight) ++own_samples_;
  if (is_sleeping(event, state)) return;
  Sample sample = this->sample(chunk, event, thread, stack);
  finish_sample(event, fields, sample);
  model_.threads[sample.thread.value].sampled = true;
  if (carrier && event.constant(carrier).key != 0) {
    Thread& carrying = model_.threads[resolve_thread(chunk, event.constant(carrier)).value];
    carrying.sampled = true;
    carrying.carried += Nanos(sample.weight);
  }
  (weight ? model_.samples : by_period_).push_back(sample);
}

void Loader::wall_sample(const Chunk& chunk, const EventView& event, const Fields& fields) {
  ++own_samples_;
  Sample sample = this->sample(chunk, event, fields[0], fields[1]);
  finish_sample(event, fields, sample);
  model_.threads[sample.thread.value].sampled = true;
  model_.others[static_cast<size_t>(Profile::kWall)].push_back(sample);
}

void Loader::wait(const Chunk& chunk, const EventView& event, const Fields& fields) {
  Sample sample = this->sample(chunk, event, fields[0], fields[1]);
  finish_sample(event, fields, sample);
  const std::string_view name = event.string(fields[2]);
  auto kind = std::find(model_.wait_kinds.begin(), model_.wait_kinds.end(), name);
  constexpr size_t kMostKinds = 100;  // more of them are damage
  if (kind == model_.wait_kinds.end() && model_.wait_kinds.size() < kMostKinds) {
    kind = model_.wait_kinds.emplace(kind, name);
  } else if (kind == model_.wait_kinds.end()) {
    --kind;
  }
  WaitInfo& wait = model_.waits.emplace_back();
  wait.kind = static_cast<uint8_t>(kind - model_.wait_kinds.begin());
  wait.ongoing = event.number(fields[6]) != 0;
  find_waker(chunk, event, wait);
  model_.others[static_cast<size_t>(Profile::kWaits)].push_back(sample);
}

void Loader::find_waker(const Chunk& chunk, const EventView& event, WaitInfo& wait) {
  const auto& [waker, stack, by, name] = waker_fields_;
  wait.woken_by = wait.ongoing ? WokenBy::kOngoing : WokenBy::kUnknown;
  if (!by) return;  // of an older tarsier
  const std::string_view word = event.string(by);
  for (size_t i = 0; i < static_cast<size_t>(WokenBy::kCount); ++i) {
    if (word == woken_by_name(static_cast<WokenBy>(i))) wait.woken_by = static_cast<WokenBy>(i);
  }
  if (waker && event.constant(waker).key != 0) {
    wait.has_waker = true;
    wait.waker = resolve_thread(chunk, event.constant(waker));
  }
  if (stack && event.constant(stack).key != 0) wait.waker_stack = resolve_stack(chunk, event.constant(stack)).stack;
  if (wait.woken_by != WokenBy::kProcess) return;
  constexpr size_t kMostProcesses = 1 << 16;
  const std::string process(name ? event.string(name) : std::string_view());
  auto& all = model_.waker_processes;
  const auto [known, is_new] = processes_.try_emplace(process, static_cast<uint32_t>(all.size()));
  if (is_new && all.size() < kMostProcesses) all.push_back(process);
  wait.process = std::min(known->second, static_cast<uint32_t>(all.size() - 1));
}

void Loader::finish_sample(const EventView& event, const Fields& fields, Sample& sample) {
  const auto& [thread, stack, state, weight, imprecise, failure, unused] = fields;
  sample.imprecise = event.number(imprecise) != 0;
  const std::string_view cause = event.string(failure);
  if (!cause.empty() || sample.stack == StackIndex(0)) fail(sample, cause);
  if (weight) sample.weight = within_bounds(event.number(weight));
}

bool Loader::is_sleeping(const EventView& event, FieldIndex state) {
  // Nearly all samples have the same state: its name is looked up only when the key changes.
  const ConstantKey key = event.constant(state);
  if (key.key == 0 || key != state_key_) {
    state_key_ = key;
    state_is_sleeping_ = event.string(state) == kSleeping;
  }
  return state_is_sleeping_;
}

void Loader::cpu_time_sample(const Chunk& chunk, const EventView& event, const Fields& fields) {
  const auto& [thread, stack, period, failed, biased, unused1, unused2] = fields;
  Sample sample = this->sample(chunk, event, thread, stack);
  model_.threads[sample.thread.value].sampled = true;
  // Biased: JFR waited for a safepoint, so the innermost frame may be a later one.
  sample.imprecise = event.number(biased) != 0;
  if (event.number(failed) != 0 || sample.stack == StackIndex(0)) fail(sample, "the JVM could not walk it");
  sample.weight = within_bounds(event.number(period));
  cpu_time_period_ = Nanos(sample.weight);
  ++cpu_time_samples_;
  model_.samples.push_back(sample);
}

void Loader::fail(Sample& sample, std::string_view cause) {
  const bool has_marker = sample.failed;
  sample.failed = true;
  sample.truncated = false;
  if (has_marker) return;
  if (cause.empty()) cause = "no stack";
  const auto known = failures_.find(cause);
  if (known != failures_.end()) {
    sample.stack = known->second;
    return;
  }
  const std::string marker = "[failed: " + std::string(cause) + "]";
  sample.stack = failures_.emplace(std::string(cause), stacks_.marker_stack(marker)).first->second;
}

void Loader::add_stack(const Chunk& chunk, ConstantKey key, uint32_t& known) {
  ResolvedStack resolved;
  stack_view_.frames.clear();
  stack_view_.truncated = false;
  if (chunk.stack(key, stack_view_)) {
    frames_.clear();
    for (const recording::FrameView& frame : stack_view_.frames) {
      frames_.push_back({.parent = {},
                         .method = resolve_method(chunk, frame.method),
                         .line = std::max(frame.line, 0),
                         .bci = frame.bci,
                         .type = frame.type});
    }
    resolved.stack = stacks_.stack(frames_, stack_view_.truncated);
    resolved.truncated = stack_view_.truncated || frames_.size() > StackBuilder::kMaxDepth;
    resolved.failed = !frames_.empty() && frames_.back().type == FrameType::kMarker &&
                      model_.methods[frames_.back().method.value].name.starts_with("[failed");
  }
  known = resolved.pack();
}

MethodIndex Loader::resolve_method(const Chunk& chunk, ConstantKey key) {
  uint32_t& known = method_keys_[static_cast<uint64_t>(key.key)];
  if (known == KeyMap::kNone) {
    recording::MethodView view;
    const bool found = chunk.method(key, view);
    known = (found ? stacks_.method(view.class_name, view.name, view.descriptor) : stacks_.marker("[unknown method]"))
                .value;
  }
  return MethodIndex(known);
}

void Loader::add_thread(const Chunk& chunk, ConstantKey key, uint32_t& known) {
  recording::ThreadInfo info;
  if (!chunk.thread(key, info)) {
    info = recording::ThreadInfo();
    info.os_name = "[unknown thread]";
  }
  const std::string name(info.java_name.empty() ? info.os_name : info.java_name);
  const bool nameless = info.os_id == 0 && info.java_id == 0;
  const auto next = ThreadIndex(static_cast<uint32_t>(std::min<size_t>(model_.threads.size(), kMaxThreads - 1)));
  const auto [entry, is_new] = threads_.try_emplace({info.os_id, info.java_id, nameless ? name : std::string()}, next);
  known = entry->second.value;
  if (is_new && model_.threads.size() < kMaxThreads) model_.threads.emplace_back();
  Thread& thread = model_.threads[known];
  thread.os_id = info.os_id;
  thread.java_id = info.java_id;
  if (!name.empty()) thread.name = name;
  if (!info.group.empty()) thread.group = info.group;
  thread.is_virtual = info.is_virtual;
  if (is_new) thread.kind = info.java_id != 0 || !info.java_name.empty() ? ThreadKind::kApp : ThreadKind::kOther;
}

}  // namespace tarsier::analysis
