#include "analysis/lock_verdict.h"

#include "analysis/blocking_chains.h"
#include "analysis/contentions.h"
#include "analysis/lock_blame.h"
#include "analysis/lock_names.h"
#include "analysis/wording.h"
#include "base/share.h"

namespace tarsier::analysis {
namespace {

// Of the time that the recording lasted: less is not worth a line.
constexpr double kWorthALine = 0.01;
// Of the time lost to locks, passed on by owners that were blocked themselves.
constexpr double kWorthARoot = 0.1;

// How much of the waiting is due to the one that is named.
std::string words_of_blame(double part) {
  if (part >= 0.95) return "caused almost wholly by ";
  if (part >= 0.5) return "caused mostly (" + words_of_share(part) + ") by ";
  return "caused by several, most (" + words_of_share(part) + ") by ";
}

LockBlame find_lock_blame(const Model& model, const LockCode& code, const AspectKeys& keys) {
  LockBlameFinder finder;
  for_each_contention(model, code, Selection(), [&](const Contention& contention, std::span<const Piece> pieces) {
    finder.add(keys, contention, pieces);
  });
  return finder.find(keys);
}

std::string who_waited_for_whom(const Model& model, const AspectKeys& keys, const LockBlame& blame) {
  const std::string held = short_lock_name(keys.label(LockAspect::kObject, blame.lock.value));
  const bool one_lock = share(blame.lock_ns, blame.owner_ns) >= 0.5;
  const std::string by = keys.label(LockAspect::kOwnerMethod, blame.owner);
  std::string text = "Lock waiting " + words_of_time(Nanos(blame.total_ns)) + ": " +
                     words_of_share(share(blame.blocked_ns, blame.total_ns)) + " in " +
                     keys.label(LockAspect::kBlockedMethod, blame.blocked);
  if (!by.starts_with('[')) {
    text += ", " + words_of_blame(share(blame.owner_ns, blame.blocked_ns)) + by +
            (one_lock ? " holding " : " holding several locks, one of them ") + held;
  } else {
    text += (one_lock ? ", for " : ", for several locks, one of them ") + held +
            (owners_recorded(model) ? "" : "; record --lock tells who held it");
  }
  return text + ".";
}

std::string root_cause(const BlockedTimes& times, const AspectKeys& keys) {
  // A chain takes two locks.
  const std::vector<LockIndex> worst = times.worst_locks(2);
  if (worst.size() < 2 || share(times.sum(worst[1]).blocked_ns, times.total_ns()) < kWorthALine) return {};
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
  const LockBlame blame = model.lock_blame ? *model.lock_blame : find_lock_blame(model, code, keys);
  if (blame.total_ns == 0 || share(blame.total_ns, model.duration.count) < kWorthALine) return {};
  return {
      .waiting = who_waited_for_whom(model, keys, blame),
      .root = blame.times ? root_cause(*blame.times, keys) : root_cause(blocked_times(model, code, Selection()), keys)};
}

}  // namespace tarsier::analysis
