#include "agent/engines/fragment.h"

#include <algorithm>
#include <optional>

#include "agent/engines/clock_choice.h"
#include "agent/engines/fragment_decoding.h"
#include "agent/engines/kernel_engine.h"
#include "agent/engines/method_ids.h"
#include "agent/engines/signal_engine.h"
#include "base/mapping.h"
#include "capture/agct_witness.h"
#include "capture/fragment_capture.h"

namespace tarsier::agent {
namespace {

class FragmentEngine final : public SignalEngine {
 public:
  explicit FragmentEngine(EngineContext& context) : SignalEngine(context) {}

  std::string_view name() const override { return "fragment"; }
  Result<control::EngineReport> probe() override;
  void settle() override {
    decoding_->decoder().forget_ended_threads();
    if (fragments_ != nullptr) fragments_->named_virtuals().forget();
  }
  void on_class_prepare(jvmtiEnv* jvmti, jclass klass) override {
    if (asks_agct()) ids_.make(jvmti, klass);  // others may have asked for the event
  }

 private:
  [[nodiscard]] bool asks_agct() const { return context_.options.walks == "agct"; }
  Status prepare() override;
  [[nodiscard]] size_t ring_bytes() const override { return FragmentDecoding::ring_bytes(context_.options); }
  std::unique_ptr<capture::SignalCapture> make_capture(capture::Clock& clock,
                                                       const capture::SignalCapture::Memory& memory) override {
    auto capture = std::make_unique<capture::FragmentCapture>(clock, decoding_->fields(), memory);
    fragments_ = capture.get();
    if (witness_) capture->set_witness(&*witness_);
    capture->set_virtual_threads(decoding_->virtual_threads());
    if (const int64_t limit = context_.options.fragment_size.count; limit > 0) {
      capture->limit_stack(static_cast<uint32_t>(std::min<int64_t>(limit, capture::FragmentCapture::kMaxDeepStack)));
    }
    return capture;
  }
  // Those that wait, as they mostly do, are nobody's business.
  [[nodiscard]] bool samples_jvm_threads() const override {
    return context_.options.native && choice_.event == recording::Event::kExecutionSample;
  }
  void begin_decoding() override {
    if (samples_jvm_threads()) decoding_->look_for_jvm_threads();
    decoding_->decoder().begin();
  }
  void decode(const uint8_t* bytes) override {
    decoding_->decode(*reinterpret_cast<const capture::FragmentRecord*>(bytes), fragments_->bottoms());
  }
  void add_to(EngineStats& stats) override { decoding_->add_to(stats); }

  // With walks=agct: AsyncGetCallTrace is asked about the same moments.
  MethodIds ids_;
  Mapping testimonies_;
  std::optional<capture::AgctWitness> witness_;
  std::optional<FragmentDecoding> decoding_;
  capture::FragmentCapture* fragments_ = nullptr;  // the engine's
};

Result<control::EngineReport> FragmentEngine::probe() {
  if (Status status = choose(); !status) return std::move(status).error();
  auto decoding = FragmentDecoding::make(context_, choice_.event, choice_.warnings);
  if (!decoding) return std::move(decoding).error();
  decoding_.emplace(std::move(*decoding));
  return report();
}

Status FragmentEngine::prepare() {
  if (!asks_agct()) return {};
  const auto agct = reinterpret_cast<capture::AgctFunction>(context_.jvm.lib().symbol("AsyncGetCallTrace"));
  if (agct == nullptr) return Error{Errc::kUnsupported, "this JVM does not export AsyncGetCallTrace"};
  // More than are taken between two looks of the decoder.
  constexpr size_t kTestimonies = 2048;
  testimonies_ = Mapping(capture::AgctWitness::memory_size(kTestimonies));
  if (!testimonies_) return Error{Errc::kFailed, "no memory for the stacks of AsyncGetCallTrace"};
  witness_.emplace(agct, testimonies_.data(), kTestimonies);
  decoding_->decoder().set_witness(*witness_);
  return ids_.make_all(context_.jvm);
}

}  // namespace

std::unique_ptr<Engine> make_fragment_engine(EngineContext& context) {
  const bool by_signals = context.implied_clock_failed || context.options.walks == "agct";
  const std::string_view implied = by_signals ? std::string_view() : implied_clock(context.options);
  const std::string_view clock = implied.empty() ? std::string_view(context.options.clock) : implied;
  if (clock == kKernelClock || clock == kRingClock) return make_kernel_engine(context, clock);
  return std::make_unique<FragmentEngine>(context);
}

}  // namespace tarsier::agent
