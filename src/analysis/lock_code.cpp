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

LockCode::LockCode(const Model& model) : model_(model) {
  traits_.reserve(model.methods.size());
  for (const Method& method : model.methods) traits_.push_back(traits_of(method.name));
  of_class_.reserve(model.locks.locks.size());
  for (const LockObject& lock : model.locks.locks) {
    const std::string& name = model.methods[lock.klass.value].name;
    const auto* rule = std::find_if(std::begin(kClasses), std::end(kClasses),
                                    [&](const ClassRule& r) { return name.starts_with(r.begin); });
    of_class_.push_back(rule == std::end(kClasses) ? LockGroup::kCount : rule->group);
  }
}

uint8_t LockCode::trait_of(StackIndex stack) const {
  return traits_[model_.stacks[stack.value].method.value];
}

// Of all frames from the innermost on that are insides. A node comes after its parent, so this ends.
uint8_t LockCode::traits_of_insides(StackIndex stack) const {
  uint8_t traits = 0;
  for (; stack.value != 0 && (trait_of(stack) & kInside) != 0; stack = model_.stacks[stack.value].parent) {
    traits |= trait_of(stack);
  }
  return traits;
}

LockGroup LockCode::group_of(LockIndex blocker, StackIndex stack) const {
  if (blocker == kNoLock) return LockGroup::kOther;
  const LockGroup known = of_class_[blocker.value];
  if (known != LockGroup::kCount) return known;
  return (traits_of_insides(stack) & kSynchronizer) != 0 ? LockGroup::kJuc : LockGroup::kOther;
}

bool LockCode::after_wait(StackIndex stack) const {
  return (traits_of_insides(stack) & kAwait) != 0;
}

bool LockCode::is_signal(StackIndex stack) const {
  return (traits_of_insides(stack) & kSignal) != 0;
}

StackIndex LockCode::user_frame(StackIndex stack) const {
  StackIndex frame = stack;
  while (frame.value != 0 && (trait_of(frame) & kInside) != 0) frame = model_.stacks[frame.value].parent;
  return frame.value == 0 ? stack : frame;
}

}  // namespace tarsier::analysis
