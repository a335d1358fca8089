#include "analysis/lock_verdict.h"

#include <algorithm>

#include "analysis/contentions.h"
#include "analysis/lock_blame.h"
#include "analysis/wording.h"

namespace tarsier::analysis {
namespace {

// Of the time that the recording lasted: less is not worth a line.
constexpr double kWorthALine = 0.01;

double share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// ReentrantLock@3ae26333: without the package, and without the class inside that does the work.
std::string short_lock_name(std::string name) {
  for (const std::string_view inside : {"$NonfairSync@", "$FairSync@", "$Sync@"}) {
    if (const size_t at = name.rfind(inside); at != std::string::npos) name.erase(at, inside.size() - 1);
  }
  const size_t package = name.rfind('.', name.rfind('@'));
  return package == std::string::npos ? name : name.substr(package + 1);
}

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

}  // namespace

std::string lock_verdict(const Model& model) {
  if (model.locks.empty()) return {};
  const LockCode code(model);
  const AspectKeys keys(model, code, label_methods(model, false));
  const LockBlame blame = model.lock_blame ? *model.lock_blame : find_lock_blame(model, code, keys);
  if (blame.total_ns == 0 || share(blame.total_ns, model.duration.count) < kWorthALine) return {};
  std::string text = "Lock waiting " + words_of_time(Nanos(blame.total_ns)) + ": " +
                     words_of_share(share(blame.blocked_ns, blame.total_ns)) + " in " +
                     keys.label(LockAspect::kBlockedMethod, blame.blocked);
  const std::string held = short_lock_name(keys.label(LockAspect::kObject, blame.lock.value));
  const std::string by = keys.label(LockAspect::kOwnerMethod, blame.owner);
  const bool is_method = !by.starts_with('[');
  if (is_method) {
    text += ", " + words_of_blame(share(blame.owner_ns, blame.blocked_ns)) + by + " holding " + held;
  } else {
    text += ", for " + held + (owners_recorded(model) ? "" : "; record --lock tells who held it");
  }
  return text + ".";
}

}  // namespace tarsier::analysis
