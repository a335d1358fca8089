#include "agent/engines/waits.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "agent/engines/fragment_decoding.h"
#include "agent/engines/thread_times.h"
#include "agent/engines/wait_watcher.h"
#include "base/clock.h"
#include "base/mapping.h"

namespace tarsier::agent {
namespace {

class WaitsEngine final : public Engine {
 public:
  explicit WaitsEngine(EngineContext& context) : context_(context) {}

  Result<control::EngineReport> probe() override;
  Status start() override;
  bool drain() override;
  void settle() override;
  void silence() override {
    if (watcher_ != nullptr) watcher_->stop();
  }
  void stop() override;
  EngineStats stats() override { return stopped_ ? last_stats_ : read_stats(); }
  std::vector<std::string> warnings() override { return warnings_; }
  std::string_view name() const override { return "waits"; }
  bool dispensable() const override { return true; }

 private:
  [[nodiscard]] WaitLimits limits() const { return {context_.options.waits_min, context_.options.waits_max}; }
  EngineStats read_stats();

  EngineContext& context_;
  std::optional<FragmentDecoding> decoding_;
  std::vector<std::string> warnings_;
  Mapping memory_;
  std::optional<MpscRing> ring_;
  capture::JavaBottoms bottoms_;
  std::optional<SleeperCopy> copy_;
  // Until the end: silence() may come from any thread at any time.
  std::unique_ptr<WaitWatcher> watcher_;
  bool stopped_ = false;
  Nanos decoding_time_;  // CPU time of our own thread
  EngineStats last_stats_;
};

Result<control::EngineReport> WaitsEngine::probe() {
  if (!linux::ThreadSchedules::kernel_tells()) {
    return Error{Errc::kUnsupported,
                 "this kernel keeps no account of the time that threads wait for a CPU (/proc/PID/schedstat, "
                 "CONFIG_SCHED_INFO): waits could not be told from that"};
  }
  auto decoding = FragmentDecoding::make(context_, recording::Event::kWait, warnings_);
  if (!decoding) return std::move(decoding).error();
  decoding_.emplace(std::move(*decoding));
  return control::EngineReport{std::string(name()),
                               "watcher",
                               "a thread of ours looks at threads that sleep; needs no right",
                               context_.options.waits_min,
                               {}};
}

Status WaitsEngine::start() {
  // A stack that was copied waits there until it is decoded, no longer.
  const auto eighth = static_cast<uint64_t>(std::max<int64_t>(context_.options.memory.count / 8, 1 << 18));
  memory_ = Mapping(std::bit_floor(eighth));
  if (!memory_) return Error{Errc::kFailed, "no memory for the ring of waits"};
  ring_.emplace(memory_.data(), memory_.size());
  copy_.emplace(decoding_->fields(), decoding_->virtual_threads(), bottoms_, *ring_);
  watcher_ = std::make_unique<WaitWatcher>(limits(), *copy_, *ring_);
  context_.threads.add_listener(*watcher_);
  if (Status status = context_.threads.add_existing(); !status) return status;
  if (const int err = watcher_->start()) return errno_error("starting a thread that looks for waits", err);
  return {};
}

bool WaitsEngine::drain() {
  if (stopped_ || watcher_ == nullptr) return false;
  const Nanos start = clock_now(CLOCK_THREAD_CPUTIME_ID);
  decoding_->decoder().begin();
  const size_t count = ring_->consume(
      [this](const uint8_t* record, size_t) {
        decoding_->decode(*reinterpret_cast<const capture::FragmentRecord*>(record), bottoms_);
      },
      kPiece);
  if (count > 0) decoding_time_ = decoding_time_ + (clock_now(CLOCK_THREAD_CPUTIME_ID) - start);
  return count == kPiece;
}

void WaitsEngine::settle() {
  decoding_->decoder().forget_ended_threads();
  if (watcher_ == nullptr) return;
  for (const AccountOfThread& of : watcher_->changed_accounts()) {
    write_thread_times(context_, of.serial, of.account);
  }
}

void WaitsEngine::stop() {
  if (stopped_ || watcher_ == nullptr) return;
  watcher_->stop();
  context_.threads.remove_listener(*watcher_);
  do {
    while (drain()) context_.make_room();
  } while (watcher_->close_one());
  while (drain()) context_.make_room();
  settle();
  last_stats_ = read_stats();
  stopped_ = true;
  copy_.reset();
  ring_.reset();
  memory_ = Mapping();
}

EngineStats WaitsEngine::read_stats() {
  EngineStats stats;
  if (watcher_ == nullptr) return stats;
  const WaitWatcher::Counters& counters = watcher_->counters();
  stats.dropped["over before the stack was read"] = counters.missed.load(std::memory_order_relaxed);
  stats.dropped[capture::kDropNames[static_cast<size_t>(capture::Drop::kRingFull)]] =
      counters.ring_full.load(std::memory_order_relaxed);
  // After the drops, so that a wait dropped in between is not missing from `taken`.
  stats.taken = counters.taken.load(std::memory_order_relaxed);
  stats.memory = Bytes(static_cast<int64_t>(memory_.size()));
  stats.counters = {{"stacks unreadable", static_cast<int64_t>(counters.unreadable.load(std::memory_order_relaxed))},
                    {"time between two looks (ns)", counters.period_ns.load(std::memory_order_relaxed)},
                    {"longest time between two looks (ns)", counters.longest_gap_ns.load(std::memory_order_relaxed)},
                    {"decoding (ns of CPU time)", decoding_time_.count}};
  decoding_->add_to(stats);
  stats.hottest.clear();  // that is a word about the CPU
  stats.hottest_share = 0;
  const uint64_t lost = context_.writer.lost_events(recording::Event::kWait);
  stats.dropped["disk error"] = lost;
  stats.written -= lost;
  return stats;
}

}  // namespace

std::unique_ptr<Engine> make_waits_engine(EngineContext& context) {
  return std::make_unique<WaitsEngine>(context);
}

}  // namespace tarsier::agent
