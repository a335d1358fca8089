#include "agent/engines/waits.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "agent/engines/cost_budget.h"
#include "agent/engines/fragment_decoding.h"
#include "agent/engines/kernel_capture.h"
#include "agent/engines/kernel_waits.h"
#include "agent/engines/wait_watcher.h"
#include "agent/engines/wakers.h"
#include "base/clock.h"

namespace tarsier::agent {
namespace {

class WaitsEngine final : public Engine {
 public:
  explicit WaitsEngine(EngineContext& context) : context_(context), budget_(context.options.waits_budget) {}

  Result<control::EngineReport> probe() override;
  Status start() override;
  bool drain() override;
  void settle() override;
  void silence() override {
    if (finder_ != nullptr) finder_->stop();
  }
  void stop() override;
  EngineStats stats() override { return stopped_ ? last_stats_ : read_stats(); }
  std::vector<std::string> warnings() override { return warnings_; }
  std::string_view name() const override { return "waits"; }
  bool dispensable() const override { return true; }

 private:
  [[nodiscard]] WaitLimits limits() const { return {context_.options.waits_min, context_.options.waits_max}; }
  // A stack that was copied lies there until it is decoded, no longer.
  [[nodiscard]] size_t ring_bytes() const {
    return std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(context_.options.memory.count / 8, 1 << 18)));
  }
  // What it answers is why it is this one.
  Result<std::string> choose_finder();
  Status use_kernel();
  // What the command has loaded; `why`: we can't ourselves.
  Result<std::unique_ptr<KernelWaits>> borrow_finder(const linux::WaitMemory& memory, const Error& why);
  Status use_watcher();
  EngineStats read_stats();
  void keep_waker(const linux::bpf::Waker& seen, const capture::FragmentRecord* stack);
  void decode(const capture::FragmentRecord& record);
  void keep_to_budget();

  EngineContext& context_;
  std::optional<FragmentDecoding> decoding_;
  Wakers wakers_{[this](uint32_t woken) { decoding_->decoder().forget_waker(woken); }};
  std::vector<uint32_t> ended_;  // threads, as of a moment ago: nothing of theirs is on its way any more
  std::vector<std::string> warnings_;
  std::string mechanism_;
  // Until the end: silence() may come from any thread at any time.
  std::unique_ptr<WaitFinder> finder_;
  bool borrowed_ = false, started_ = false, stopped_ = false;
  Nanos decoding_time_;  // CPU time of our own thread
  CostBudget budget_;
  Nanos budget_asked_;  // when it was last held to it
  EngineStats last_stats_;
};

Result<control::EngineReport> WaitsEngine::probe() {
  auto decoding = FragmentDecoding::make(context_, recording::Event::kWait, warnings_);
  if (!decoding) return std::move(decoding).error();
  decoding_.emplace(std::move(*decoding));
  auto why = choose_finder();
  if (!why) return std::move(why).error();
  return control::EngineReport{std::string(name()), mechanism_, *why, context_.options.waits_min, {}};
}

Result<std::string> WaitsEngine::choose_finder() {
  const std::string& wanted = context_.options.waits_by;
  std::string not_by_kernel;
  if (wanted != "watcher") {
    mechanism_ = "ebpf";
    Status kernel = use_kernel();
    if (kernel) {
      return std::string("the kernel tells every wait, with its exact length") +
             (borrowed_ ? "; the command has loaded what it takes, since the JVM may not" : "");
    }
    if (wanted == "ebpf") return std::move(kernel).error().in("--waits-by ebpf");
    not_by_kernel = "; not ebpf: " + kernel.error().what;
  }
  mechanism_ = "watcher";
  if (Status watcher = use_watcher(); !watcher) return std::move(watcher).error();
  return "a thread of ours looks at those that sleep; needs no right" + not_by_kernel;
}

Status WaitsEngine::use_kernel() {
  // Its ring holds what is worth an event, no more; the copies are of all threads.
  const linux::WaitMemory memory{ring_bytes() / 2, ring_bytes() * 3 / 2};
  auto finder = KernelWaits::make(limits(), decoding_->fields(), decoding_->virtual_threads(), memory);
  if (!finder && finder.error().code == Errc::kNotPermitted) finder = borrow_finder(memory, finder.error());
  if (!finder) return std::move(finder).error();
  finder_ = std::move(*finder);
  return {};
}

Result<std::unique_ptr<KernelWaits>> WaitsEngine::borrow_finder(const linux::WaitMemory& memory, const Error& why) {
  const hotspot::VirtualThreadLayout* virtual_threads = decoding_->virtual_threads();
  auto parts = context_.borrow_wait_parts(KernelCapture::layout_of(decoding_->fields(), virtual_threads), memory);
  if (!parts) {
    return Error{why.code, why.what + "; " + parts.error().what +
                               ": the command, or the JVM's user, needs CAP_BPF and CAP_PERFMON (tarsier doctor PID "
                               "says how), and in a container a seccomp profile that allows bpf; --waits-by watcher "
                               "needs none of that"};
  }
  borrowed_ = true;
  return KernelWaits::over(std::move(*parts), limits(), decoding_->fields(), virtual_threads, memory);
}

Status WaitsEngine::use_watcher() {
  if (!linux::ThreadSchedules::kernel_tells()) {
    return Error{Errc::kUnsupported,
                 "this kernel keeps no account of the time that threads wait for a CPU (/proc/PID/schedstat, "
                 "CONFIG_SCHED_INFO): waits could not be told from that"};
  }
  auto finder =
      std::make_unique<WaitWatcher>(limits(), decoding_->fields(), decoding_->virtual_threads(), ring_bytes());
  if (!finder->has_memory()) return Error{Errc::kFailed, "no memory for the ring of waits"};
  finder_ = std::move(finder);
  return {};
}

Status WaitsEngine::start() {
  started_ = true;
  finder_->on_waker(
      [this](const linux::bpf::Waker& seen, const capture::FragmentRecord* stack) { keep_waker(seen, stack); });
  context_.threads.add_listener(*finder_);
  if (Status status = context_.threads.add_existing(); !status) return status;
  return finder_->start();
}

bool WaitsEngine::drain() {
  if (!started_ || stopped_) return false;
  const Nanos start = clock_now(CLOCK_THREAD_CPUTIME_ID);
  decoding_->decoder().begin();
  const size_t count = finder_->consume([this](const capture::FragmentRecord& record) { decode(record); }, kPiece);
  if (count > 0) decoding_time_ = decoding_time_ + (clock_now(CLOCK_THREAD_CPUTIME_ID) - start);
  keep_to_budget();
  return count == kPiece;
}

void WaitsEngine::keep_to_budget() {
  constexpr Nanos kBetween = millis(50);
  const Nanos now = monotonic_now();
  if (now - budget_asked_ < kBetween) return;
  budget_asked_ = now;
  // What is not in these times: caches have to be filled again, the application's and ours. That is as much again
  // (bench/waits/workloads, with hardly any stacks and with some).
  const Nanos own = (finder_->cost_of_stacks() + decoding_time_) * 2;
  finder_->keep_share(budget_.update(own, clock_now(CLOCK_PROCESS_CPUTIME_ID), now));
}

void WaitsEngine::decode(const capture::FragmentRecord& record) {
  // What is only kept is no wait yet, one that goes on has not been ended, and of one that had begun before nobody
  // looks.
  const bool has_waker = !record.kept && !record.ongoing && !record.from_before;
  const auto waker = has_waker ? wakers_.take(record.thread, record.time_ns) : std::nullopt;
  decoding_->decode(record, finder_->bottoms(), waker ? &*waker : nullptr);
  if (!record.repeated && decoding_->decoder().stack_was_cut()) finder_->stack_was_cut(record.thread);
}

void WaitsEngine::keep_waker(const linux::bpf::Waker& seen, const capture::FragmentRecord* stack) {
  Waker waker;
  waker.since = seen.since;
  waker.by = seen.by < static_cast<uint32_t>(WokenBy::kOngoing) ? static_cast<WokenBy>(seen.by) : WokenBy::kUnknown;
  waker.serial = seen.thread;
  waker.id = seen.id;
  waker.name.assign(seen.name, ::strnlen(seen.name, sizeof(seen.name)));
  if (waker.by == WokenBy::kJvm) {
    // A thread that has ended for Java wakes those who wait for its end.
    if (const auto ended = context_.threads.find_ended_by_tid(static_cast<pid_t>(seen.id))) {
      waker.by = WokenBy::kThread;
      waker.serial = ended->serial;
    }
  }
  if (stack != nullptr) {
    waker.has_stack = true;
    waker.virtual_id = decoding_->keep_waker(*stack, seen.woken, finder_->bottoms());
  }
  wakers_.add(seen.woken, std::move(waker));
}

void WaitsEngine::settle() {
  decoding_->decoder().forget_ended_threads();
  for (const uint32_t serial : std::exchange(ended_, {})) wakers_.thread_ended(serial);
  if (wakers_.size() > 0) {
    for (const JavaThread& thread : context_.threads.ended()) ended_.push_back(thread.serial);
  }
  if (!started_ || stopped_) return;
  for (const ThreadTimes& times : finder_->changed_times()) write(context_, times);
}

void WaitsEngine::stop() {
  if (!started_ || stopped_) return;
  finder_->stop();
  do {
    while (drain()) context_.make_room();
  } while (finder_->close_one());
  context_.threads.remove_listener(*finder_);  // not before: of a thread that ends meanwhile nothing may be copied
  while (drain()) context_.make_room();
  settle();
  last_stats_ = read_stats();
  stopped_ = true;
}

EngineStats WaitsEngine::read_stats() {
  EngineStats stats;
  if (!started_) return stats;
  decoding_->add_to(stats);
  stats.counters["decoding (ns of CPU time)"] = decoding_time_.count;
  stats.hottest.clear();  // that is a word about the CPU
  stats.hottest_share = 0;
  finder_->add_to(stats);
  if (mechanism_ == "ebpf") {
    for (size_t i = 0; i < wakers_.counts().size(); ++i) {
      if (static_cast<WokenBy>(i) == WokenBy::kOngoing) continue;
      stats.counters["woken by: " + std::string(name_of(static_cast<WokenBy>(i)))] =
          static_cast<int64_t>(wakers_.counts()[i]);
    }
    stats.counters["wakers: their wait was dropped"] = static_cast<int64_t>(wakers_.without_wait());
  }
  stats.take_off_unwritten(context_.writer, {recording::Event::kWait});
  return stats;
}

}  // namespace

std::unique_ptr<Engine> make_waits_engine(EngineContext& context) {
  return std::make_unique<WaitsEngine>(context);
}

}  // namespace tarsier::agent
