#include "analysis/lock_code.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace tarsier::analysis {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(LockGroup::kCount)> kGroupNames = {"monitor", "juc",
                                                                                              "condition", "other"};

// By the class of the object that a thread parks on, or the beginning of its name. The first that fits counts.
struct ClassRule {
  std::string_view begin;
  LockGroup group;
};
constexpr ClassRule kClasses[] = {
    {"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", LockGroup::kCondition},
    {"java.util.concurrent.locks.AbstractQueuedLongSynchronizer$ConditionObject", LockGroup::kCondition},
    {"java.util.concurrent.locks.ReentrantLock", LockGroup::kJuc},
    {"java.util.concurrent.locks.ReentrantReadWriteLock", LockGroup::kJuc},
    {"java.util.concurrent.locks.StampedLock", LockGroup::kJuc},
    {"java.util.concurrent.Semaphore", LockGroup::kJuc},
    {"java.util.concurrent.ThreadPoolExecutor$Worker", LockGroup::kJuc},
    // Latches, barriers, phasers, futures, joins, exchangers, queues, idle workers: nobody holds these.
    {"java.util.concurrent.", LockGroup::kOther},
};

// Of methods.
constexpr uint8_t kInside = 1, kSynchronizer = 2, kAwait = 4, kSignal = 8;
struct MethodRule {
  std::string_view begin;
  uint8_t traits;
};
constexpr MethodRule kMethods[] = {
    {"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await", kInside | kAwait},
    {"java.util.concurrent.locks.AbstractQueuedLongSynchronizer$ConditionObject.await", kInside | kAwait},
    {"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.signal", kInside | kSignal},
    {"java.util.concurrent.locks.AbstractQueuedLongSynchronizer$ConditionObject.signal", kInside | kSignal},
    {"java.util.concurrent.locks.AbstractQueuedSynchronizer.", kInside | kSynchronizer},
    {"java.util.concurrent.locks.AbstractQueuedLongSynchronizer.", kInside | kSynchronizer},
    {"java.util.concurrent.locks.", kInside},
    {"java.util.concurrent.Semaphore.", kInside},
    {"java.util.concurrent.Semaphore$", kInside},
    {"java.util.concurrent.CountDownLatch.", kInside},
    {"java.util.concurrent.CountDownLatch$", kInside},
    {"jdk.internal.misc.Unsafe.", kInside},
    {"sun.misc.Unsafe.", kInside},
    {"java.lang.Object.wait", kInside},
};

uint8_t traits_of(std::string_view method) {
  const auto* rule = std::find_if(std::begin(kMethods), std::end(kMethods),
                                  [&](const MethodRule& r) { return method.starts_with(r.begin); });
  return rule == std::end(kMethods) ? 0 : rule->traits;
}

}  // namespace

bool is_inside_of_locking(std::string_view method) {
  return (traits_of(method) & kInside) != 0;
}

std::string_view lock_group_name(LockGroup group) {
  return kGroupNames[static_cast<size_t>(group)];
}

void LockCode::grow() {
  for (size_t i = traits_.size(); i < model_.methods.size(); ++i) {
    traits_.push_back(traits_of(model_.methods[i].name));
  }
  // A node comes after its parent.
  for (size_t i = insides_.size(); i < model_.stacks.size(); ++i) {
    const StackNode& node = model_.stacks[i];
    const uint8_t traits = i == 0 ? 0 : traits_[node.method.value];
    if ((traits & kInside) == 0) {
      insides_.push_back({StackIndex(static_cast<uint32_t>(i)), 0});
    } else {
      Insides outer = insides_[node.parent.value];
      outer.traits |= traits;
      insides_.push_back(outer);
    }
  }
  for (size_t i = of_class_.size(); i < model_.locks.locks.size(); ++i) {
    const std::string& name = model_.methods[model_.locks.locks[i].klass.value].name;
    const auto* rule = std::find_if(std::begin(kClasses), std::end(kClasses),
                                    [&](const ClassRule& r) { return name.starts_with(r.begin); });
    of_class_.push_back(rule == std::end(kClasses) ? LockGroup::kCount : rule->group);
  }
}

LockGroup LockCode::group_of(LockIndex blocker, StackIndex stack) const {
  if (blocker == kNoLock) return LockGroup::kOther;
  const LockGroup known = of_class_[blocker.value];
  if (known != LockGroup::kCount) return known;
  return (insides_[stack.value].traits & kSynchronizer) != 0 ? LockGroup::kJuc : LockGroup::kOther;
}

bool LockCode::after_wait(StackIndex stack) const {
  return (insides_[stack.value].traits & kAwait) != 0;
}

bool LockCode::is_signal(StackIndex stack) const {
  return (insides_[stack.value].traits & kSignal) != 0;
}

StackIndex LockCode::user_frame(StackIndex stack) const {
  const StackIndex frame = insides_[stack.value].user_frame;
  return frame.value == 0 ? stack : frame;
}

}  // namespace tarsier::analysis
