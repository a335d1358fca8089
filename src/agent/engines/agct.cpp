#include "agent/engines/agct.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "agent/engines/agct_decoder.h"
#include "agent/engines/clock_choice.h"
#include "agent/engines/clock_with_spare.h"
#include "agent/engines/timekeeper.h"
#include "base/mapping.h"
#include "capture/agct.h"
#include "linux/loaded_library.h"
#include "linux/procfs.h"
#include "linux/signals.h"

namespace tarsier::agent {
namespace {

using capture::AgctCapture;
using capture::AgctRecord;
using capture::AgctThread;

// Gives every Java thread a clock and makes it known to the handler.
class Sampler final : public ThreadListener {
 public:
  Sampler(AgctCapture& capture, capture::Clock& clock) : capture_(capture), clock_(clock) {}

  bool thread_started(const JavaThread& thread) override {
    auto slot = std::make_unique<AgctThread>();
    slot->clock.serial = thread.serial;
    slot->env = thread.env;
    slot->last_java_sp = thread.last_java_sp;
    // Known to the handler before its first tick can come.
    if (!capture_.threads().set(thread.tid, slot.get())) {
      ++without_clock_;
      return false;
    }
    if (const int err = clock_.start(thread.tid, slot->clock)) {
      capture_.threads().set(thread.tid, nullptr);
      ++without_clock_;
      last_error_ = err;
      return false;
    }
    slots_[thread.tid] = std::move(slot);
    return true;
  }
  void thread_ended(const JavaThread& thread) override {
    const auto it = slots_.find(thread.tid);
    if (it == slots_.end()) return;
    capture_.threads().set(thread.tid, nullptr);
    clock_.stop(it->second->clock);
    slots_.erase(it);
  }
  // No handler works any more.
  void stop_all() {
    for (auto& [tid, slot] : slots_) clock_.stop(slot->clock);
    slots_.clear();
  }
  [[nodiscard]] int64_t threads_without_clock() const { return without_clock_.load(); }
  [[nodiscard]] int last_error() const { return last_error_.load(); }

 private:
  AgctCapture& capture_;
  capture::Clock& clock_;
  std::unordered_map<pid_t, std::unique_ptr<AgctThread>> slots_;  // under the registry's lock
  std::atomic<int64_t> without_clock_{0};
  std::atomic<int> last_error_{0};
};

// The libraries whose functions compiled Java code calls directly, and that stay loaded as long as the JVM lives.
std::vector<capture::UnwindTable> native_code() {
  std::vector<capture::UnwindTable> tables;
  for (const char* name : {"libjvm.so", "libc.so.6", "libm.so.6"}) {
    const auto library = linux::find_library(name);
    if (!library) continue;
    if (auto table = capture::UnwindTable::open(library->code_begin, library->code_end, library->eh_frame_header)) {
      tables.push_back(*table);
    }
  }
  return tables;
}

class AgctEngine final : public Engine {
 public:
  explicit AgctEngine(EngineContext& context) : context_(context) {}

  std::string_view name() const override { return "agct"; }
  Result<control::EngineReport> probe() override;
  Status start() override;
  bool drain() override;
  void settle() override {
    decoder_->name_kernel_addresses();
    decoder_->forget_ended_threads();
  }
  void silence() override { AgctCapture::activate(nullptr); }
  void stop() override;
  EngineStats stats() override { return capture_ != nullptr ? read_stats() : last_stats_; }
  std::vector<std::string> warnings() override;
  std::string missing() override { return missing_; }
  void on_class_prepare(jvmtiEnv* jvmti, jclass klass) override { make_ids_of(jvmti, klass); }

 private:
  void make_clock();
  void stop_ticks();
  // Somebody has installed a handler of his own over ours: from now on ticks would hit him.
  void give_up_signal();
  Status take_memory();
  Status make_method_ids();
  void make_ids_of(jvmtiEnv* jvmti, jclass klass);
  EngineStats read_stats();

  EngineContext& context_;
  capture::AgctFunction agct_ = nullptr;
  ClockChoice choice_;
  std::unique_ptr<AgctDecoder> decoder_;
  const std::vector<capture::UnwindTable> native_ = native_code();

  Mapping ring_, table_, scratch_;
  size_t scratch_count_ = 0;
  std::optional<linux::OwnedSignal> signal_;
  std::unique_ptr<capture::Clock> clock_;
  ClockWithSpare* clock_with_spare_ = nullptr;  // clock_, if it is one
  std::unique_ptr<AgctCapture> capture_;
  std::unique_ptr<Sampler> sampler_;

  std::atomic<int64_t> method_ids_{0}, classes_{0};
  EngineStats last_stats_;
  std::string missing_;
};

Result<control::EngineReport> AgctEngine::probe() {
  agct_ = reinterpret_cast<capture::AgctFunction>(context_.jvm.lib().symbol("AsyncGetCallTrace"));
  if (agct_ == nullptr) return Error{Errc::kUnsupported, "this JVM does not export AsyncGetCallTrace"};
  auto clock = choose_clock(context_.options);
  if (!clock) return std::move(clock).error();
  choice_ = std::move(*clock);
  std::optional<hotspot::CodeCache> code;
  if (context_.jvm.lib().structs()) {
    auto found = hotspot::CodeCache::find(context_.jvm.memory(), *context_.jvm.lib().structs());
    if (found) code.emplace(std::move(*found));
  }
  decoder_ = std::make_unique<AgctDecoder>(context_, std::move(code), choice_.event);
  return control::EngineReport{std::string(name()), choice_.name, choice_.why, choice_.interval, {}};
}

Status AgctEngine::start() {
  if (Status status = take_memory(); !status) return status;
  if (Status status = make_method_ids(); !status) return status;
  auto signal = choice_.fixed_signal == 0 ? linux::OwnedSignal::take(AgctCapture::handle_signal)
                                          : linux::OwnedSignal::take(AgctCapture::handle_signal, choice_.fixed_signal);
  if (!signal) return std::move(signal).error();
  signal_.emplace(std::move(*signal));
  make_clock();
  capture_ = std::make_unique<AgctCapture>(
      agct_, *clock_, context_.options.max_depth,
      AgctCapture::Memory{ring_.data(), ring_.size(), table_.data(), table_.size() / sizeof(void*), scratch_.data(),
                          scratch_count_, native_});
  sampler_ = std::make_unique<Sampler>(*capture_, *clock_);
  AgctCapture::activate(capture_.get());
  if (const int err = clock_->open(*capture_)) return errno_error("starting the clock " + choice_.name, err);
  context_.threads.set_listener(sampler_.get());
  return context_.threads.add_existing();
}

void AgctEngine::make_clock() {
  clock_ = choice_.make(choice_, signal_->number());
  if (!choice_.per_thread) return;
  auto spare = std::make_unique<Timekeeper>(signal_->number(), choice_.interval);
  auto both = std::make_unique<ClockWithSpare>(std::move(clock_), std::move(spare));
  clock_with_spare_ = both.get();
  clock_ = std::move(both);
}

void AgctEngine::give_up_signal() {
  stop_ticks();
  missing_ = "somebody installed another handler for SIG" + std::string(::sigabbrev_np(signal_->number())) +
             ", the signal that we had taken because nobody used it: there are no samples from then on";
}

bool AgctEngine::drain() {
  if (capture_ == nullptr) return false;
  if (missing_.empty() && !signal_->still_ours()) give_up_signal();
  const auto decode = [this](const uint8_t* payload, size_t) {
    decoder_->decode(*reinterpret_cast<const AgctRecord*>(payload));
  };
  return capture_->ring().consume(decode, kPiece) == kPiece;
}

void AgctEngine::stop_ticks() {
  AgctCapture::activate(nullptr);
  context_.threads.set_listener(nullptr);
  clock_->close();
  sampler_->stop_all();
}

void AgctEngine::stop() {
  if (capture_ == nullptr) return;
  // Order matters: first nobody captures, then nobody ticks, then the last samples are drained, and at the very end the
  // signal is left to SIG_IGN.
  if (missing_.empty()) stop_ticks();
  while (drain()) {
  }
  settle();
  last_stats_ = read_stats();
  signal_.reset();
  capture_.reset();
  sampler_.reset();
  clock_with_spare_ = nullptr;
  clock_.reset();
  ring_ = Mapping();
  table_ = Mapping();
  scratch_ = Mapping();
}

std::vector<std::string> AgctEngine::warnings() {
  std::vector<std::string> warnings = choice_.warnings;
  if (!decoder_->knows_code()) {
    warnings.emplace_back("the code cache could not be read: frame types and imprecise code are not told");
  }
  if (clock_with_spare_ != nullptr && clock_with_spare_->spared() > 0) {
    warnings.push_back(std::to_string(clock_with_spare_->spared()) + " threads are sampled by the clock timekeeper: " +
                       choice_.name + " for them is more than the limits of this process allow us (" +
                       errno_text(clock_with_spare_->last_error()) + ")");
  }
  if (sampler_ != nullptr && sampler_->threads_without_clock() > 0) {
    warnings.push_back(std::to_string(sampler_->threads_without_clock()) +
                       " threads are not sampled: " + errno_text(sampler_->last_error()));
  }
  return warnings;
}

Status AgctEngine::take_memory() {
  // An eighth of the budget for the ring, but room for a few of the deepest stacks; the rest belongs to names and
  // stacks in the writer.
  const size_t scratch_size = AgctCapture::scratch_size(context_.options.max_depth);
  const auto eighth = static_cast<uint64_t>(std::max<int64_t>(context_.options.memory.count / 8, 1 << 15));
  ring_ = Mapping(std::max(std::bit_floor(eighth), std::bit_ceil(uint64_t{4} * scratch_size)));
  const int64_t pid_max = linux::read_number("/proc/sys/kernel/pid_max").value_or(1 << 22);
  table_ = Mapping(static_cast<size_t>(pid_max + 1) * sizeof(void*));
  // As many handlers as CPUs can run at once, and some may be preempted in the middle.
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  scratch_count_ = static_cast<size_t>(std::clamp<long>(2 * cpus + 2, 4, 128));
  scratch_ = Mapping(scratch_count_ * scratch_size);
  if (!ring_ || !table_ || !scratch_) return Error{Errc::kFailed, "no memory for the sample ring"};
  return {};
}

// AsyncGetCallTrace can't make jmethodIDs in a handler: those of every class must exist before.
Status AgctEngine::make_method_ids() {
  jvmtiEnv* jvmti = context_.jvm.jvmti();
  for (const jvmtiEvent event : {JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE}) {
    if (jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) != JVMTI_ERROR_NONE) {
      return Error{Errc::kUnsupported, "the JVM does not tell about class loading, which AsyncGetCallTrace needs"};
    }
  }
  jint count = 0;
  JvmtiMemory<jclass> classes(jvmti);
  if (jvmti->GetLoadedClasses(&count, classes.out()) != JVMTI_ERROR_NONE) {
    return Error{Errc::kFailed, "the JVM does not list its classes"};
  }
  for (jint i = 0; i < count; ++i) {
    make_ids_of(jvmti, classes.get()[i]);
    context_.jvm.jni()->DeleteLocalRef(classes.get()[i]);
  }
  return {};
}

void AgctEngine::make_ids_of(jvmtiEnv* jvmti, jclass klass) {
  jint count = 0;
  JvmtiMemory<jmethodID> methods(jvmti);
  if (jvmti->GetClassMethods(klass, &count, methods.out()) != JVMTI_ERROR_NONE) return;  // an array, or not prepared
  method_ids_.fetch_add(count, std::memory_order_relaxed);
  classes_.fetch_add(1, std::memory_order_relaxed);
}

EngineStats AgctEngine::read_stats() {
  EngineStats stats;
  const capture::AgctCounters& counters = capture_->counters();
  for (size_t i = 0; i < static_cast<size_t>(capture::AgctDrop::kCount); ++i) {
    stats.dropped[capture::kAgctDropNames[i]] = counters.dropped[i].load(std::memory_order_relaxed);
  }
  // After the drops, so that a sample dropped in between is not missing from `taken`.
  stats.taken = counters.taken.load(std::memory_order_relaxed);
  const AgctDecoder::Counts& counts = decoder_->counts();
  // What the writer lost to a full disk was decoded, but is not in the file.
  const uint64_t lost = context_.writer.lost_events(choice_.event);
  stats.dropped["disk error"] = lost;
  stats.written = counts.written - lost;
  stats.failed = counts.failed;
  const auto measured = static_cast<double>(std::max<uint64_t>(1, counters.measured.load(std::memory_order_relaxed)));
  const auto mean_ns = static_cast<double>(counters.measured_ns.load(std::memory_order_relaxed)) / measured;
  stats.in_app_threads = Nanos(static_cast<int64_t>(mean_ns * static_cast<double>(stats.taken)));
  stats.memory = Bytes(static_cast<int64_t>(ring_.size() + scratch_.size()));
  stats.counters = {{"imprecise samples", static_cast<int64_t>(counts.imprecise)},
                    {"jmethodIDs", method_ids_.load()},
                    // A cell and an entry in its class's cache each, and a header per class.
                    {"jmethodID bytes (estimated)", method_ids_.load() * 16 + classes_.load() * 32},
                    {"threads without a clock", sampler_->threads_without_clock()},
                    {"threads by the spare clock", clock_with_spare_ != nullptr ? clock_with_spare_->spared() : 0},
                    {"signal taken by somebody else", missing_.empty() ? 0 : 1},
                    {"signal", signal_->number()}};
  std::tie(stats.hottest, stats.hottest_share) = decoder_->hottest();
  return stats;
}

}  // namespace

std::unique_ptr<Engine> make_agct_engine(EngineContext& context) {
  return std::make_unique<AgctEngine>(context);
}

}  // namespace tarsier::agent
