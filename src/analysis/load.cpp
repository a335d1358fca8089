// What can only be said when the whole recording has been read, and load() itself.
#include <algorithm>
#include <utility>

#include "analysis/engine_account.h"
#include "analysis/loader.h"
#include "analysis/so_far.h"
#include "analysis/thread_kind.h"

namespace tarsier::analysis {
namespace {

constexpr const char* kForeign = "jfr";

Engine jfr_engine(std::string name, Nanos interval) {
  Engine engine;
  engine.name = std::move(name);
  engine.mechanism = "jfr";
  engine.why = "the recording was not made by tarsier";
  engine.interval = interval;
  return engine;
}

}  // namespace

Model Loader::finish(const recording::ReadSummary& summary) {
  end_chunk();
  if (end_ns_ <= model_.start_ns || __builtin_sub_overflow(end_ns_, model_.start_ns, &model_.duration.count)) {
    model_.duration = Nanos(0);
  }
  model_.problems = summary.problems;
  model_.damaged = summary.damaged_chunks > 0;
  if (model_.producer.empty()) model_.producer = kForeign;
  if (model_.cpus == 0) model_.cpus = container_cpus_ > 0 ? container_cpus_ : hardware_threads_;

  weigh_by_period();
  choose_samples();
  choose_allocations();
  settle_accounts();
  for (const Thread& thread : model_.threads) add_unsampled_cpu(model_.unsampled_cpu, thread);
  model_.pauses = std::move(pauses_).finish();
  locks_.finish(model_);
  use_best_profile(model_);
  if (weight_left_ == 0) model_.problems.push_back("weights too large to be true: those above 2^62 were cut");
  return std::move(model_);
}

void Loader::weigh_by_period() {
  // A chunk without settings takes the period of the one before, the first ones that of the first that has one.
  Nanos period(1);
  const auto first =
      std::find_if(periods_.begin(), periods_.end(), [](const PeriodOf& chunk) { return chunk.period.has_value(); });
  if (first != periods_.end()) period = *first->period;
  for (size_t i = 0; i < periods_.size(); ++i) {
    period = periods_[i].period.value_or(period);
    const size_t end = i + 1 < periods_.size() ? periods_[i + 1].first : by_period_.size();
    for (size_t s = periods_[i].first; s < end; ++s) by_period_.set_weight(s, within_bounds(period.count));
  }
  if (by_period_.empty()) return;
  Engine engine = jfr_engine("jdk.ExecutionSample", first == periods_.end() ? Nanos(0) : period);
  engine.taken = by_period_.size();
  if (model_.samples.empty()) {
    engine.written = engine.taken;
  } else {
    engine.dropped[kCountedByOther] = engine.taken;
  }
  model_.engines.push_back(std::move(engine));
}

void Loader::choose_samples() {
  if (cpu_time_samples_ > 0) {
    Engine engine = jfr_engine("jdk.CPUTimeSample", cpu_time_period_);
    engine.written = cpu_time_samples_;
    engine.taken = cpu_time_samples_ + cpu_time_lost_;
    if (cpu_time_lost_ > 0) engine.dropped["lost by JFR"] = cpu_time_lost_;
    model_.engines.push_back(std::move(engine));
  }
  if (model_.samples.empty()) model_.samples = std::move(by_period_);
}

void Loader::settle_accounts() {
  // Which engine a sample is from is only known if there is but one of its kind.
  const auto kind_of = [](const Engine& engine) {
    return engine.is_alloc() ? Profile::kAlloc : engine.is_waits() ? Profile::kWaits : Profile::kCpu;
  };
  const auto loaded = [&](const Engine& engine) -> std::optional<uint64_t> {
    if (engine.is_pauses()) return pauses_.collection_pauses();
    if (!engine.takes_samples())
      return std::nullopt;  // of locks: its events are of several types, some of them made of two
    const Profile kind = kind_of(engine);
    const auto of_kind = std::count_if(model_.engines.begin(), model_.engines.end(), [&](const Engine& other) {
      return other.takes_samples() && kind_of(other) == kind;
    });
    if (model_.producer == kForeign || of_kind != 1) return std::nullopt;
    return kind == Profile::kAlloc ? own_allocations_ : kind == Profile::kWaits ? model_.waits.size() : own_samples_;
  };
  for (Engine& engine : model_.engines) {
    const std::string problem = settle_account(engine, loaded(engine));
    if (!problem.empty()) model_.problems.push_back(problem);
  }
}

void Loader::passed(uint64_t bytes, uint64_t of_all) {
  if (watch_) watch_(SoFar(*this, of_all == 0 ? 1 : static_cast<double>(bytes) / static_cast<double>(of_all)));
}

// What finish() would add is added, shown and taken back: columns move to and fro, no sample is copied. Accounts of
// engines are not settled, for what they account for has not been read yet.
void Loader::look(const std::function<void(const Model&)>& at) {
  const int64_t end = std::max(end_ns_, in_chunk_ ? chunk_last_event_ : 0);
  const int64_t weight_left = weight_left_;
  const std::vector<Engine> engines = model_.engines;
  const std::string producer = model_.producer;
  const int cpus = model_.cpus;
  Samples& allocations = model_.others[static_cast<size_t>(Profile::kAlloc)];
  const bool by_period = model_.samples.empty(), by_tlab = allocations.empty();
  const size_t methods = model_.methods.size(), stacks = model_.stacks.size();

  if (end <= model_.start_ns || __builtin_sub_overflow(end, model_.start_ns, &model_.duration.count)) {
    model_.duration = Nanos(0);
  }
  if (producer.empty()) model_.producer = kForeign;
  if (cpus == 0) model_.cpus = container_cpus_ > 0 ? container_cpus_ : hardware_threads_;
  weigh_by_period();
  choose_samples();
  choose_allocations();
  for (const Thread& thread : model_.threads) add_unsampled_cpu(model_.unsampled_cpu, thread);
  locks_.put_samples(model_);
  use_best_profile(model_);

  at(model_);

  if (const Profile used = std::exchange(model_.profile, Profile::kCpu); used != Profile::kCpu) {
    std::swap(model_.others[static_cast<size_t>(used)], model_.samples);
    std::swap(model_.others[static_cast<size_t>(Profile::kCpu)], model_.samples);
  }
  for (const Profile of_locks : {Profile::kLocks, Profile::kOwners}) {
    model_.others[static_cast<size_t>(of_locks)] = {};
  }
  model_.methods.resize(methods);
  model_.stacks.resize(stacks);
  model_.lock_stretch = {};
  model_.unsampled_cpu.clear();
  if (by_tlab) {
    by_tlab_ = std::exchange(allocations, {});
    by_tlab_objects_ = std::exchange(model_.alloc_objects, {});
  }
  if (by_period) by_period_ = std::exchange(model_.samples, {});
  model_.cpus = cpus;
  model_.producer = producer;
  model_.engines = engines;
  model_.duration = {};
  weight_left_ = weight_left;
}

void SoFar::look(const std::function<void(const Model&)>& at) const {
  loader_.look(at);
}

Result<Model> load(const std::string& path, LockPass* locks) {
  LockPass for_verdict;
  return load_watched(path, locks != nullptr ? *locks : for_verdict, {});
}

Result<Model> load_watched(const std::string& path, LockPass& locks, const std::function<void(const SoFar&)>& watch) {
  auto file = recording::Recording::open(path);
  if (!file.ok()) return std::move(file).error();
  Loader loader(locks);
  loader.tell(watch);
  const auto summary = (*file)->read(loader);
  if (!summary.ok()) return Error(summary.error()).in(path);
  Model model = loader.finish(*summary);
  model.file = path;
  return model;
}

}  // namespace tarsier::analysis
