#include "analysis/lock_verdict.h"

#include <algorithm>
#include <map>

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

const LockNode& first_child(const LockProfile& profile, const LockNode& node) {
  return profile.nodes[node.children.front()];
}

// By aspects in that order: who was blocked, by whom, for what.
std::string who_waited_for_whom(const Model& model, const AspectKeys& keys, const LockProfile& profile) {
  const LockNode& blocked = first_child(profile, profile.nodes[0]);
  const auto name = [&](uint32_t node) { return keys.label(LockAspect::kOwnerMethod, profile.nodes[node].key); };
  // Somebody who can do something about it, if there is one.
  const auto method = std::find_if(blocked.children.begin(), blocked.children.end(),
                                   [&](uint32_t node) { return !name(node).starts_with('['); });
  const bool is_known = method != blocked.children.end();
  const uint32_t owner_index = is_known ? *method : blocked.children.front();
  const LockNode& owner = profile.nodes[owner_index];
  const LockNode& lock = first_child(profile, owner);
  const std::string held = short_lock_name(keys.label(LockAspect::kObject, lock.key));
  const bool one_lock = share(lock.blocked_ns, owner.blocked_ns) >= 0.5;
  std::string text = "Lock waiting " + words_of_time(Nanos(profile.total())) + ": " +
                     words_of_share(share(blocked.blocked_ns, profile.total())) + " in " +
                     keys.label(LockAspect::kBlockedMethod, blocked.key);
  if (is_known) {
    text += ", " + words_of_blame(share(owner.blocked_ns, blocked.blocked_ns)) + name(owner_index) +
            (one_lock ? " holding " : " holding several locks, one of them ") + held;
  } else {
    text += (one_lock ? ", for " : ", for several locks, one of them ") + held +
            (owners_recorded(model) ? "" : "; record --lock tells who held it");
  }
  return text + ".";
}

// A chain takes two locks.
bool several_locks_matter(const LockProfile& profile, size_t level_of_locks) {
  std::map<uint32_t, int64_t> by_lock;
  for (const LockNode& node : profile.nodes) {
    if (node.level == level_of_locks) by_lock[node.key] += node.blocked_ns;
  }
  const auto matter = std::count_if(by_lock.begin(), by_lock.end(), [&](const auto& lock) {
    return share(lock.second, profile.total()) >= kWorthALine;
  });
  return matter > 1;
}

std::string root_cause(const Model& model, const LockCode& code, const AspectKeys& keys) {
  const BlockedTimes times = blocked_times(model, code, Selection());
  const BlockingChains chains = blocking_chains(times, Selection(), keys);
  if (chains.causes.empty()) return {};
  const BlockingCause& root = chains.causes.front();
  if (share(root.passed_on_ns, chains.total_ns) < kWorthARoot || root.through.empty()) return {};
  const auto lock = [&](const BlockingCause& cause) {
    return short_lock_name(keys.label(LockAspect::kObject, cause.lock.value));
  };
  const auto method = [&](const BlockingCause& cause) { return keys.label(LockAspect::kOwnerMethod, cause.method); };
  const std::string begin =
      "Root cause of " + words_of_share(share(root.caused_ns, chains.total_ns)) + " of the lock waiting: ";
  if (root.cycle) return begin + "threads that wait for each other, one of them for " + lock(root) + ".";
  if (method(root).starts_with('[')) return {};  // nobody that could be named
  const BlockingCause& first = chains.causes[root.through.front().cause];
  return begin + method(root) + " holding " + lock(root) + "; " +
         words_of_share(share(root.passed_on_ns, chains.total_ns)) +
         " by way of others that wait for it while they are waited for, most of it " + method(first) + " holding " +
         lock(first) + ".";
}

}  // namespace

LockVerdict lock_verdict(const Model& model) {
  if (model.locks.empty()) return {};
  const LockCode code(model);
  const AspectKeys keys(model, code, label_methods(model, false));
  const std::vector<LockAspect> by = {LockAspect::kBlockedMethod, LockAspect::kOwnerMethod, LockAspect::kObject};
  const LockProfile profile = lock_profile(model, code, Selection(), keys, by);
  if (profile.total() == 0 || share(profile.total(), model.duration.count) < kWorthALine) return {};
  return {.waiting = who_waited_for_whom(model, keys, profile),
          .root = several_locks_matter(profile, by.size()) ? root_cause(model, code, keys) : std::string()};
}

}  // namespace tarsier::analysis
