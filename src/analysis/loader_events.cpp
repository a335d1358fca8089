// The handlers of events that describe the recording rather than the program.
#include <algorithm>

#include "analysis/bounded_numbers.h"
#include "analysis/jfr_period.h"
#include "analysis/loader.h"

namespace tarsier::analysis {

using recording::Chunk;
using recording::EventView;

namespace {

constexpr int64_t kMaxCpus = 1 << 20;

int as_cpus(int64_t number) {
  return static_cast<int>(std::clamp<int64_t>(number, 0, kMaxCpus));
}

// "OpenJDK 64-Bit Server VM (17.0.15+6-Debian) for linux-aarch64 JRE ..." -> "17.0.15+6-Debian"
std::string_view short_jvm_version(std::string_view text) {
  const size_t open = text.find('(');
  const size_t close = text.find(')', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return text;
  return text.substr(open + 1, close - open - 1);
}

}  // namespace

void Loader::cpu_time_lost(const Chunk&, const EventView& event, const Fields& fields) {
  cpu_time_lost_ += as_count(event.number(fields[0]));
}

void Loader::active_setting(const Chunk&, const EventView& event, const Fields& fields) {
  const auto& [id, name, value, u1, u2, u3, u4] = fields;
  if (execution_sample_id_ < 0 || event.number(id) != execution_sample_id_) return;
  const std::string_view setting = event.string(name);
  if (setting != "period" && setting != "interval") return;  // JFR's and async-profiler's word
  if (const auto period = parse_jfr_period(event.string(value))) periods_.back().period = *period;
}

void Loader::jvm_information(const Chunk&, const EventView& event, const Fields& fields) {
  if (model_.jvm.empty()) model_.jvm = short_jvm_version(event.string(fields[0]));
  if (model_.pid == 0) model_.pid = std::clamp<int64_t>(event.number(fields[1]), 0, kMaxCount);
}

void Loader::cpu_information(const Chunk&, const EventView& event, const Fields& fields) {
  hardware_threads_ = as_cpus(event.number(fields[0]));
}

void Loader::container_configuration(const Chunk&, const EventView& event, const Fields& fields) {
  container_cpus_ = as_cpus(event.number(fields[0]));
}

void Loader::session(const Chunk&, const EventView& event, const Fields& fields) {
  const auto& [version, jvm, pid, cpus, attached, u1, u2] = fields;
  model_.producer = "tarsier " + std::string(event.string(version));
  model_.jvm = event.string(jvm);
  model_.pid = std::clamp<int64_t>(event.number(pid), 0, kMaxCount);
  model_.cpus = as_cpus(event.number(cpus));
  model_.attached = event.number(attached) != 0;
}

Engine& Loader::engine(std::string_view name) {
  const auto known = engines_.find(name);
  if (known != engines_.end()) return model_.engines[known->second];
  engines_.emplace(std::string(name), model_.engines.size());
  Engine& added = model_.engines.emplace_back();
  added.name = name;
  return added;
}

void Loader::engine_used(const Chunk&, const EventView& event, const Fields& fields) {
  const auto& [name, mechanism, why, interval, bytes, u1, u2] = fields;
  Engine& used = engine(event.string(name));
  used.mechanism = event.string(mechanism);
  used.why = event.string(why);
  used.interval = as_nanos(event.number(interval));
  used.interval_bytes = Bytes(std::clamp<int64_t>(event.number(bytes), 0, kMaxCount));
}

// Engines report cumulative numbers: the last one counts.
void Loader::engine_samples(const Chunk&, const EventView& event, const Fields& fields) {
  const auto& [name, taken, written, failed, u1, u2, u3] = fields;
  Engine& counted = engine(event.string(name));
  counted.taken = as_count(event.number(taken));
  counted.written = as_count(event.number(written));
  counted.failed = as_count(event.number(failed));
}

void Loader::engine_dropped(const Chunk&, const EventView& event, const Fields& fields) {
  const auto& [name, cause, count, u1, u2, u3, u4] = fields;
  engine(event.string(name)).dropped[std::string(event.string(cause))] = as_count(event.number(count));
}

void Loader::engine_counter(const Chunk&, const EventView& event, const Fields& fields) {
  const auto& [name, counter, value, u1, u2, u3, u4] = fields;
  engine(event.string(name)).counters[std::string(event.string(counter))] = event.number(value);
}

void Loader::thread_time(const Chunk& chunk, const EventView& event, const Fields& fields) {
  const auto& [key, part, time, count, u1, u2, u3] = fields;
  const auto& names = recording::kTimePartNames;
  const auto known = std::find(names.begin(), names.end(), event.string(part));
  if (known == names.end()) return;
  ThreadTime& times = model_.thread_times[resolve_thread(chunk, event.constant(key))];
  times.parts[static_cast<size_t>(known - names.begin())] = {as_nanos(event.number(time)),
                                                             as_count(event.number(count))};
}

void Loader::overhead(const Chunk&, const EventView& event, const Fields& fields) {
  model_.overhead_app = as_nanos(event.number(fields[0]));
  model_.overhead_background = as_nanos(event.number(fields[1]));
}

}  // namespace tarsier::analysis
