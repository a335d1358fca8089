#include "analysis/top_reader.h"

#include <algorithm>

#include "analysis/thread_kind.h"
#include "recording/writer.h"

namespace tarsier::analysis {

using recording::Chunk;
using recording::ConstantKey;
using recording::EventView;
using recording::FieldIndex;
using recording::TypeIndex;

namespace {

constexpr int64_t kLatest = int64_t{1} << 61;  // ns since the epoch; beyond is damage
constexpr size_t kMostCached = 100'000;        // stacks of one look
constexpr size_t kDeepest = 4'096;             // frames of a stack that are looked at

}  // namespace

const TopReader::HandledType TopReader::kTypes[] = {
    {"tarsier.Session", &TopReader::session, {"jvm", "cpus"}},
    {"jdk.ExecutionSample",
     &TopReader::execution_sample,
     {"sampledThread", "stackTrace", "weight", "failure", "carrier"}},
    {"jdk.ObjectAllocationSample", &TopReader::allocation, {"eventThread", "weight"}},
    {"jdk.JavaMonitorEnter", &TopReader::monitor_enter, {"eventThread", "duration"}},
    {"jdk.ThreadPark", &TopReader::thread_park, {"eventThread", "duration", "owner"}},
    // The figures in the order of TopFigure, after thread and kind.
    {"tarsier.ThreadCpu",
     &TopReader::thread_cpu,
     {"thread", "kind", "cpu", "system", "runQueue", "steal", "voluntarySwitches", "involuntarySwitches", "minorFaults",
      "majorFaults", "migrations"}},
    {"tarsier.EngineUsed", &TopReader::engine_used, {"engine", "mechanism"}},
    {"tarsier.EngineSamples", &TopReader::engine_samples, {"engine", "taken", "failed"}},
    {"tarsier.EngineDropped", &TopReader::engine_dropped, {"engine", "cause", "count"}},
    {"tarsier.Overhead", &TopReader::overhead, {"appThreads"}},
};

void TopReader::chunk(Chunk& chunk) {
  selected_.clear();
  stacks_.clear();
  methods_.clear();
  for (const HandledType& handled : kTypes) {
    const TypeIndex type = chunk.type(handled.name);
    if (!type) continue;
    chunk.select(type);
    const auto index = static_cast<size_t>(type.index);
    if (selected_.size() <= index) selected_.resize(index + 1);
    selected_[index].handler = handled.handler;
    for (size_t i = 0; i < kMaxFields; ++i) {
      if (!handled.fields[i].empty()) selected_[index].fields[i] = chunk.field(type, handled.fields[i]);
    }
  }
}

void TopReader::event(const Chunk& chunk, const EventView& event) {
  const auto index = static_cast<size_t>(event.type().index);
  if (index >= selected_.size() || selected_[index].handler == nullptr) return;
  (this->*selected_[index].handler)(chunk, event, selected_[index].fields);
}

TopModel::Who TopReader::who(const Chunk& chunk, ConstantKey key) {
  recording::ThreadInfo info;
  if (!chunk.thread(key, info)) return {.id = {}, .name = "[unknown thread]"};
  return {.id = {std::max<int64_t>(0, info.os_id), std::max<int64_t>(0, info.java_id)},
          .name = info.java_name.empty() ? info.os_name : info.java_name,
          .is_virtual = info.is_virtual};
}

void TopReader::session(const Chunk&, const EventView& event, const Fields& fields) {
  jvm_ = event.string(fields[0]);
  cpus_ = static_cast<int>(std::clamp<int64_t>(event.number(fields[1]), 0, 1 << 20));
  model_.begin(std::clamp(event.start().count, int64_t{0}, kLatest));
}

const std::vector<uint32_t>& TopReader::methods_of(const Chunk& chunk, ConstantKey stack) {
  if (stacks_.size() > kMostCached) stacks_.clear();
  const auto [known, is_new] = stacks_.try_emplace(stack.key);
  std::vector<uint32_t>& methods = known->second;
  if (!is_new) return methods;
  stack_view_.frames.clear();
  if (!chunk.stack(stack, stack_view_)) return methods;
  for (const recording::FrameView& frame : stack_view_.frames) {
    if (methods.size() == kDeepest) break;
    const auto [index, new_method] = methods_.try_emplace(frame.method.key);
    if (new_method) {
      recording::MethodView view;
      index->second = chunk.method(frame.method, view) ? model_.method(view.class_name, view.name)
                                                       : model_.method({}, "[unknown method]");
    }
    methods.push_back(index->second);
  }
  return methods;
}

void TopReader::execution_sample(const Chunk& chunk, const EventView& event, const Fields& fields) {
  const auto& [thread, stack, weight, failure, carrier, u1, u2, u3, u4, u5, u6] = fields;
  // The kernel knows the carrier: what a virtual thread uses is in its account.
  const ConstantKey carried_by = event.constant(carrier);
  const TopModel::Who on = who(chunk, carried_by.key != 0 ? carried_by : event.constant(thread));
  const std::string_view cause = event.string(failure);
  const std::vector<uint32_t>& methods = methods_of(chunk, event.constant(stack));
  if (cause.empty() && !methods.empty()) {
    model_.sample(on, methods, event.number(weight));
    return;
  }
  const uint32_t failed = model_.method({}, "[failed: " + std::string(cause.empty() ? "no stack" : cause) + "]");
  model_.sample(on, {&failed, 1}, event.number(weight));
}

void TopReader::allocation(const Chunk& chunk, const EventView& event, const Fields& fields) {
  model_.allocated(who(chunk, event.constant(fields[0])), event.number(fields[1]));
}

void TopReader::blocked(const Chunk& chunk, const EventView& event, FieldIndex thread, FieldIndex duration) {
  const int64_t begin = std::clamp(event.start().count, int64_t{0}, kLatest);
  const int64_t length = std::clamp(event.number(duration), int64_t{0}, kLatest - begin);
  model_.blocked(who(chunk, event.constant(thread)), begin, begin + length);
}

void TopReader::monitor_enter(const Chunk& chunk, const EventView& event, const Fields& fields) {
  blocked(chunk, event, fields[0], fields[1]);
}

// Threads park for lack of work as well: only those count that found somebody holding what they want.
void TopReader::thread_park(const Chunk& chunk, const EventView& event, const Fields& fields) {
  if (event.constant(fields[2]).key != 0) blocked(chunk, event, fields[0], fields[1]);
}

void TopReader::thread_cpu(const Chunk& chunk, const EventView& event, const Fields& fields) {
  TopModel::Account account;
  for (size_t i = 0; i < account.size(); ++i) {
    if (!fields[2 + i]) continue;
    const int64_t number = event.number(fields[2 + i]);
    if (number != recording::kUnknown) account[i] = number;
  }
  model_.account(who(chunk, event.constant(fields[0])), thread_kind_of_name(event.string(fields[1])), account,
                 std::clamp(event.start().count, int64_t{0}, kLatest));
}

void TopReader::engine_used(const Chunk&, const EventView& event, const Fields& fields) {
  model_.engine_runs(event.string(fields[0]), event.string(fields[1]) != "none");
}

void TopReader::engine_samples(const Chunk&, const EventView& event, const Fields& fields) {
  const auto count = [&](FieldIndex field) {
    return static_cast<uint64_t>(std::clamp<int64_t>(event.number(field), 0, int64_t{1} << 53));
  };
  model_.counted(event.string(fields[0]), count(fields[1]), count(fields[2]));
}

void TopReader::engine_dropped(const Chunk&, const EventView& event, const Fields& fields) {
  model_.dropped(event.string(fields[0]), event.string(fields[1]),
                 static_cast<uint64_t>(std::clamp<int64_t>(event.number(fields[2]), 0, int64_t{1} << 53)));
}

// The last of what the agent writes about a round.
void TopReader::overhead(const Chunk&, const EventView& event, const Fields& fields) {
  model_.overhead(event.number(fields[0]));
  model_.end_round(std::clamp(event.start().count, int64_t{0}, kLatest));
  ++rounds_;
}

Result<bool> TopTail::look() {
  const uint64_t before = reader_.rounds();
  if (Status read = tail_.look(reader_); !read) return std::move(read).error();
  return reader_.rounds() != before;
}

}  // namespace tarsier::analysis
