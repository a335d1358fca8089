#include "agent/engines/jvmti_engine.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/clock.h"

namespace tarsier::agent {

JvmtiEngine::~JvmtiEngine() {
  if (asker_ != nullptr) asker_->stop();
}

Nanos JvmtiEngine::interval() const {
  return context_.options.interval.count != 0 ? context_.options.interval : control::kDefaultInterval;
}

Status JvmtiEngine::check_options() {
  if (!context_.options.clock.empty()) {
    return Error{Errc::kUsage, "the engine '" + std::string(name()) +
                                   "' has a tick of its own: leave out the clock, or take the engine fragment"};
  }
  auto wanted = ThreadPattern::make(context_.options.threads);
  if (!wanted) return std::move(wanted).error();
  wanted_ = std::move(*wanted);
  return {};
}

Status JvmtiEngine::start() {
  // An eighth of the budget, but room for a few of the deepest stacks.
  const auto eighth = static_cast<uint64_t>(std::max<int64_t>(context_.options.memory.count / 8, 1 << 16));
  const auto deepest = static_cast<uint64_t>(context_.options.max_depth + 1) * sizeof(jvmtiFrameInfo);
  samples_.emplace(std::max(std::bit_floor(eighth), std::bit_ceil(4 * deepest)));
  if (!samples_->has_memory()) return Error{Errc::kFailed, "no memory for the ring of samples"};
  asker_ = make_asker(*samples_, wanted_);
  context_.threads.add_listener(*asker_);
  if (Status status = context_.threads.add_existing(); !status) return status;
  return asker_->start();
}

bool JvmtiEngine::drain() {
  if (asker_ == nullptr || stopped_) return false;
  const Nanos start = clock_now(CLOCK_THREAD_CPUTIME_ID);
  const size_t count = samples_->ring().consume(
      [this](const uint8_t* bytes, size_t) { decoder_.decode(*reinterpret_cast<const JvmtiRecord*>(bytes)); }, kPiece);
  if (count > 0) decoding_ += clock_now(CLOCK_THREAD_CPUTIME_ID) - start;
  return count == kPiece;
}

void JvmtiEngine::stop() {
  if (asker_ == nullptr || stopped_) return;
  asker_->stop();
  context_.threads.remove_listener(*asker_);
  while (drain()) context_.make_room();
  last_stats_ = read_stats();
  stopped_ = true;
  samples_.reset();
}

std::vector<std::string> JvmtiEngine::warnings() {
  std::vector<std::string> warnings = {"the engine " + std::string(name()) +
                                       " sees threads only where the JVM can stop them: time in code without safepoint "
                                       "polls is blamed on what comes after it"};
  constexpr int kFirstWithVirtualThreads = 21;
  if (context_.jvm.major() >= kFirstWithVirtualThreads) {
    warnings.push_back("the engine " + std::string(name()) +
                       " does not see virtual threads: what they use is blamed on their carriers");
  }
  return warnings;
}

EngineStats JvmtiEngine::read_stats() {
  EngineStats stats;
  if (asker_ == nullptr) return stats;
  stats.dropped["ring full"] = samples_->ring_full();
  // After the drops, so that a sample dropped in between is not missing from `taken`.
  stats.taken = samples_->taken();
  stats.written = decoder_.counts().written;
  stats.failed = decoder_.counts().failed;
  stats.memory = samples_->memory();
  stats.counters["decoding (ns of CPU time)"] = decoding_.count;
  std::tie(stats.hottest, stats.hottest_share) = decoder_.hottest();
  asker_->add_to(stats);
  stats.take_off_unwritten(context_.writer, {recording::Event::kExecutionSample});
  return stats;
}

}  // namespace tarsier::agent
