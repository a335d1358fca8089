#include "agent/engines/fragment.h"

#include <algorithm>
#include <bit>

#include "agent/engines/fragment_decoder.h"
#include "agent/engines/signal_engine.h"
#include "agent/virtual_threads.h"
#include "capture/fragment_capture.h"
#include "hotspot/threads.h"

namespace tarsier::agent {
namespace {

using capture::FragmentRecord;

class FragmentEngine final : public SignalEngine {
 public:
  explicit FragmentEngine(EngineContext& context) : SignalEngine(context), virtual_threads_(context.jvm) {}

  std::string_view name() const override { return "fragment"; }
  Result<control::EngineReport> probe() override;
  void settle() override { decoder_->forget_ended_threads(); }

 private:
  Status prepare() override { return {}; }
  [[nodiscard]] size_t ring_bytes() const override {
    // A quarter of the budget: a fragment is some 10 KB.
    return std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(context_.options.memory.count / 4, 1 << 18)));
  }
  std::unique_ptr<capture::SignalCapture> make_capture(capture::Clock& clock,
                                                       const capture::SignalCapture::Memory& memory) override {
    auto capture = std::make_unique<capture::FragmentCapture>(clock, fields_, memory);
    fragments_ = capture.get();
    look_for_virtual_threads();
    return capture;
  }
  void look_for_virtual_threads() {
    if (has_virtual_threads_) return;
    const hotspot::VirtualThreadLayout* layout = virtual_threads_.layout();
    if (layout == nullptr) return;
    fragments_->set_virtual_threads(layout);
    has_virtual_threads_ = true;
  }
  void begin_decoding() override {
    look_for_virtual_threads();
    decoder_->begin();
  }
  void decode(const uint8_t* bytes) override {
    const auto& record = *reinterpret_cast<const FragmentRecord*>(bytes);
    decoder_->decode(record);
    const auto bottom = decoder_->java_bottom();
    if (!bottom) return;
    const bool wider = *bottom > fragments_->bottoms().of(record.thread);
    if (*bottom == 0 || wider) fragments_->bottoms().learn(record.thread, *bottom);
  }
  void add_to(EngineStats& stats) override;

  hotspot::ThreadFields fields_;
  std::unique_ptr<FragmentDecoder> decoder_;
  capture::FragmentCapture* fragments_ = nullptr;  // the engine's
  VirtualThreads virtual_threads_;
  bool has_virtual_threads_ = false;
};

Result<control::EngineReport> FragmentEngine::probe() {
  if (Status status = choose(); !status) return std::move(status).error();
  if (!context_.jvm.lib().structs()) return Error{Errc::kUnsupported, "this JVM exports no vmStructs"};
  auto fields = hotspot::find_thread_fields(*context_.jvm.lib().structs());
  if (!fields) return std::move(fields).error();
  fields_ = *fields;
  auto decoder = FragmentDecoder::make(context_, choice_.event);
  if (!decoder) return std::move(decoder).error();
  decoder_ = std::move(*decoder);
  if (const auto& epoch = decoder_->epoch()) {
    fields_.unloaded = reinterpret_cast<const uint64_t*>(epoch->counter());
    fields_.unloaded_shared = reinterpret_cast<const uint64_t*>(epoch->shared_counter());
  }
  return report();
}

void FragmentEngine::add_to(EngineStats& stats) {
  const SampleEvents::Counts& counts = decoder_->counts();
  stats.written = counts.written;
  stats.failed = counts.failed;
  stats.counters["imprecise samples"] = static_cast<int64_t>(counts.imprecise);
  for (size_t i = 0; i < decoder_->ends().size(); ++i) {
    stats.counters["walks: " + std::string(name_of(static_cast<hotspot::WalkEnd>(i)))] =
        static_cast<int64_t>(decoder_->ends()[i]);
  }
  for (size_t i = 0; i < decoder_->starts().size(); ++i) {
    stats.counters["started by: " + std::string(name_of(static_cast<hotspot::WalkStart>(i)))] =
        static_cast<int64_t>(decoder_->starts()[i]);
  }
  const auto& edges = decoder_->edges();
  stats.counters["edges: right"] = static_cast<int64_t>(edges[static_cast<size_t>(hotspot::Edge::kRight)]);
  stats.counters["edges: wrong"] = static_cast<int64_t>(edges[static_cast<size_t>(hotspot::Edge::kWrong)]);
  stats.counters["edges: uncheckable"] = static_cast<int64_t>(edges[static_cast<size_t>(hotspot::Edge::kUncheckable)]);
  std::tie(stats.hottest, stats.hottest_share) = decoder_->hottest();
}

}  // namespace

std::unique_ptr<Engine> make_fragment_engine(EngineContext& context) {
  return std::make_unique<FragmentEngine>(context);
}

}  // namespace tarsier::agent
