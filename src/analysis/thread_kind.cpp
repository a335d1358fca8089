#include "analysis/thread_kind.h"

#include <algorithm>
#include <array>

namespace tarsier::analysis {
namespace {

struct KindNames {
  ThreadKind kind;
  std::string_view name;
  std::string_view root;
};
// In the order of the enumeration.
constexpr std::array<KindNames, 7> kKinds = {{
    {ThreadKind::kApp, "app", "[application threads not sampled]"},
    {ThreadKind::kGc, "gc", "[GC]"},
    {ThreadKind::kJit, "jit", "[JIT]"},
    {ThreadKind::kVm, "vm", "[VM]"},
    {ThreadKind::kTarsier, "tarsier", "[tarsier]"},
    {ThreadKind::kOther, "other", "[other native threads]"},
    {ThreadKind::kJfr, "jfr", "[JFR]"},
}};

}  // namespace

std::string_view thread_kind_name(ThreadKind kind) {
  return kKinds[static_cast<size_t>(kind)].name;
}
std::string_view unsampled_root_name(ThreadKind kind) {
  return kKinds[static_cast<size_t>(kind)].root;
}

void add_unsampled_cpu(std::map<ThreadKind, Nanos>& sums, const Thread& thread) {
  if (thread.sampled || !thread.cpu || thread.kind == ThreadKind::kTarsier) return;
  // So low that all kinds and the samples can still be added up.
  constexpr int64_t kMaxSum = int64_t{1} << 59;
  Nanos& sum = sums[thread.kind];
  sum = Nanos(sum.count + std::min(thread.cpu->count, kMaxSum - sum.count));
}

ThreadKind thread_kind_of_name(std::string_view name) {
  for (const KindNames& row : kKinds) {
    if (row.name == name) return row.kind;
  }
  return ThreadKind::kOther;
}

}  // namespace tarsier::analysis
