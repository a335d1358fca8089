#include "agent/engines/alloc.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "agent/engines/alloc_capture.h"
#include "agent/engines/alloc_decoder.h"
#include "base/mapping.h"

namespace tarsier::agent {
namespace {

constexpr Bytes kDefaultOfJvm(512 << 10);  // ThreadHeapSampler, 11 to 25; JVMTI does not tell the current one
constexpr int kFirstMajor = 11;
constexpr int kFirstThatCounts = 25;     // right, also outside TLABs: see AllocDraws
constexpr int kFirstWithoutMemory = 13;  // in its gaps: see alloc_probability_after

jvmtiCapabilities wanted_capabilities() {
  jvmtiCapabilities wanted{};
  wanted.can_generate_sampled_object_alloc_events = 1;
  return wanted;
}

class AllocEngine final : public Engine {
 public:
  explicit AllocEngine(EngineContext& context) : context_(context), decoder_(context) {}

  std::string_view name() const override { return "alloc"; }
  bool dispensable() const override { return true; }
  Result<control::EngineReport> probe() override;
  Status start() override;
  bool drain() override;
  void silence() override {
    if (capture_) capture_->silence();
  }
  void stop() override;
  EngineStats stats() override { return capture_ ? read_stats() : EngineStats(); }
  void on_sampled_object(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass, jlong size) override {
    capture_->sample(jvmti, jni, klass, size);
  }

 private:
  [[nodiscard]] std::optional<hotspot::AllocatedBytesLayout> allocated_bytes() const;
  bool decode_captured();
  EngineStats read_stats();

  EngineContext& context_;
  AllocDecoder decoder_;
  Mapping ring_;
  std::optional<AllocDraws> draws_;
  std::optional<AllocCapture> capture_;
};

Result<control::EngineReport> AllocEngine::probe() {
  if (context_.jvm.major() < kFirstMajor) {
    return Error{Errc::kUnsupported, "a JVM of version " + std::to_string(context_.jvm.major()) +
                                         " does not sample allocation; those from 11 on do"};
  }
  jvmtiCapabilities possible{};
  if (context_.jvm.jvmti()->GetPotentialCapabilities(&possible) != JVMTI_ERROR_NONE ||
      possible.can_generate_sampled_object_alloc_events == 0) {
    return Error{Errc::kUnsupported,
                 "another agent in this JVM holds allocation sampling, which the JVM gives to one at a time; stop that "
                 "agent, or read its results"};
  }
  return control::EngineReport{std::string(name()),
                               "SampledObjectAlloc",
                               "the JVM samples objects by their size",
                               {},
                               context_.options.alloc_interval};
}

Status AllocEngine::start() {
  // A sixteenth of the budget: samples are rarer than those of the CPU.
  const auto sixteenth = static_cast<uint64_t>(std::max<int64_t>(context_.options.memory.count / 16, 1 << 19));
  ring_ = Mapping(std::bit_floor(sixteenth));
  if (!ring_) return Error{Errc::kFailed, "no memory for the ring of allocation samples"};
  if (Status status = context_.threads.add_existing(); !status) return status;

  jvmtiEnv* jvmti = context_.jvm.jvmti();
  const jvmtiCapabilities wanted = wanted_capabilities();
  const Bytes interval = context_.options.alloc_interval;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return Error{Errc::kUnsupported, "another agent in this JVM has just taken allocation sampling"};
  }
  draws_.emplace(interval.count, kDefaultOfJvm.count, context_.threads.newest_serial(),
                 context_.jvm.major() < kFirstThatCounts);
  capture_.emplace(context_.threads, *draws_, allocated_bytes(), std::span(ring_.data(), ring_.size()),
                   context_.options.max_depth);
  if (jvmti->SetHeapSamplingInterval(static_cast<jint>(draws_->current())) != JVMTI_ERROR_NONE ||
      jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr) != JVMTI_ERROR_NONE) {
    return Error{Errc::kUnsupported, "the JVM does not start sampling allocation"};
  }
  return {};
}

// Only if it is needed. Without it the estimates are those of the JVM.
std::optional<hotspot::AllocatedBytesLayout> AllocEngine::allocated_bytes() const {
  const auto& structs = context_.jvm.lib().structs();
  if (context_.jvm.major() >= kFirstWithoutMemory || !structs) return std::nullopt;
  return hotspot::AllocatedBytesLayout::find(*structs);
}

bool AllocEngine::decode_captured() {
  const auto decode = [this](const uint8_t* payload, size_t) {
    decoder_.decode(*reinterpret_cast<const AllocRecord*>(payload));
  };
  return capture_->ring().consume(decode, kPiece) == kPiece;
}

bool AllocEngine::drain() {
  if (!capture_) return false;
  if (draws_->adapt(context_.threads.newest_serial())) {
    context_.jvm.jvmti()->SetHeapSamplingInterval(static_cast<jint>(draws_->current()));
  }
  return decode_captured();
}

void AllocEngine::stop() {
  if (!capture_) return;
  jvmtiEnv* jvmti = context_.jvm.jvmti();
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr);
  capture_->silence();
  jvmti->SetHeapSamplingInterval(static_cast<jint>(kDefaultOfJvm.count));
  const jvmtiCapabilities taken = wanted_capabilities();
  jvmti->RelinquishCapabilities(&taken);
  while (decode_captured()) context_.make_room();
}

EngineStats AllocEngine::read_stats() {
  EngineStats stats;
  const AllocCounters& counters = capture_->counters();
  for (size_t i = 0; i < static_cast<size_t>(AllocDrop::kCount); ++i) {
    stats.dropped[kAllocDropNames[i]] = counters.dropped[i].load(std::memory_order_relaxed);
  }
  // After the drops, so that a sample dropped in between is not missing from `taken`.
  stats.taken = counters.taken.load(std::memory_order_relaxed);
  stats.written = decoder_.counts().written;
  stats.take_off_unwritten(context_.writer, {recording::Event::kObjectAllocationSample});
  stats.failed = decoder_.counts().failed;
  const uint64_t passed_over = counters.passed_over.load(std::memory_order_relaxed);
  const auto measured = static_cast<double>(std::max<uint64_t>(1, counters.measured.load(std::memory_order_relaxed)));
  const auto mean_ns = static_cast<double>(counters.measured_ns.load(std::memory_order_relaxed)) / measured;
  stats.in_app_threads = Nanos(static_cast<int64_t>(mean_ns * static_cast<double>(stats.taken + passed_over)));
  stats.memory = Bytes(static_cast<int64_t>(ring_.size()));
  stats.counters = {{"drawn by the JVM and passed over", static_cast<int64_t>(passed_over)},
                    {"allocated bytes (estimated)", static_cast<int64_t>(decoder_.counts().bytes)}};
  return stats;
}

}  // namespace

std::unique_ptr<Engine> make_alloc_engine(EngineContext& context) {
  return std::make_unique<AllocEngine>(context);
}

}  // namespace tarsier::agent
