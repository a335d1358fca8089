#include "analysis/verdict.h"

#include <algorithm>
#include <cmath>

#include "analysis/alloc.h"
#include "analysis/deadlock.h"
#include "analysis/engine_account.h"
#include "analysis/flat.h"
#include "analysis/lock_verdict.h"
#include "analysis/pause_sums.h"
#include "analysis/quality.h"
#include "analysis/thread_kind.h"
#include "analysis/thread_profile.h"
#include "analysis/waits.h"
#include "analysis/wording.h"
#include "base/parse.h"
#include "base/share.h"

namespace tarsier::analysis {
namespace {

// What the sentences are made of.
struct Facts {
  const Model& model;
  Cct cct;
  Quality quality;
  std::vector<HotMethod> hot;
  std::vector<ThreadRow> threads;
  Nanos unsampled;            // of threads that no engine samples
  Nanos cpu;                  // of all, without our own thread
  Nanos measured_of_sampled;  // CPU of sampled threads that the kernel accounts for ...
  Nanos sampled_of_measured;  // ... and what their samples stand for
  LockVerdict locks;
};

Facts gather(const Model& model) {
  const Selection all;
  Facts facts{
      .model = model,
      .cct = build_cct(model, weigh_stacks(model, all), label_methods(model, false), false, unsampled_cpu(model, all)),
      .quality = assess_quality(model, all),
      .hot = {},
      .threads = thread_profile(model, all),
      .unsampled = {},
      .cpu = {},
      .measured_of_sampled = {},
      .sampled_of_measured = {},
      .locks = lock_verdict(model)};
  facts.hot = flat_profile(facts.cct);
  for (const auto& [kind, cpu] : unsampled_cpu(model, all)) facts.unsampled += cpu;
  facts.cpu = facts.unsampled;
  std::erase_if(facts.threads,
                [&](const ThreadRow& row) { return model.threads[row.thread.value].kind == ThreadKind::kTarsier; });
  for (const ThreadRow& row : facts.threads) {
    const Thread& thread = model.threads[row.thread.value];
    if (!thread.sampled) continue;
    facts.cpu += row.cpu;
    if (!row.measured) continue;
    facts.measured_of_sampled += *thread.cpu;
    facts.sampled_of_measured += Nanos(row.sampled) + thread.carried;
  }
  return facts;
}

std::string how_long_and_how_much(const Facts& facts) {
  const Model& model = facts.model;
  std::string text = "Recorded " + words_of_time(model.duration);
  if (!model.jvm.empty()) text += " of JVM " + model.jvm;
  if (model.pid != 0) text += " (pid " + std::to_string(model.pid) + ")";
  if (model.profile != Profile::kCpu) {
    const bool of_part = model.locks_are_of_part && is_of_locks(model.profile);
    text += (of_part ? "; in the selected time: " : ": ") + words_of_weight(model.profile, facts.quality.weight) +
            " of " + std::string(about(model.profile).what);
    if (model.profile == Profile::kAlloc && model.duration.count > 0) {
      text +=
          ", " +
          words_of_bytes(Bytes(std::llround(static_cast<double>(facts.quality.weight) / in_seconds(model.duration)))) +
          " per second";
    }
    return text + ".";
  }
  const bool measured = facts.measured_of_sampled.count > 0 || facts.quality.samples == 0;
  text += (measured ? ": " : ": samples for ") + words_of_time(facts.cpu) + " of CPU time";
  if (model.duration.count > 0) {
    text += ", " + fixed(share(facts.cpu, model.duration), 2);
    text += model.cpus > 0 ? " of " + std::to_string(model.cpus) + " CPUs" : " CPUs";
  }
  return text + ".";
}

std::string hottest_method(const Facts& facts) {
  if (facts.quality.samples == 0) return "No CPU samples: no sampled thread was seen running.";
  const auto hottest = std::find_if(facts.hot.begin(), facts.hot.end(), [&](const HotMethod& row) {
    return row.samples > 0 && !facts.cct.labels.names[row.label].starts_with("[failed");
  });
  if (hottest == facts.hot.end()) return "No sample has a stack: which methods are hot is not known.";
  const ProfileInfo& profile = about(facts.model.profile);
  return std::string(profile.hottest) + ": " + facts.cct.labels.names[hottest->label] + " with " +
         words_of_share(share(Nanos(hottest->self), Nanos(facts.cct.nodes[0].total))) + " of the " +
         std::string(profile.what) +
         (profile.is_census ? "."
                            : " (95 % sure: " + fixed(hottest->self_ci95.low * 100, 1) + " to " +
                                  fixed(hottest->self_ci95.high * 100, 1) + " %).");
}

std::string hottest_thread(const Facts& facts) {
  const Profile profile = facts.model.profile;
  if (profile != Profile::kCpu) {
    if (facts.threads.empty()) return {};
    const ThreadRow& row = facts.threads.front();
    return "Thread with the most: " + facts.model.threads[row.thread.value].name + " with " +
           words_of_weight(profile, row.sampled) + " (" +
           words_of_share(share(Nanos(row.sampled), Nanos(facts.quality.weight))) + ").";
  }
  const auto hottest = std::find_if(facts.threads.begin(), facts.threads.end(), [&](const ThreadRow& row) {
    return facts.model.threads[row.thread.value].sampled;
  });
  if (hottest == facts.threads.end()) return {};
  return "Hottest thread: " + facts.model.threads[hottest->thread.value].name + " with " + words_of_time(hottest->cpu) +
         " of CPU time (" + words_of_share(share(hottest->cpu, facts.cpu)) + ").";
}

// One sentence beside the CPU's; if allocation is the profile, the others say it.
std::string allocation(const Facts& facts) {
  const Model& model = facts.model;
  if (model.profile == Profile::kAlloc || samples_of(model, Profile::kAlloc).empty()) return {};
  const Labels labels = label_methods(model, false);
  const AllocProfile profile = alloc_profile(model, Selection(), labels);
  if (profile.rows.empty()) return {};
  const Interval sure = profile.all.bytes_ci95();
  const AllocRow& most = profile.rows.front();
  const auto words = [](double bytes) { return words_of_bytes(Bytes(std::llround(bytes))); };
  return "Allocated: " + words_of_bytes(Bytes(profile.all.bytes)) + " (95 % sure: " + words(sure.low) + " to " +
         words(sure.high) + "), most of it " + labels.names[most.klass] + " by " + labels.names[most.site] + " (" +
         words_of_share(share(Nanos(most.estimate.bytes), Nanos(profile.all.bytes))) + ").";
}

// Likewise.
std::string waiting(const Facts& facts) {
  const Model& model = facts.model;
  if (model.profile == Profile::kWaits || samples_of(model, Profile::kWaits).empty()) return {};
  const Labels labels = label_methods(model, false);
  const WaitProfile profile = wait_profile(model, Selection(), labels);
  if (profile.rows.empty()) return {};
  std::string said =
      "Waited: " + words_of_time(Nanos(profile.all.ns)) + " in " + words_of_count(profile.all.count) + " waits";
  // Threads that have nothing to do wait all the time, the JVM's own to begin with. That tells nobody anything.
  const bool any_ended = profile.all.ended_ns() > 0;
  if (any_ended && profile.all.ongoing > 0) {
    said += ", " + words_of_count(profile.all.ongoing) + " of them not over (" +
            words_of_time(Nanos(profile.all.ongoing_ns)) + "); of the others";
  } else {
    said += ",";
  }
  const auto time_of = [&](const WaitSum& sum) { return any_ended ? sum.ended_ns() : sum.ns; };
  const WaitRow& most =
      *std::max_element(profile.rows.begin(), profile.rows.end(),
                        [&](const WaitRow& a, const WaitRow& b) { return time_of(a.sum) < time_of(b.sum); });
  if (most.chain.empty()) return {};
  return said + " most of the time in " + labels.names[most.chain.front()] + " (" +
         words_of_share(share(Nanos(time_of(most.sum)), Nanos(time_of(profile.all)))) + ", " +
         model.wait_kinds[most.kind] + "; report --view waits shows where).";
}

std::string deadlocked(const Facts& facts) {
  return deadlock_verdict(facts.model);
}

std::string locking(const Facts& facts) {
  return facts.locks.waiting;
}

std::string root_of_locking(const Facts& facts) {
  return facts.locks.root;
}

std::string not_sampled(const Facts& facts) {
  if (facts.model.profile != Profile::kCpu) return {};
  std::string parts;
  for (const auto& [kind, cpu] : facts.model.unsampled_cpu) {
    if (cpu.count == 0) continue;
    parts += (parts.empty() ? ": " : ", ") + std::string(unsampled_root_name(kind)) + " " + words_of_time(cpu);
  }
  if (parts.empty()) return {};
  return "Threads that are not sampled used " + words_of_time(facts.unsampled) + " (" +
         words_of_share(share(facts.unsampled, facts.cpu)) + " of the CPU time)" + parts + ".";
}

// Only if it matters: a hundredth of what the CPUs were wanted for.
std::string stolen(const Facts& facts) {
  if (!facts.model.machine) return {};
  const MachineCpu& machine = *facts.model.machine;
  const Nanos wanted = machine.busy + machine.steal;
  if (machine.steal.count == 0 || machine.steal.count < wanted.count / 100) return {};
  return "The hypervisor took " + words_of_time(machine.steal) + " from this machine's CPUs (" +
         words_of_share(share(machine.steal, wanted)) + " of the time in which they had something to run), " +
         words_of_time(machine.steal_of_threads) + " of it from this JVM: report --view steal." +
         (facts.model.corrected ? " What is told of CPU time is without it." : "");
}

std::string pauses(const Facts& facts) {
  const std::string words = words_of_pauses(sum_pauses(facts.model, Selection()));
  return words.empty() ? words : words + ".";
}

std::string sentence_of_engine(const Engine& engine) {
  std::string text = engine.name;
  if (!engine.mechanism.empty()) text += " (" + engine.mechanism + ")";
  if (engine.interval.count > 0) text += " every " + format_duration(engine.interval);
  if (engine.interval_bytes.count > 0) text += " every " + words_of_bytes(engine.interval_bytes);
  text += ": " + words_of_count(engine.taken) + (engine.is_lock() ? " events taken, " : " samples taken, ") +
          words_of_count(engine.written) + " written, ";
  uint64_t dropped = 0;
  std::string causes;
  for (const auto& [cause, count] : engine.dropped) {
    if (count == 0) continue;
    dropped += count;
    causes += (causes.empty() ? " (" : ", ") + cause + " " + words_of_count(count);
  }
  return text + words_of_count(dropped) + " dropped" + (causes.empty() ? "" : causes + ")");
}

uint64_t failed_samples(const Quality& quality) {
  uint64_t failed = 0;
  for (const auto& [cause, count] : quality.failed) failed += count;
  return failed;
}

std::string samples_and_cost(const Facts& facts) {
  std::string text;
  for (const Engine& engine : facts.model.engines) {
    // Pauses have a sentence of their own.
    if (engine.is_missing() || engine.is_counters() || engine.is_pauses()) continue;
    text += (text.empty() ? "" : "; ") + sentence_of_engine(engine);
  }
  if (text.empty()) text = words_of_count(facts.quality.samples) + " samples";
  if (facts.quality.samples > 0) {
    text += "; " +
            words_of_share(
                share(static_cast<double>(failed_samples(facts.quality)), static_cast<double>(facts.quality.samples))) +
            " without a stack";
  }
  const Nanos cost = facts.model.overhead_app + facts.model.overhead_background;
  if (cost.count > 0) {
    text += "; own cost " + words_of_time(facts.model.overhead_app) + " in the application's threads and " +
            words_of_time(facts.model.overhead_background) + " in the background" +
            (facts.model.profile == Profile::kCpu ? " (" + words_of_share(share(cost, facts.cpu)) + ")" : "");
  }
  return "Sampling by " + text + ".";
}

std::string warn_few_samples(const Facts& facts) {
  constexpr double kEnough = 400;  // shares of 50 % are then known to 5 points
  const double n = facts.cct.effective_samples;
  if (facts.quality.samples == 0 || n >= kEnough) return {};
  const Interval half = wilson_95(0.5, n);
  return "few samples (" + words_of_count(facts.quality.samples) + "): shares may be off by " +
         fixed((half.high - 0.5) * 100, 0) + " points. Record longer or with a shorter interval.";
}

std::string warn_damaged(const Facts& facts) {
  const auto& problems = facts.model.problems;
  if (!facts.model.damaged && problems.empty()) return {};
  std::string text = facts.model.damaged ? "the file is damaged, and what was intact is shown" : "the reader reports";
  if (!problems.empty()) text += ": " + problems.front();
  if (problems.size() > 1) text += " (and " + std::to_string(problems.size() - 1) + " more)";
  return text + ".";
}

// Engines that see threads only where the JVM can stop them.
std::string warn_biased(const Facts& facts) {
  for (const Engine& engine : facts.model.engines) {
    const bool stops_all = engine.name == "safepoint";
    if ((!stops_all && engine.name != "handshake") || !engine.samples_for(facts.model.profile)) continue;
    return "the engine " + engine.name +
           " is biased by design: it sees threads only at safepoint polls, so time in code without polls is blamed on "
           "what comes after it" +
           (stops_all ? ", and it stops all threads for that" : "") +
           "; what they lose there is not in its own cost. The engine fragment knows better.";
  }
  return {};
}

std::string warn_failed(const Facts& facts) {
  const double part = share(Nanos(facts.quality.failed_weight), Nanos(facts.quality.weight));
  if (part < 0.05) return {};
  const auto worst = std::max_element(facts.quality.failed.begin(), facts.quality.failed.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  return words_of_share(part) + " of the " + std::string(about(facts.model.profile).what) +
         " has no stack, mostly because of: " + worst->first + ".";
}

std::string warn_imprecise(const Facts& facts) {
  const double part = share(Nanos(facts.quality.imprecise_weight), Nanos(facts.quality.weight));
  if (part < 0.1) return {};
  return words_of_share(part) + " of the " + std::string(about(facts.model.profile).what) +
         " was sampled imprecisely: innermost lines and inlined methods may be off.";
}

std::string warn_incomplete(const Facts& facts) {
  const double part = share(static_cast<double>(facts.quality.incomplete), static_cast<double>(facts.quality.samples));
  if (part < 0.1) return {};
  return words_of_share(part) +
         " of the stacks are incomplete: outer frames are missing, see [deeper], or frames of virtual "
         "threads that were on their way from the heap to the stack.";
}

std::string warn_dropped(const Facts& facts) {
  for (const Engine& engine : facts.model.engines) {
    if (engine.dropped.contains(kCountedByOther)) continue;
    const auto in_flight = engine.dropped.find(kInFlight);
    if (in_flight != engine.dropped.end() && in_flight->second > 0) {
      return "the recording was not ended properly: " + words_of_count(in_flight->second) +
             " samples had been taken and were not in the file yet.";
    }
    const auto left_out = engine.dropped.find(kLeftOut);  // of which warn_left_out tells
    const uint64_t known = engine.written + (left_out != engine.dropped.end() ? left_out->second : 0);
    const double part =
        share(static_cast<double>(engine.taken - std::min(known, engine.taken)), static_cast<double>(engine.taken));
    if (part > 0.01) return words_of_share(part) + " of the samples of " + engine.name + " were dropped.";
  }
  return {};
}

std::string warn_left_out(const Facts& facts) {
  for (const Engine& engine : facts.model.engines) {
    const auto left_out = engine.dropped.find(kLeftOut);
    if (left_out == engine.dropped.end() || left_out->second == 0) continue;
    const double part = share(static_cast<double>(left_out->second), static_cast<double>(engine.taken));
    return words_of_share(part) + " of the " + engine.name +
           " were left out by chance to keep the cost down (record --waits-budget): shares hold, times and numbers are "
           "of the others.";
  }
  return {};
}

std::string warn_missing(const Facts& facts) {
  for (const Engine& engine : facts.model.engines) {
    if (engine.is_missing()) return "nothing by the engine " + engine.name + ": " + engine.why + ".";
  }
  return {};
}

std::string warn_unaccounted(const Facts& facts) {
  if (facts.model.profile != Profile::kCpu) return {};
  if (facts.measured_of_sampled < seconds(1) || facts.cct.effective_samples < 400) return {};
  if (std::abs(share(facts.sampled_of_measured, facts.measured_of_sampled) - 1) < 0.1) return {};
  return "the samples stand for " + words_of_time(facts.sampled_of_measured) + ", the kernel accounts for " +
         words_of_time(facts.measured_of_sampled) + " in the same threads.";
}

std::string warn_no_period(const Facts& facts) {
  return tells_its_period(facts.model) ? "" : kNoPeriod;
}

using Sentence = std::string (*)(const Facts&);
constexpr Sentence kSentences[] = {how_long_and_how_much,
                                   deadlocked,
                                   hottest_method,
                                   hottest_thread,
                                   not_sampled,
                                   stolen,
                                   pauses,
                                   allocation,
                                   waiting,
                                   locking,
                                   root_of_locking,
                                   samples_and_cost};
constexpr Sentence kWarnings[] = {warn_damaged, warn_missing,     warn_few_samples, warn_biased,
                                  warn_failed,  warn_imprecise,   warn_incomplete,  warn_left_out,
                                  warn_dropped, warn_unaccounted, warn_no_period};

}  // namespace

std::vector<std::string> verdict(const Model& model) {
  const Facts facts = gather(model);
  std::vector<std::string> lines;
  for (const Sentence sentence : kSentences) {
    if (std::string text = sentence(facts); !text.empty()) lines.push_back(std::move(text));
  }
  for (const Sentence warning : kWarnings) {
    if (const std::string text = warning(facts); !text.empty()) lines.push_back("Warning: " + text);
  }
  return lines;
}

}  // namespace tarsier::analysis
