#include "agent/engines/signal_engine.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "agent/engines/timekeeper.h"
#include "base/clock.h"
#include "linux/procfs.h"

namespace tarsier::agent {

using capture::SampledThread;
using capture::SignalCapture;

// Gives every Java thread a clock and makes it known to the handler.
class SignalSampler final : public ThreadListener {
 public:
  SignalSampler(SignalCapture& capture, capture::Clock& clock, bool jvm_threads)
      : capture_(capture), clock_(clock), jvm_threads_(jvm_threads) {}

  [[nodiscard]] bool follows_jvm_threads() const override { return jvm_threads_; }

  bool thread_started(const JavaThread& thread) override {
    auto slot = std::make_unique<SampledThread>();
    slot->clock.serial = thread.serial;
    slot->env = thread.env;
    slot->java_thread = thread.java_thread;
    slot->last_java_sp = thread.last_java_sp;
    // Ours before the handler knows of it, and known to that before its first tick can come.
    SampledThread& known = *(slots_[thread.tid] = std::move(slot));
    if (!capture_.threads().set(thread.tid, &known)) {
      slots_.erase(thread.tid);
      ++without_clock_;
      return false;
    }
    if (const int err = clock_.start(thread.tid, known.clock)) {
      capture_.threads().set(thread.tid, nullptr);
      slots_.erase(thread.tid);
      ++without_clock_;
      last_error_ = err;
      return false;
    }
    return true;
  }
  void thread_ended(const JavaThread& thread) override {
    const auto it = slots_.find(thread.tid);
    if (it == slots_.end()) return;
    clock_.quieten(it->second->clock);
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
  SignalCapture& capture_;
  capture::Clock& clock_;
  const bool jvm_threads_;
  std::unordered_map<pid_t, std::unique_ptr<SampledThread>> slots_;  // under the registry's lock
  std::atomic<int64_t> without_clock_{0};
  std::atomic<int> last_error_{0};
};

SignalEngine::SignalEngine(EngineContext& context) : context_(context) {}
SignalEngine::~SignalEngine() = default;

Status SignalEngine::choose() {
  auto clock = choose_clock(context_.options);
  if (!clock) return std::move(clock).error();
  choice_ = std::move(*clock);
  if (choice_.make == nullptr) {
    return Error{Errc::kUsage, "the clock '" + choice_.name + "' copies pieces of stacks, which the engine '" +
                                   std::string(name()) + "' can't decode: add --engine fragment"};
  }
  return {};
}

control::EngineReport SignalEngine::report() const {
  return control::EngineReport{std::string(name()), choice_.name, choice_.why, choice_.interval, {}};
}

Status SignalEngine::start() {
  if (Status status = take_memory(); !status) return status;
  if (Status status = prepare(); !status) return status;
  auto signal = choice_.fixed_signal == 0
                    ? linux::OwnedSignal::take(SignalCapture::handle_signal)
                    : linux::OwnedSignal::take(SignalCapture::handle_signal, choice_.fixed_signal);
  if (!signal) return std::move(signal).error();
  signal_.emplace(std::move(*signal));
  make_clock();
  capture_ = make_capture(*clock_, {ring_.data(), ring_.size(), table_.data(), table_.size() / sizeof(void*)});
  sampler_ = std::make_unique<SignalSampler>(*capture_, *clock_, samples_jvm_threads());
  SignalCapture::activate(capture_.get());
  if (const int err = clock_->open(*capture_)) return errno_error("starting the clock " + choice_.name, err);
  context_.threads.add_listener(*sampler_);
  return context_.threads.add_existing();
}

Status SignalEngine::take_memory() {
  ring_ = Mapping(ring_bytes());
  const int64_t pid_max = linux::read_number("/proc/sys/kernel/pid_max").value_or(1 << 22);
  table_ = Mapping(static_cast<size_t>(pid_max + 1) * sizeof(void*));
  if (!ring_ || !table_) return Error{Errc::kFailed, "no memory for the sample ring"};
  return {};
}

void SignalEngine::make_clock() {
  clock_ = choice_.make(choice_, signal_->number());
  if (!choice_.per_thread) return;
  auto spare = std::make_unique<Timekeeper>(signal_->number(), choice_.interval);
  auto both = std::make_unique<ClockWithSpare>(std::move(clock_), std::move(spare));
  clock_with_spare_ = both.get();
  clock_ = std::move(both);
}

void SignalEngine::give_up_signal() {
  stop_ticks();
  missing_ = "somebody installed another handler for SIG" + std::string(::sigabbrev_np(signal_->number())) +
             ", the signal that we had taken because nobody used it: there are no samples from then on";
}

bool SignalEngine::drain() {
  if (capture_ == nullptr) return false;
  if (missing_.empty() && !signal_->still_ours()) give_up_signal();
  if (missing_.empty()) clock_->tend();
  if (drained_) patience_.begin(capture_->ring().used(), ring_.size(), monotonic_now());
  const Nanos start = clock_now(CLOCK_THREAD_CPUTIME_ID);
  begin_decoding();
  const size_t count = capture_->ring().consume([this](const uint8_t* record, size_t) { decode(record); }, kPiece);
  if (count > 0) decoding_ = decoding_ + (clock_now(CLOCK_THREAD_CPUTIME_ID) - start);
  drained_ = count < kPiece;
  if (drained_) patience_.end(capture_->ring().used(), monotonic_now());
  return !drained_;
}

void SignalEngine::stop_ticks() {
  SignalCapture::activate(nullptr);
  context_.threads.remove_listener(*sampler_);
  clock_->close();
  sampler_->stop_all();
}

void SignalEngine::stop() {
  if (capture_ == nullptr) return;
  // Order matters: first nobody captures, then nobody ticks, then the last samples are drained, and at the very end the
  // signal is left to SIG_IGN.
  if (missing_.empty()) stop_ticks();
  while (drain()) context_.make_room();
  settle();
  last_stats_ = read_stats();
  signal_.reset();
  capture_.reset();
  sampler_.reset();
  clock_with_spare_ = nullptr;
  clock_.reset();
  ring_ = Mapping();
  table_ = Mapping();
  let_go_of_memory();
}

std::vector<std::string> SignalEngine::warnings() {
  std::vector<std::string> warnings = choice_.warnings;
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

EngineStats SignalEngine::read_stats() {
  EngineStats stats;
  const capture::SampleCounters& counters = capture_->counters();
  for (size_t i = 0; i < static_cast<size_t>(capture::Drop::kCount); ++i) {
    stats.dropped[capture::kDropNames[i]] = counters.dropped[i].load(std::memory_order_relaxed);
  }
  // After the drops, so that a sample dropped in between is not missing from `taken`.
  stats.taken = counters.taken.load(std::memory_order_relaxed);
  const auto measured = static_cast<double>(std::max<uint64_t>(1, counters.measured.load(std::memory_order_relaxed)));
  const auto mean_ns = static_cast<double>(counters.measured_ns.load(std::memory_order_relaxed)) / measured;
  stats.in_app_threads = Nanos(static_cast<int64_t>(mean_ns * static_cast<double>(stats.taken)));
  stats.memory = Bytes(static_cast<int64_t>(ring_.size()));
  stats.counters = {{"threads without a clock", sampler_->threads_without_clock()},
                    {"threads by the spare clock", clock_with_spare_ != nullptr ? clock_with_spare_->spared() : 0},
                    {"threads that were spared, since they switch all the time", clock_->restless().threads},
                    {"threads that were spared: late samples", clock_->restless().late},
                    {"signal taken by somebody else", missing_.empty() ? 0 : 1},
                    {"signal", signal_->number()},
                    {"decoding (ns of CPU time)", decoding_.count}};
  add_to(stats);
  stats.take_off_unwritten(context_.writer, {choice_.event});
  return stats;
}

}  // namespace tarsier::agent
