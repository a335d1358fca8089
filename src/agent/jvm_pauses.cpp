#include "agent/jvm_pauses.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

constexpr size_t kRingSize = 64 << 10;  // 780 pauses; it is emptied twenty times a second at least
// Since then sun.rt.safepointTime is the time in which all threads stood still; up to 12 it begins when they are asked
// to stop, with sun.rt.safepointSyncTime in it. (As sources of OpenJDK before and after that have it; measured with 17
// and 25 against -Xlog:safepoint: equal to the nanosecond.)
constexpr int kFirstWithSeparateTimes = 13;

const int64_t* as_number(const hotspot::PerfMemory& counters, const std::string& name) {
  return reinterpret_cast<const int64_t*>(counters.number(name).value_or(0));
}

// "G1 young collection pauses" names them all. Shenandoah's counters are called "partial" and "full", and the latter
// counts every kind of pause.
std::string of_one(std::string name) {
  if (name.starts_with("Shenandoah")) return "Shenandoah pause";
  for (const std::string_view many : {"pauses", "collections"}) {
    if (name.ends_with(many)) name.pop_back();
  }
  return name;
}

// Foreign text: what is no letter, digit or sign of ASCII would not survive everywhere.
std::string printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

}  // namespace

JvmPauses::JvmPauses(const Jvm& jvm, recording::Writer& writer) : jvm_(jvm), writer_(writer), ring_(kRingSize) {
  find_counters();
  capture::PauseSigns signs;
  if (counters_) {
    for (size_t i = 0; i < capture::PauseSigns::kMostCollectors; ++i) {
      const std::string prefix = "sun.gc.collector." + std::to_string(i) + ".";
      const std::string name = counters_->read_text(prefix + "name");
      const int64_t* const entered = as_number(*counters_, prefix + "lastEntryTime");
      const int64_t* const left = as_number(*counters_, prefix + "lastExitTime");
      if (name.empty() || entered == nullptr || left == nullptr) continue;  // ZGC has no number 1
      signs.collectors[signs.collector_count++] = {entered, left};
      collectors_.push_back(of_one(printable(name)));
    }
    if (const auto cause = counters_->text("sun.gc.cause")) {
      signs.cause = reinterpret_cast<const char*>(cause->address);
      signs.cause_size = cause->size;
    }
    if (const auto cause = counters_->text("sun.gc.lastCause")) {
      signs.last_cause = reinterpret_cast<const char*>(cause->address);
      signs.last_cause_size = cause->size;
    }
    signs.safepoints = as_number(*counters_, "sun.rt.safepoints");
  }
  if (ring_) capture_.emplace(std::span(ring_.data(), ring_.size()), signs);
}

void JvmPauses::find_counters() {
  if (!jvm_.lib().structs()) {
    no_counters_ = "this JVM does not tell where its performance counters are";
    return;
  }
  auto found = hotspot::PerfMemory::find(jvm_.memory(), *jvm_.lib().structs());
  if (!found) {
    no_counters_ = found.error().what;
    return;
  }
  counters_ = std::move(*found);
  time_has_all_ = jvm_.major() < kFirstWithSeparateTimes;
  if (!read_counters()) no_counters_ = "the JVM's performance counters have no safepoints";
}

// A JVM that has just started has no such counter yet.
void JvmPauses::find_frequency() {
  if (nanos_per_tick_ != 0) return;
  const auto counters = hotspot::PerfMemory::find(jvm_.memory(), *jvm_.lib().structs());
  const int64_t frequency = counters ? counters->read_number("sun.os.hrt.frequency").value_or(0) : 0;
  nanos_per_tick_ = frequency > 0 ? 1e9 / static_cast<double>(frequency) : 1;  // as all from 8 on have it
}

control::EngineReport JvmPauses::start() {
  before_ = read_counters();
  before_at_ = monotonic_now();
  control::EngineReport report{"pauses", "jvmti", "", {}, {}, true};
  const std::string safepoints = no_counters_.empty() ? "safepoints by the JVM's performance counters"
                                                      : "no safepoints, and no causes of collections: " + no_counters_;
  jvmtiCapabilities wanted{};
  wanted.can_generate_garbage_collection_events = 1;
  listens_ = capture_ && jvm_.jvmti()->AddCapabilities(&wanted) == JVMTI_ERROR_NONE && set_events(JVMTI_ENABLE);
  if (listens_) {
    report.mechanism = no_counters_.empty() ? "jvmti, perf counters" : "jvmti";
    report.why = "pauses of collections by events of JVMTI; " + safepoints;
    return report;
  }
  const std::string no_events = "no pauses of collections: the JVM does not tell about them (JVMTI)";
  report.mechanism = no_counters_.empty() ? "perf counters" : "none";
  report.why = no_events + "; " + safepoints;
  report.runs = no_counters_.empty();
  return report;
}

// The end first, and the beginning first when it is over: of a pause between the two calls we then see an end alone,
// which counts for nothing, never a beginning that waits for its end. A pause during one of them can't be: the calling
// thread is in the JVM then, and would have to stop for it.
bool JvmPauses::set_events(jvmtiEventMode mode) {
  const jvmtiEvent order[] = {
      mode == JVMTI_ENABLE ? JVMTI_EVENT_GARBAGE_COLLECTION_FINISH : JVMTI_EVENT_GARBAGE_COLLECTION_START,
      mode == JVMTI_ENABLE ? JVMTI_EVENT_GARBAGE_COLLECTION_START : JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};
  return std::all_of(std::begin(order), std::end(order), [&](jvmtiEvent event) {
    return jvm_.jvmti()->SetEventNotificationMode(mode, event, nullptr) == JVMTI_ERROR_NONE;
  });
}

void JvmPauses::on_collection_start() noexcept {
  if (capture_) capture_->begin(monotonic_now().count);
}

void JvmPauses::on_collection_finish() noexcept {
  if (capture_) capture_->end(monotonic_now().count, ::gettid());
}

void JvmPauses::drain() {
  if (!capture_) return;
  capture_->ring().consume([this](const uint8_t* payload, size_t) {
    capture::PauseRecord record;
    std::memcpy(&record, payload, sizeof(record));
    write(record);
  });
}

std::string JvmPauses::name_of(const capture::PauseRecord& record) const {
  const auto known = static_cast<size_t>(record.collector);
  const std::string collector = record.collector >= 0 && known < collectors_.size() ? collectors_[known] : "GC pause";
  const std::string cause = printable(std::string(record.cause, ::strnlen(record.cause, sizeof(record.cause))));
  return cause.empty() ? collector : collector + " (" + cause + ")";
}

void JvmPauses::write(const capture::PauseRecord& record) {
  const std::string name = name_of(record);
  if (record.tid != tid_) {
    tid_ = record.tid;
    thread_ = linux::thread_name(tid_);
  }
  const recording::Value values[] = {record.end_ns - record.begin_ns, writer_.thread({thread_, tid_, {}, 0, false}),
                                     static_cast<int64_t>(written_), std::string_view(name)};
  writer_.event(recording::Event::kGcPhasePause, Nanos(record.begin_ns), values);
  ++written_;
}

std::optional<SafepointCounters> JvmPauses::read_counters() const {
  if (!counters_) return std::nullopt;
  const auto count = counters_->read_number("sun.rt.safepoints");
  const auto time = counters_->read_number("sun.rt.safepointTime");
  const auto to_stop = counters_->read_number("sun.rt.safepointSyncTime");
  if (!count || !time || !to_stop) return std::nullopt;
  return SafepointCounters{*count, *time, *to_stop};
}

void JvmPauses::update() {
  drain();
  write_safepoints();
}

void JvmPauses::write_safepoints() {
  if (!no_counters_.empty()) return;
  const auto now = read_counters();
  const Nanos now_at = monotonic_now();
  if (now && before_) {
    find_frequency();
    // They only grow; whoever else writes there gets no numbers below 0 out of us.
    const auto since = [](int64_t after, int64_t before) {
      int64_t difference = 0;
      return __builtin_sub_overflow(after, before, &difference) ? 0 : std::max<int64_t>(difference, 0);
    };
    const auto nanos = [&](int64_t ticks) {
      constexpr double kMost = 1e18;  // 30 years
      return std::llround(std::min(static_cast<double>(ticks) * nanos_per_tick_, kMost));
    };
    const int64_t to_stop = nanos(since(now->time_to_stop, before_->time_to_stop));
    const int64_t time = nanos(since(now->time, before_->time)) + (time_has_all_ ? 0 : to_stop);
    const recording::Value values[] = {(now_at - before_at_).count, since(now->count, before_->count), time, to_stop};
    writer_.event(recording::Event::kSafepoints, before_at_, values);
  }
  before_ = now;
  before_at_ = now_at;
}

void JvmPauses::stop() {
  if (listens_) (void)set_events(JVMTI_DISABLE);
  listens_ = false;
  drain();
}

EngineStats JvmPauses::stats() const {
  EngineStats stats;
  if (!capture_) return stats;
  const capture::PauseCounters& counters = capture_->counters();
  stats.taken = counters.taken.load(std::memory_order_relaxed);
  stats.written = written_;
  stats.dropped["ring full"] = counters.ring_full.load(std::memory_order_relaxed);
  stats.dropped["no end"] = counters.no_end.load(std::memory_order_relaxed);
  stats.take_off_unwritten(writer_, {recording::Event::kGcPhasePause});
  stats.memory = Bytes(kRingSize);
  return stats;
}

}  // namespace tarsier::agent
