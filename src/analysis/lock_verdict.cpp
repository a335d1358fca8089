#include "analysis/lock_verdict.h"

#include <algorithm>

#include "analysis/blocking_chains.h"
#include "analysis/contentions.h"
#include "analysis/lock_names.h"
#include "analysis/lock_profile.h"
#include "analysis/wording.h"

namespace tarsier::analysis {
namespace {

// Of the time that the recording lasted: less is not worth a line.
constexpr double kWorthALine = 0.01;
// Of the time lost to locks, passed on by owners that were blocked themselves.
constexpr double kWorthARoot = 0.1;

double share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// How much of the waiting is due to the one that is named.
std::string words_of_blame(double part) {
  if (part >= 0.95) return "caused almost wholly by ";
  if (part >= 0.5) return "caused mostly (" + words_of_share(part) + ") by ";
  return "caused by several, most (" + words_of_share(part) + ") by ";
}

}  // namespace

std::string lock_verdict(const Model& model) {
  if (model.locks.empty()) return {};
  const LockCode code(model);
  const AspectKeys keys(model, code, label_methods(model, false));
  const LockProfile profile = lock_profile(model, code, Selection(), keys,
                                           {LockAspect::kBlockedMethod, LockAspect::kOwnerMethod, LockAspect::kObject});
  if (profile.total() == 0 || share(profile.total(), model.duration.count) < kWorthALine) return {};
  const LockNode& blocked = profile.nodes[profile.nodes[0].children.front()];
  const LockNode& owner = profile.nodes[blocked.children.front()];
  const LockNode& lock = profile.nodes[owner.children.front()];
  std::string text = "Lock waiting " + words_of_time(Nanos(profile.total())) + ": " +
                     words_of_share(share(blocked.blocked_ns, profile.total())) + " in " +
                     keys.label(LockAspect::kBlockedMethod, blocked.key);
  const std::string held = short_lock_name(keys.label(LockAspect::kObject, lock.key));
  const std::string by = keys.label(LockAspect::kOwnerMethod, owner.key);
  const bool is_method = !by.starts_with('[');
  if (is_method) {
    text += ", " + words_of_blame(share(owner.blocked_ns, blocked.blocked_ns)) + by + " holding " + held;
  } else {
    text += ", for " + held + (owners_recorded(model) ? "" : "; record --lock tells who held it");
  }
  return text + ".";
}

std::string root_cause_verdict(const Model& model) {
  // A chain of blocking takes two locks.
  if (model.locks.locks.size() < 2) return {};
  const LockCode code(model);
  const AspectKeys keys(model, code, label_methods(model, false));
  const BlockedTimes times(model, code, Selection());
  if (times.total_ns() == 0 || share(times.total_ns(), model.duration.count) < kWorthALine) return {};
  const BlockingChains chains = blocking_chains(times, Selection(), keys);
  const BlockingCause& root = chains.causes.front();
  if (share(root.passed_on_ns, chains.total_ns) < kWorthARoot || root.through.empty()) return {};
  const auto name = [&](const BlockingCause& cause) {
    return keys.label(LockAspect::kOwnerMethod, cause.method) + " holding " +
           short_lock_name(keys.label(LockAspect::kObject, cause.lock.value));
  };
  const std::string part = words_of_share(share(root.caused_ns, chains.total_ns));
  if (root.cycle) {
    return "Root cause of " + part + " of the lock waiting: threads that wait for each other, one of them for " +
           short_lock_name(keys.label(LockAspect::kObject, root.lock.value)) + ".";
  }
  if (keys.label(LockAspect::kOwnerMethod, root.method).starts_with('[')) return {};  // nobody that could be named
  return "Root cause of " + part + " of the lock waiting: " + name(root) + "; " +
         words_of_share(share(root.passed_on_ns, chains.total_ns)) +
         " by way of others that wait for it while they are waited for, most of it " +
         name(chains.causes[root.through.front().cause]) + ".";
}

}  // namespace tarsier::analysis
