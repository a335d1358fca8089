#include "analysis/live_locks.h"

#include <algorithm>
#include <utility>

#include "analysis/lock_verdict.h"
#include "base/clock.h"

namespace tarsier::analysis {
namespace {

// A live view can't wait long for the last straggler: the agent collects once a second.
constexpr LockLimits kLimits = {.lateness = Nanos(1'500'000'000),
                                .wake_up = Nanos(500'000'000),
                                .whole = 1'000'000,
                                .pending = 2'000'000,
                                .changes = 1'000'000};
// Locks and call chains that were seen are remembered. After so many of them it begins anew.
constexpr size_t kMostRemembered = 2'000'000;
// When the recording says nothing new, that long ago is over.
constexpr int64_t kSilence = 2'000'000'000;

}  // namespace

LiveLocks::LiveLocks(const std::string& path)
    : tail_(path), budget_(kShareOfCpu, recording::Tail::kMostBytes), looked_at_(monotonic_now()) {
  begin();
  tail_.read_at_most(budget_.bytes());
}

void LiveLocks::begin() {
  const LockQuestion question{.by = {LockAspect::kObject, LockAspect::kBlockedMethod, LockAspect::kOwnerMethod}};
  loader_.reset();
  pass_ = std::make_unique<LockPass>(question, kLimits);
  loader_ = std::make_unique<Loader>(*pass_, /*only_locks=*/true);
}

Status LiveLocks::look(int64_t now_ns) {
  const Nanos begin = clock_now(CLOCK_THREAD_CPUTIME_ID);
  if (Status read = tail_.look(*loader_); !read) return read;
  pass_->advance(loader_->so_far(), now_ns - kSilence);
  const Nanos now = monotonic_now();
  budget_.looked(tail_.bytes_read(), clock_now(CLOCK_THREAD_CPUTIME_ID) - begin, now - looked_at_);
  tail_.read_at_most(budget_.bytes());
  looked_at_ = now;
  before_ = std::exchange(last_, std::exchange(now_, {tail_.visited(), tail_.skipped()}));
  return {};
}

LiveTop LiveLocks::take_top(size_t rows) {
  const Model& model = loader_->so_far();
  const LockProfile profile = pass_->take_profile(model);
  LiveTop top = top_of(profile, pass_->keys(), rows);
  if (model.locks.locks.size() + model.stacks.size() > kMostRemembered) begin();
  return top;
}

LiveTop LiveLocks::top_of(const LockProfile& profile, const AspectKeys& keys, size_t rows) const {
  LiveTop top;
  top.blocked_ns = profile.total();
  top.count = profile.nodes[0].contentions.count();
  const auto share = [](uint64_t read, uint64_t skipped) {
    return read + skipped == 0 ? 1 : static_cast<double>(read) / static_cast<double>(read + skipped);
  };
  top.read_share = share(now_.read - before_.read, now_.skipped - before_.skipped);
  top.read_in_all = share(now_.read, now_.skipped);
  std::vector<const LockNode*> leaves;
  for (const LockNode& node : profile.nodes) {
    if (node.level == profile.by.size()) leaves.push_back(&node);
  }
  const size_t shown = std::min(rows, leaves.size());
  std::partial_sort(leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(shown), leaves.end(),
                    [](const LockNode* a, const LockNode* b) { return a->blocked_ns > b->blocked_ns; });
  for (size_t i = 0; i < shown; ++i) {
    const LockNode& owner = *leaves[i];
    const LockNode& blocked = profile.nodes[owner.parent];
    const LockNode& lock = profile.nodes[blocked.parent];
    top.rows.push_back({.lock = keys.label(LockAspect::kObject, lock.key),
                        .blocked = keys.label(LockAspect::kBlockedMethod, blocked.key),
                        .owner = keys.label(LockAspect::kOwnerMethod, owner.key),
                        .blocked_ns = owner.blocked_ns,
                        .count = owner.contentions.count()});
  }
  return top;
}

std::string LiveLocks::finish(LiveTop& rest, size_t rows) {
  const Model model = loader_->finish({});
  const LockCode code(model);
  rest = top_of(*pass_->profile(), AspectKeys(model, code, label_methods(model, false)), rows);
  const LockVerdict verdict = lock_verdict(model);
  return verdict.root.empty() ? verdict.waiting : verdict.waiting + " " + verdict.root;
}

}  // namespace tarsier::analysis
