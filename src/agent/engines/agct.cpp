#include "agent/engines/agct.h"

#include <unistd.h>

#include <algorithm>
#include <bit>

#include "agent/engines/agct_decoder.h"
#include "agent/engines/method_ids.h"
#include "agent/engines/native_code.h"
#include "agent/engines/signal_engine.h"
#include "base/mapping.h"
#include "capture/agct.h"

namespace tarsier::agent {
namespace {

using capture::AgctCapture;
using capture::AgctRecord;

class AgctEngine final : public SignalEngine {
 public:
  explicit AgctEngine(EngineContext& context) : SignalEngine(context) {}

  std::string_view name() const override { return "agct"; }
  Result<control::EngineReport> probe() override;
  void settle() override { decoder_->forget_ended_threads(); }
  std::vector<std::string> warnings() override;
  void on_class_prepare(jvmtiEnv* jvmti, jclass klass) override { ids_.make(jvmti, klass); }

 private:
  Status prepare() override;
  [[nodiscard]] size_t ring_bytes() const override;
  std::unique_ptr<capture::SignalCapture> make_capture(capture::Clock& clock,
                                                       const capture::SignalCapture::Memory& memory) override;
  void let_go_of_memory() override { scratch_ = Mapping(); }
  void decode(const uint8_t* record) override { decoder_->decode(*reinterpret_cast<const AgctRecord*>(record)); }
  void add_to(EngineStats& stats) override;

  capture::AgctFunction agct_ = nullptr;
  std::unique_ptr<AgctDecoder> decoder_;
  const NativeCode native_;
  Mapping scratch_;
  size_t scratch_count_ = 0;
  MethodIds ids_;
};

Result<control::EngineReport> AgctEngine::probe() {
  agct_ = reinterpret_cast<capture::AgctFunction>(context_.jvm.lib().symbol("AsyncGetCallTrace"));
  if (agct_ == nullptr) return Error{Errc::kUnsupported, "this JVM does not export AsyncGetCallTrace"};
  if (Status status = choose(); !status) return std::move(status).error();
  std::optional<hotspot::CodeCache> code;
  if (context_.jvm.lib().structs()) {
    auto found = hotspot::CodeCache::find(context_.jvm.memory(), *context_.jvm.lib().structs());
    if (found) code.emplace(std::move(*found));
  }
  decoder_ = std::make_unique<AgctDecoder>(context_, std::move(code), choice_.event);
  return report();
}

size_t AgctEngine::ring_bytes() const {
  // An eighth of the budget for the ring, but room for a few of the deepest stacks; the rest belongs to names and
  // stacks in the writer.
  const auto eighth = static_cast<uint64_t>(std::max<int64_t>(context_.options.memory.count / 8, 1 << 15));
  const uint64_t deepest = AgctCapture::scratch_size(context_.options.max_depth);
  return std::max(std::bit_floor(eighth), std::bit_ceil(uint64_t{4} * deepest));
}

Status AgctEngine::prepare() {
  // As many handlers as CPUs can run at once, and some may be preempted in the middle.
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  scratch_count_ = static_cast<size_t>(std::clamp<long>(2 * cpus + 2, 4, 128));
  scratch_ = Mapping(scratch_count_ * AgctCapture::scratch_size(context_.options.max_depth));
  if (!scratch_) return Error{Errc::kFailed, "no memory for the sample ring"};
  return ids_.make_all(context_.jvm);
}

std::unique_ptr<capture::SignalCapture> AgctEngine::make_capture(capture::Clock& clock,
                                                                 const capture::SignalCapture::Memory& memory) {
  return std::make_unique<AgctCapture>(agct_, clock, context_.options.max_depth, memory,
                                       AgctCapture::Scratch{scratch_.data(), scratch_count_}, native_.tables());
}

std::vector<std::string> AgctEngine::warnings() {
  std::vector<std::string> warnings = SignalEngine::warnings();
  if (!decoder_->knows_code()) {
    warnings.emplace_back("the code cache could not be read: frame types and imprecise code are not told");
  }
  return warnings;
}

void AgctEngine::add_to(EngineStats& stats) {
  const SampleEvents::Counts& counts = decoder_->counts();
  stats.written = counts.written;
  stats.failed = counts.failed;
  stats.memory = stats.memory + Bytes(static_cast<int64_t>(scratch_.size()));
  stats.counters["imprecise samples"] = static_cast<int64_t>(counts.imprecise);
  stats.counters["jmethodIDs"] = ids_.count();
  stats.counters["jmethodID bytes (estimated)"] = ids_.bytes();
  std::tie(stats.hottest, stats.hottest_share) = decoder_->hottest();
}

}  // namespace

std::unique_ptr<Engine> make_agct_engine(EngineContext& context) {
  return std::make_unique<AgctEngine>(context);
}

}  // namespace tarsier::agent
