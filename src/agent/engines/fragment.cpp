#include "agent/engines/fragment.h"

#include <algorithm>
#include <optional>

#include "agent/engines/clock_choice.h"
#include "agent/engines/fragment_decoding.h"
#include "agent/engines/kernel_engine.h"
#include "agent/engines/signal_engine.h"
#include "capture/fragment_capture.h"

namespace tarsier::agent {
namespace {

class FragmentEngine final : public SignalEngine {
 public:
  explicit FragmentEngine(EngineContext& context) : SignalEngine(context) {}

  std::string_view name() const override { return "fragment"; }
  Result<control::EngineReport> probe() override;
  void settle() override { decoding_->decoder().forget_ended_threads(); }

 private:
  Status prepare() override { return {}; }
  [[nodiscard]] size_t ring_bytes() const override { return FragmentDecoding::ring_bytes(context_.options); }
  std::unique_ptr<capture::SignalCapture> make_capture(capture::Clock& clock,
                                                       const capture::SignalCapture::Memory& memory) override {
    auto capture = std::make_unique<capture::FragmentCapture>(clock, decoding_->fields(), memory);
    fragments_ = capture.get();
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

}  // namespace

std::unique_ptr<Engine> make_fragment_engine(EngineContext& context) {
  const std::string_view implied = context.implied_clock_failed ? std::string_view() : implied_clock(context.options);
  const std::string_view clock = implied.empty() ? std::string_view(context.options.clock) : implied;
  if (clock == kKernelClock || clock == kRingClock) return make_kernel_engine(context, clock);
  return std::make_unique<FragmentEngine>(context);
}

}  // namespace tarsier::agent
