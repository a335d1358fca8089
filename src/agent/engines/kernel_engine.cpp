#include "agent/engines/kernel_engine.h"

#include <optional>

#include "agent/engines/clock_choice.h"
#include "agent/engines/fragment_decoding.h"
#include "agent/engines/fragment_source.h"
#include "agent/engines/kernel_capture.h"
#include "agent/engines/patience.h"
#include "agent/engines/ring_capture.h"
#include "base/clock.h"

namespace tarsier::agent {
namespace {

class KernelEngine final : public Engine {
 public:
  KernelEngine(EngineContext& context, std::string_view clock) : context_(context), clock_(clock) {}

  Result<control::EngineReport> probe() override;
  Status start() override;
  bool drain() override;
  [[nodiscard]] Nanos patience() const override { return patience_.now(); }
  void settle() override;
  void silence() override {
    if (source_ != nullptr) source_->silence();
  }
  void stop() override;
  EngineStats stats() override { return stopped_ ? last_stats_ : read_stats(); }
  std::vector<std::string> warnings() override;
  std::string_view name() const override { return "fragment"; }
  bool samples_anywhere() const override { return true; }

 private:
  [[nodiscard]] Result<std::unique_ptr<FragmentSource>> make_source();
  [[nodiscard]] Result<linux::KernelParts> make_parts(size_t ring_bytes);
  EngineStats read_stats();

  EngineContext& context_;
  const std::string clock_;
  ClockChoice choice_;
  std::optional<FragmentDecoding> decoding_;
  // Until the end: silence() may come from any thread at any time.
  std::unique_ptr<FragmentSource> source_;
  FragmentSource::Visit decode_;
  bool stopped_ = false;
  bool drained_ = true;  // the last time there was nothing more
  Patience patience_;
  Nanos decoding_time_;  // CPU time of our own thread
  EngineStats last_stats_;
};

Result<control::EngineReport> KernelEngine::probe() {
  auto choice = choose_clock(context_.options, clock_);
  if (!choice) return std::move(choice).error();
  choice_ = std::move(*choice);
  auto decoding = FragmentDecoding::make(context_, choice_.event, choice_.warnings);
  if (!decoding) return std::move(decoding).error();
  decoding_.emplace(std::move(*decoding));
  auto source = make_source();
  if (!source) return std::move(source).error().in("clock " + choice_.name);
  source_ = std::move(*source);
  decode_ = [this](const capture::FragmentRecord& record) { decoding_->decode(record, source_->bottoms()); };
  return control::EngineReport{std::string(name()), choice_.name, choice_.why, choice_.interval, {}};
}

Result<std::unique_ptr<FragmentSource>> KernelEngine::make_source() {
  const size_t ring_bytes = FragmentDecoding::ring_bytes(context_.options);
  if (choice_.name == kRingClock) {
    auto rings = RingCapture::open(decoding_->fields(), {choice_.interval, choice_.kernel, ring_bytes, ring_bytes / 2});
    if (!rings) return std::move(rings).error();
    return std::unique_ptr<FragmentSource>(std::move(*rings));
  }
  auto parts = make_parts(ring_bytes);
  if (!parts) return std::move(parts).error();
  auto program = KernelCapture::over(std::move(*parts), choice_.interval, ring_bytes);
  if (!program) return std::move(program).error();
  return std::unique_ptr<FragmentSource>(std::move(*program));
}

Result<linux::KernelParts> KernelEngine::make_parts(size_t ring_bytes) {
  linux::bpf::Settings settings{};
  settings.java = KernelCapture::layout_of(decoding_->fields(), decoding_->virtual_threads());
  if (Status status = linux::aim_at(settings, "/proc/self"); !status) return std::move(status).error();
  auto parts = linux::make_kernel_parts(settings, {ring_bytes});
  if (parts || parts.error().code != Errc::kNotPermitted) return parts;
  auto borrowed = context_.borrow_kernel_parts(settings.java, ring_bytes);
  if (borrowed) {
    choice_.why += "; the command has loaded it, since the JVM may not";
    return borrowed;
  }
  parts.error().what += "; " + borrowed.error().what +
                        ": the command, or the JVM's user, needs CAP_BPF and CAP_PERFMON (tarsier doctor PID says "
                        "how), and in a container a seccomp profile that allows bpf and perf_event_open; other clocks "
                        "need none of that";
  return parts;
}

Status KernelEngine::start() {
  // Ticking already while the threads are counted in: with thousands of them that takes a while.
  if (Status status = source_->start(); !status) return status;
  context_.threads.add_listener(*source_);
  return context_.threads.add_existing();
}

bool KernelEngine::drain() {
  if (stopped_) return false;
  if (drained_) patience_.begin(source_->used(), FragmentDecoding::ring_bytes(context_.options), monotonic_now());
  const Nanos start = clock_now(CLOCK_THREAD_CPUTIME_ID);
  if (context_.options.native) decoding_->look_for_jvm_threads();
  decoding_->decoder().begin();
  const size_t count = source_->consume(decode_, kPiece);
  if (count > 0) decoding_time_ = decoding_time_ + (clock_now(CLOCK_THREAD_CPUTIME_ID) - start);
  drained_ = count < kPiece;
  if (drained_) patience_.end(source_->used(), monotonic_now());
  return !drained_;
}

void KernelEngine::settle() {
  source_->settle(decode_);
  decoding_->decoder().forget_ended_threads();
}

void KernelEngine::stop() {
  if (stopped_ || source_ == nullptr) return;
  source_->silence();
  context_.threads.remove_listener(*source_);
  source_->finish();
  while (drain()) context_.make_room();
  settle();
  last_stats_ = read_stats();
  stopped_ = true;
}

std::vector<std::string> KernelEngine::warnings() {
  std::vector<std::string> warnings = choice_.warnings;
  if (source_ == nullptr) return warnings;
  for (std::string& warning : source_->warnings()) warnings.push_back(std::move(warning));
  return warnings;
}

EngineStats KernelEngine::read_stats() {
  EngineStats stats;
  if (source_ == nullptr) return stats;
  source_->add_to(stats);
  stats.counters["decoding (ns of CPU time)"] = decoding_time_.count;
  decoding_->add_to(stats);
  stats.take_off_unwritten(context_.writer, {choice_.event});
  return stats;
}

}  // namespace

std::unique_ptr<Engine> make_kernel_engine(EngineContext& context, std::string_view clock) {
  return std::make_unique<KernelEngine>(context, clock);
}

}  // namespace tarsier::agent
