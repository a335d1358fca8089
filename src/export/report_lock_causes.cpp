#include "export/report_lock_causes.h"

#include <algorithm>
#include <cmath>

#include "analysis/lock_causes.h"
#include "analysis/lock_names.h"
#include "analysis/wording.h"
#include "base/share.h"
#include "export/escape.h"
#include "export/text_table.h"

namespace tarsier::exporting {

using analysis::Activity;
using analysis::BarrierRow;
using analysis::BlockingCause;
using analysis::fixed;
using analysis::LockAspect;
using analysis::LockCauses;
using analysis::LockUse;
using analysis::words_of_count;
using analysis::words_of_share;
using analysis::words_of_time;

namespace {

// In text only what matters: so many of each kind, and nothing below this share.
constexpr size_t kShownRoots = 5, kShownLocks = 3, kShownBarriers = 5, kShownMethods = 3;
constexpr double kWorthShowing = 0.01;
constexpr double kWorthALine = 0.001;  // of the recording's time: a lock that was waited for less is no trouble
constexpr size_t kMostLocks = 100;     // whatever --top says: each has a curve

// What a thread is that waits in that way.
std::string words_of_wait(const std::string& kind) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"sleeping", "sleeping"},
                                                                      {"io", "in I/O"},
                                                                      {"socket", "in I/O (socket)"},
                                                                      {"file", "in I/O (file)"},
                                                                      {"pipe", "in I/O (pipe)"},
                                                                      {"selector", "waiting in a selector"},
                                                                      {"page fault", "waiting for a page of memory"},
                                                                      {"waiting", "in Object.wait"},
                                                                      {"monitor", "blocked by a monitor"},
                                                                      {"parked", "parked"},
                                                                      {"native", "waiting in native code"},
                                                                      {"vm", "waiting in the JVM"}};
  for (const auto& [name, words] : kWords) {
    if (name == kind) return std::string(words);
  }
  return "waiting (" + visible(kind) + ")";
}

class CausesText {
 public:
  CausesText(const ReportContext& context, const analysis::AspectKeys& keys, const LockCauses& causes)
      : context_(context), keys_(keys), causes_(causes), labels_(context.labels()) {}

  std::string text() {
    add_roots();
    add_locks();
    add_barriers();
    add_missing();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string lock_name(analysis::LockIndex lock) const {
    return visible(analysis::short_lock_name(keys_.label(LockAspect::kObject, lock.value)));
  }
  [[nodiscard]] std::string method_name(uint32_t label) const {
    return visible(without_package(label == analysis::kNoLabel ? "[not known]" : labels_.names[label]));
  }
  [[nodiscard]] std::string name_of(const BlockingCause& cause) const {
    if (cause.cycle) return "threads that wait for each other, for " + lock_name(cause.lock);
    const std::string method = visible(without_package(keys_.label(LockAspect::kOwnerMethod, cause.method)));
    const std::string thread =
        cause.thread == analysis::kNobody ? "" : " (" + visible(context_.model.threads[cause.thread.value].name) + ")";
    return method + thread + (method.starts_with("[hand-off") ? " of " : " holding ") + lock_name(cause.lock);
  }

  void add_roots() {
    const analysis::BlockingChains& chains = causes_.chains;
    const double passed_on = share(chains.passed_on_ns, chains.total_ns);
    if (passed_on < kWorthShowing) return;
    out_ += '\n';
    append_wrapped(
        out_, "Chains of blocking: " + words_of_time(Nanos(chains.passed_on_ns)) + " (" + words_of_share(passed_on) +
                  ") were lost to owners that were blocked themselves. Root causes, with what is passed on to "
                  "them, and what they have as owners in the tree above:");
    out_ += "      caused   share passed on  as owner   links  root cause\n";
    for (size_t i = 0; i < std::min(kShownRoots, chains.causes.size()); ++i) {
      const BlockingCause& cause = chains.causes[i];
      if (share(cause.caused_ns, chains.total_ns) < kWorthShowing) break;
      std::string line = pad_left(words_of_time(Nanos(cause.caused_ns)), 12);
      line += pad_left(words_of_share(share(cause.caused_ns, chains.total_ns)), 8);
      line += pad_left(words_of_time(Nanos(cause.passed_on_ns)), 10);
      line += pad_left(words_of_time(Nanos(cause.direct_ns)), 10);
      line += pad_left(std::to_string(cause.longest), 8) + "  ";
      out_ += line + cut_front(name_of(cause), kColumns - line.size()) + "\n";
      if (cause.through.empty()) continue;
      const auto& way = cause.through.front();
      line = std::string(20, ' ') + pad_left(words_of_time(Nanos(way.ns)), 10) + std::string(20, ' ') + "by way of ";
      out_ += line + cut_front(name_of(chains.causes[way.cause]), kColumns - line.size()) + "\n";
    }
  }

  // 60.0 % on a CPU (String.equals 40.0 %), 12.0 % sleeping, 28.0 % not seen
  [[nodiscard]] std::string words_of(const Activity& activity) const {
    // Samples are an estimate: they may add up to more than there is.
    int64_t known = activity.cpu_ns + activity.blocked_ns + activity.parked_ns;
    for (const int64_t ns : activity.waited_ns) known += ns;
    const int64_t whole = std::max(activity.total_ns, known);
    std::string text;
    const auto add = [&](int64_t ns, const std::string& what) {
      if (share(ns, whole) >= kWorthShowing) {
        text += (text.empty() ? "" : ", ") + words_of_share(share(ns, whole)) + " " + what;
      }
    };
    std::string methods;
    for (size_t i = 0; i < std::min(kShownMethods, activity.methods.size()); ++i) {
      const Activity::Method& method = activity.methods[i];
      if (share(method.ns, whole) < kWorthShowing) break;
      methods +=
          (methods.empty() ? " (" : ", ") + method_name(method.label) + " " + words_of_share(share(method.ns, whole));
    }
    add(activity.cpu_ns, "on a CPU" + methods + (methods.empty() ? "" : ")"));
    add(activity.blocked_ns, "blocked by another lock");
    add(activity.parked_ns, "parked, for no lock");
    for (size_t i = 0; i < activity.waited_ns.size(); ++i) {
      add(activity.waited_ns[i], words_of_wait(context_.model.wait_kinds[i]));
    }
    add(activity.rest_ns(), "not seen");
    return text.empty() ? "nothing seen" : text;
  }

  void add_locks() {
    const int64_t total = causes_.chains.total_ns;
    bool any = false;
    for (size_t i = 0; i < std::min(kShownLocks, causes_.locks.size()); ++i) {
      const LockUse& use = causes_.locks[i];
      if (share(use.sum.blocked_ns, total) < kWorthShowing) break;
      if (share(use.sum.blocked_ns, context_.model.duration.count) < kWorthALine) break;
      if (!any) {
        out_ +=
            "\nThe locks that were waited for most (pressure: tenths of their users' time that these were blocked,\n"
            "  from the begin to the end)\n";
      }
      any = true;
      add_lock(use, total);
    }
    if (any && !causes_.activity_recorded) {
      append_wrapped(out_, "What the owners did meanwhile is not recorded: record --lock --cpu --waits shows it.");
    }
  }

  void add_lock(const LockUse& use, int64_t total) {
    std::string text =
        lock_name(use.lock) + ": " + words_of_time(Nanos(use.sum.blocked_ns)) + " (" +
        words_of_share(share(use.sum.blocked_ns, total)) + ") in " + words_of_count(use.sum.contentions) +
        " contentions, used by " + words_of_count(use.pressure.users) + " threads. While there was a queue, " +
        fixed(use.queue.mean(), 1) + " waited on average, " + std::to_string(use.queue.most) + " at most.";
    if (use.sum.hand_offs.count() > 0) {
      text += " Hand-off: median " + words_of_time(Nanos(use.sum.hand_offs.percentile(0.5))) + ", 95 % within " +
              words_of_time(Nanos(use.sum.hand_offs.percentile(0.95))) + ", longest " +
              words_of_time(Nanos(use.sum.hand_offs.max())) + ".";
    }
    if (use.queue.convoys > 0) {
      const auto& longest = use.queue.longest;
      text += " Convoy: the queue did not empty for " + words_of_time(Nanos(longest.end_ns - longest.begin_ns)) +
              ", over " + words_of_count(longest.hand_overs) + " hand-overs; " +
              words_of_share(share(use.queue.convoy_ns, use.queue.busy_ns)) + " of the time with a queue was so.";
    }
    if (causes_.activity_recorded && use.owners.total_ns > 0) {
      text += " Its owners meanwhile: " + words_of(use.owners) + ".";
    }
    append_wrapped(out_, text);
    std::string curve;
    for (size_t slice = 0; slice < analysis::kPressureSlices; ++slice) curve += digit_of(use, slice);
    out_ += "  pressure [" + curve + "]\n";
  }

  // Tenths of the users' time; '.' for less than half of one.
  [[nodiscard]] char digit_of(const LockUse& use, size_t slice) const {
    const int tenths = static_cast<int>(std::lround(pressure_in(use.pressure, causes_.slices, slice) * 10));
    return tenths == 0 ? '.' : static_cast<char>('0' + std::min(tenths, 9));
  }

  void add_barriers() {
    const auto& barriers = causes_.barriers;
    if (share(barriers.idle_ns, context_.model.duration.count) < kWorthShowing) return;
    out_ += "\nWaiting at barriers and joins (" + words_of_time(Nanos(barriers.idle_ns)) + " idle)\n";
    out_ += "        idle     times  threads  where; who came last\n";
    for (size_t i = 0; i < std::min(kShownBarriers, barriers.rows.size()); ++i) {
      const BarrierRow& row = barriers.rows[i];
      if (share(row.idle_ns, barriers.idle_ns) < kWorthShowing) break;
      std::string line = pad_left(words_of_time(Nanos(row.idle_ns)), 12) + pad_left(words_of_count(row.waits), 10) +
                         pad_left(words_of_count(row.waiting_threads), 9) + "  ";
      line += std::string(row.kind) + " in ";
      out_ += line + cut_front(method_name(row.waiting_in), kColumns - line.size()) + "\n";
      std::string late = method_name(row.slow_in);
      if (!row.slow.empty()) {
        late += ", " + words_of_share(share(row.slow_ns, row.idle_ns)) + " of it by thread " + visible(row.slow);
      }
      out_ += std::string(33, ' ') + cut_front(late, kColumns - 33) + "\n";
      if (causes_.activity_recorded && i < causes_.late.size() && causes_.late[i].total_ns > 0) {
        append_wrapped(out_, "Those who came last, meanwhile: " + words_of(causes_.late[i]) + ".");
      }
    }
  }

  void add_missing() {
    const analysis::LockGaps& gaps = causes_.gaps;
    if (gaps.any()) {
      std::string text;
      const auto add = [&](uint64_t count, const char* what) {
        if (count > 0) text += (text.empty() ? "" : ", ") + std::string(what) + ": " + words_of_count(count);
      };
      add(gaps.missing, "missing");
      add(gaps.duplicates, "there twice");
      add(gaps.out_of_order, "earlier than the one before");
      add(gaps.out_of_bounds, "with a number that can't be");
      append_wrapped(out_, "Of " + words_of_count(gaps.numbered + gaps.missing) + " numbered events of locks, " + text +
                               ". Around them it is not known for sure who held the lock.");
    }
    if (!gaps.checked) out_ += "Whether events are missing was not checked: there are too many to keep them all.\n";
    if (causes_.left_out_ns + causes_.chains.not_followed_ns > 0) {
      append_wrapped(out_, "Too many and too short to be looked at one by one: " +
                               words_of_time(Nanos(causes_.left_out_ns + causes_.chains.not_followed_ns)) +
                               ". It is in the tree, but not in what is below it.");
    }
  }

  const ReportContext& context_;
  const analysis::AspectKeys& keys_;
  const LockCauses& causes_;
  analysis::Labels labels_;
  std::string out_;
};

using Json = nlohmann::ordered_json;

class CausesJson {
 public:
  CausesJson(const ReportContext& context, const analysis::AspectKeys& keys, const LockCauses& causes)
      : context_(context), keys_(keys), causes_(causes), labels_(context.labels()) {}

  void add_to(Json& locks) const {
    locks["chains"] = chains();
    Json objects = Json::array();
    for (const LockUse& use : causes_.locks) objects.push_back(object(use));
    locks["objects"] = std::move(objects);
    locks["activity_recorded"] = causes_.activity_recorded;
    locks["barriers"] = barriers();
    locks["missing"] = {{"checked", causes_.gaps.checked},           {"numbered", causes_.gaps.numbered},
                        {"missing", causes_.gaps.missing},           {"duplicates", causes_.gaps.duplicates},
                        {"out_of_order", causes_.gaps.out_of_order}, {"out_of_bounds", causes_.gaps.out_of_bounds},
                        {"too_short_ns", causes_.left_out_ns}};
  }

 private:
  [[nodiscard]] std::string lock_name(analysis::LockIndex lock) const {
    return keys_.label(LockAspect::kObject, lock.value);
  }
  [[nodiscard]] Json thread_name(analysis::ThreadIndex thread) const {
    return thread == analysis::kNobody ? Json() : Json(context_.model.threads[thread.value].name);
  }
  [[nodiscard]] Json method_name(uint32_t label) const {
    return label == analysis::kNoLabel ? Json() : Json(labels_.names[label]);
  }
  [[nodiscard]] size_t top() const { return static_cast<size_t>(context_.options.top); }

  [[nodiscard]] Json chains() const {
    const analysis::BlockingChains& chains = causes_.chains;
    Json rows = Json::array();
    for (const BlockingCause& cause : chains.causes) {
      if (rows.size() == top() || share(cause.caused_ns, chains.total_ns) < context_.options.min_share) break;
      Json through = Json::array();
      for (const auto& way : cause.through) {
        if (through.size() == top()) break;
        const BlockingCause& first = chains.causes[way.cause];
        through.push_back({{"method", keys_.label(LockAspect::kOwnerMethod, first.method)},
                           {"lock", lock_name(first.lock)},
                           {"ns", way.ns}});
      }
      rows.push_back({{"method", keys_.label(LockAspect::kOwnerMethod, cause.method)},
                      {"thread", thread_name(cause.thread)},
                      {"lock", lock_name(cause.lock)},
                      {"cycle", cause.cycle},
                      {"caused_ns", cause.caused_ns},
                      {"share", share(cause.caused_ns, chains.total_ns)},
                      {"passed_on_ns", cause.passed_on_ns},
                      {"direct_ns", cause.direct_ns},
                      {"longest", cause.longest},
                      {"through", std::move(through)}});
    }
    return {
        {"passed_on_ns", chains.passed_on_ns}, {"not_followed_ns", chains.not_followed_ns}, {"rows", std::move(rows)}};
  }

  // null if nothing in the recording tells.
  [[nodiscard]] Json activity(const Activity& of) const {
    if (!causes_.activity_recorded) return {};
    Json waits = Json::object();
    for (size_t i = 0; i < of.waited_ns.size(); ++i) waits[context_.model.wait_kinds[i]] = of.waited_ns[i];
    Json methods = Json::array();
    for (const Activity::Method& method : of.methods) {
      if (methods.size() == top()) break;
      methods.push_back({{"method", labels_.names[method.label]}, {"ns", method.ns}});
    }
    return {{"total_ns", of.total_ns},      {"cpu_ns", of.cpu_ns},          {"blocked_ns", of.blocked_ns},
            {"parked_ns", of.parked_ns},    {"waits_ns", std::move(waits)}, {"not_seen_ns", of.rest_ns()},
            {"methods", std::move(methods)}};
  }

  [[nodiscard]] Json object(const LockUse& use) const {
    const auto& hand_offs = use.sum.hand_offs;
    const auto& longest = use.queue.longest;
    return {{"lock", lock_name(use.lock)},
            {"blocked_ns", use.sum.blocked_ns},
            {"count", use.sum.contentions},
            {"users", use.pressure.users},
            {"hand_off",
             {{"count", hand_offs.count()},
              {"p50_ns", hand_offs.percentile(0.5)},
              {"p95_ns", hand_offs.percentile(0.95)},
              {"max_ns", hand_offs.max()}}},
            {"queue", {{"mean", use.queue.mean()}, {"max", use.queue.most}, {"busy_ns", use.queue.busy_ns}}},
            {"convoys",
             {{"count", use.queue.convoys},
              {"ns", use.queue.convoy_ns},
              {"longest_ns", longest.end_ns - longest.begin_ns},
              {"longest_hand_overs", longest.hand_overs}}},
            {"pressure",
             {{"slice_ns", causes_.slices.length()},
              {"users", use.pressure.present},
              {"blocked_ns", use.pressure.blocked_ns},
              {"running_ns", use.pressure.running_ns.empty() ? Json() : Json(use.pressure.running_ns)}}},
            {"owners", activity(use.owners)}};
  }

  [[nodiscard]] Json barriers() const {
    Json rows = Json::array();
    for (const BarrierRow& row : causes_.barriers.rows) {
      const size_t index = rows.size();
      if (index == top()) break;
      rows.push_back({{"kind", row.kind},
                      {"waiting_in", method_name(row.waiting_in)},
                      {"idle_ns", row.idle_ns},
                      {"count", row.waits},
                      {"threads", row.waiting_threads},
                      {"late_in", method_name(row.slow_in)},
                      {"late_thread", row.slow.empty() ? Json() : Json(row.slow)},
                      {"late_thread_ns", row.slow_ns},
                      {"late", index < causes_.late.size() ? activity(causes_.late[index]) : Json()}});
    }
    return {{"idle_ns", causes_.barriers.idle_ns}, {"rows", std::move(rows)}};
  }

  const ReportContext& context_;
  const analysis::AspectKeys& keys_;
  const LockCauses& causes_;
  analysis::Labels labels_;
};

LockCauses causes_of(const ReportContext& context, const analysis::LockCode& code, const analysis::AspectKeys& keys,
                     const analysis::BlockedTimes& times) {
  const auto most = std::min(kMostLocks, static_cast<size_t>(context.options.top));
  return analysis::lock_causes(context.model, code, times, context.selection, keys, context.labels(), most);
}

}  // namespace

std::string lock_causes_text(const ReportContext& context, const analysis::LockCode& code,
                             const analysis::AspectKeys& keys, const analysis::BlockedTimes& times) {
  const LockCauses causes = causes_of(context, code, keys, times);
  return CausesText(context, keys, causes).text();
}

void add_lock_causes(Json& locks, const ReportContext& context, const analysis::LockCode& code,
                     const analysis::AspectKeys& keys, const analysis::BlockedTimes& times) {
  const LockCauses causes = causes_of(context, code, keys, times);
  CausesJson(context, keys, causes).add_to(locks);
}

}  // namespace tarsier::exporting
