#include "agent/engines/kernel_engine.h"

#include <algorithm>
#include <optional>

#include "agent/engines/clock_choice.h"
#include "agent/engines/fragment_decoding.h"
#include "agent/engines/kernel_capture.h"
#include "base/clock.h"

namespace tarsier::agent {
namespace {

class KernelEngine final : public Engine {
 public:
  explicit KernelEngine(EngineContext& context) : context_(context) {}

  Result<control::EngineReport> probe() override;
  Status start() override;
  bool drain() override;
  void settle() override;
  void silence() override {
    if (capture_ != nullptr) capture_->silence();
  }
  void stop() override;
  EngineStats stats() override { return stopped_ ? last_stats_ : read_stats(); }
  std::vector<std::string> warnings() override;
  std::string_view name() const override { return "fragment"; }

 private:
  [[nodiscard]] Result<linux::KernelParts> make_parts(size_t ring_bytes) const;
  EngineStats read_stats();

  EngineContext& context_;
  ClockChoice choice_;
  std::optional<FragmentDecoding> decoding_;
  // Until the end: silence() may come from any thread at any time.
  std::unique_ptr<KernelCapture> capture_;
  bool stopped_ = false;
  Nanos decoding_time_;  // CPU time of our own thread
  EngineStats last_stats_;
};

Result<control::EngineReport> KernelEngine::probe() {
  auto choice = choose_clock(context_.options);
  if (!choice) return std::move(choice).error();
  choice_ = std::move(*choice);
  auto decoding = FragmentDecoding::make(context_, choice_.event, choice_.warnings);
  if (!decoding) return std::move(decoding).error();
  decoding_.emplace(std::move(*decoding));
  const size_t ring_bytes = FragmentDecoding::ring_bytes(context_.options);
  auto parts = make_parts(ring_bytes);
  if (!parts) return std::move(parts).error().in("clock " + choice_.name);
  auto capture = KernelCapture::over(std::move(*parts), choice_.interval, ring_bytes);
  if (!capture) return std::move(capture).error().in("clock " + choice_.name);
  capture_ = std::move(*capture);
  if (!capture_->sees_kernel()) {
    choice_.warnings.emplace_back(
        "time in the kernel is not sampled: this kernel does not tell where it was called from (Linux 5.15 with BTF "
        "does)");
  }
  return control::EngineReport{std::string(name()), choice_.name, choice_.why, choice_.interval, {}};
}

Result<linux::KernelParts> KernelEngine::make_parts(size_t ring_bytes) const {
  linux::bpf::Settings settings = KernelCapture::settings_for(decoding_->fields(), decoding_->virtual_threads());
  if (Status status = linux::aim_at(settings, "/proc/self"); !status) return std::move(status).error();
  auto parts = linux::make_kernel_parts(settings, {ring_bytes});
  if (!parts && parts.error().code == Errc::kNotPermitted) {
    parts.error().what +=
        ": the JVM's user needs CAP_BPF and CAP_PERFMON (tarsier doctor PID says how), and in a container a seccomp "
        "profile "
        "that allows bpf and perf_event_open; other clocks need none of that";
  }
  return parts;
}

Status KernelEngine::start() {
  // Ticking already while the threads are counted in: with thousands of them that takes a while.
  if (Status status = capture_->start(); !status) return status;
  context_.threads.add_listener(*capture_);
  return context_.threads.add_existing();
}

bool KernelEngine::drain() {
  if (stopped_) return false;
  capture_->draw_periods_that_are_due();
  const Nanos start = clock_now(CLOCK_THREAD_CPUTIME_ID);
  decoding_->decoder().begin();
  const size_t count = capture_->consume(
      [&](const capture::FragmentRecord& record) { decoding_->decode(record, capture_->bottoms()); }, kPiece);
  if (count > 0) decoding_time_ = decoding_time_ + (clock_now(CLOCK_THREAD_CPUTIME_ID) - start);
  return count == kPiece;
}

void KernelEngine::settle() {
  capture_->settle([&](const capture::FragmentRecord& record) { decoding_->decode(record, capture_->bottoms()); });
  decoding_->decoder().forget_ended_threads();
}

void KernelEngine::stop() {
  if (stopped_ || capture_ == nullptr) return;
  capture_->silence();
  context_.threads.remove_listener(*capture_);
  while (drain()) context_.make_room();
  settle();
  last_stats_ = read_stats();
  stopped_ = true;
}

std::vector<std::string> KernelEngine::warnings() {
  std::vector<std::string> warnings = choice_.warnings;
  if (capture_ != nullptr && capture_->threads_not_followed() > 0) {
    warnings.push_back(std::to_string(capture_->threads_not_followed()) + " threads are not sampled: the clock " +
                       choice_.name + " can follow " + std::to_string(linux::bpf::kMaxThreads) + " at a time");
  }
  return warnings;
}

EngineStats KernelEngine::read_stats() {
  EngineStats stats;
  if (capture_ == nullptr) return stats;
  const linux::bpf::Counters counters = capture_->counters();
  stats.taken = counters.taken;
  stats.dropped[capture::kDropNames[static_cast<size_t>(capture::Drop::kRingFull)]] = counters.ring_full;
  stats.dropped["registers unreadable"] = counters.registers_unreadable;
  stats.dropped["thread unreadable"] = counters.thread_unreadable;
  stats.dropped["stack unreadable"] = counters.stack_unreadable;
  stats.in_app_threads = Nanos(static_cast<int64_t>(counters.ns));
  stats.memory = Bytes(static_cast<int64_t>(capture_->memory_bytes()));
  stats.counters = {{"threads without a clock", capture_->threads_not_followed()},
                    {"ticks in other threads", static_cast<int64_t>(counters.other_threads)},
                    {"decoding (ns of CPU time)", decoding_time_.count}};
  decoding_->add_to(stats);
  // What the writer lost to a full disk was decoded, but is not in the file.
  const uint64_t lost = context_.writer.lost_events(choice_.event);
  stats.dropped["disk error"] = lost;
  stats.written -= lost;
  return stats;
}

}  // namespace

std::unique_ptr<Engine> make_kernel_engine(EngineContext& context) {
  return std::make_unique<KernelEngine>(context);
}

}  // namespace tarsier::agent
