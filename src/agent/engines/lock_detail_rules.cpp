#include "agent/engines/lock_detail_rules.h"

#include <iterator>

#include "agent/engines/lock_records.h"

namespace tarsier::agent {
namespace {

using classfile::Argument;
using classfile::Insertion;
using classfile::Place;
using Kind = Argument::Kind;

constexpr HoldMode kRead = HoldMode::kRead, kWrite = HoldMode::kWrite, kPermit = HoldMode::kPermit,
                   kLatch = HoldMode::kLatch;

Argument mode(HoldMode how) {
  return {.kind = Kind::kInt, .value = static_cast<int64_t>(how)};
}

const Argument kResult{.kind = Kind::kResult};
const Argument kSelf{.kind = Kind::kThis};
const Argument kOnce{.kind = Kind::kInt, .value = 1};
const Argument kTimes{.kind = Kind::kParameter, .value = 0};
// Of AbstractQueuedSynchronizer: somebody has had to wait for it, at any time.
const Argument kContended{.kind = Kind::kCall, .name = "hasContended", .descriptor = "Z"};
// The same of a StampedLock, whose queue is made when it is needed. Before 16 it looked otherwise.
const Argument kQueue{
    .kind = Kind::kField, .name = "head", .descriptor = "Ljava/util/concurrent/locks/StampedLock$Node;"};

Insertion call(Place place, std::string method, std::string callee, std::vector<Argument> arguments) {
  return {.method = std::move(method),
          .place = place,
          .callee_class = kHoldsClass,
          .callee = std::move(callee),
          .arguments = std::move(arguments)};
}

// What AbstractQueuedSynchronizer calls to get it, again and again, until it is told that it has.
Insertion acquired(std::string method, std::string callee, Argument times, HoldMode how) {
  return call(Place::kReturn, std::move(method), std::move(callee),
              {kResult, std::move(times), kContended, mode(how), kSelf});
}
// While it is still held.
Insertion releasing(std::string method, HoldMode how) {
  return call(Place::kEntry, std::move(method), "releasing", {kTimes, kContended, mode(how), kSelf});
}

std::vector<DetailedClass> read_write_locks() {
  return {{"rw",
           "java/util/concurrent/locks/ReentrantReadWriteLock$Sync",
           {acquired("tryAcquire", "acquired", kTimes, kWrite), acquired("tryWriteLock", "acquired", kOnce, kWrite),
            acquired("tryAcquireShared", "acquiredShared", kTimes, kRead),
            acquired("tryReadLock", "acquired", kOnce, kRead), releasing("tryRelease", kWrite),
            releasing("tryReleaseShared", kRead)}}};
}

std::vector<DetailedClass> semaphores() {
  return {{"semaphore",
           "java/util/concurrent/Semaphore$Sync",
           {acquired("nonfairTryAcquireShared", "acquiredShared", kTimes, kPermit),
            call(Place::kReturn, "drainPermits", "drained", {kResult, kContended, mode(kPermit), kSelf}),
            releasing("tryReleaseShared", kPermit)}},
          {"semaphore",
           "java/util/concurrent/Semaphore$FairSync",
           {acquired("tryAcquireShared", "acquiredShared", kTimes, kPermit)}}};
}

std::vector<DetailedClass> stamped_locks() {
  std::vector<Insertion> calls;
  for (const char* method :
       {"writeLock", "tryWriteLock", "writeLockInterruptibly", "readLock", "tryReadLock", "readLockInterruptibly"}) {
    calls.push_back(call(Place::kReturn, method, "stamped", {kResult, kQueue, kSelf}));
  }
  for (const char* method : {"unlockWrite", "unlockRead"}) {
    calls.push_back(call(Place::kEntry, method, "unstamping", {kTimes, kQueue, kSelf}));
  }
  for (const char* method : {"tryConvertToWriteLock", "tryConvertToReadLock", "tryConvertToOptimisticRead"}) {
    calls.push_back(call(Place::kReturn, method, "converted", {kResult, kTimes, kQueue, kSelf}));
  }
  calls.push_back(call(Place::kReturn, "tryUnlockWrite", "unlocked", {kResult, mode(kWrite), kQueue, kSelf}));
  calls.push_back(call(Place::kReturn, "tryUnlockRead", "unlocked", {kResult, mode(kRead), kQueue, kSelf}));
  calls.push_back(call(Place::kEntry, "unstampedUnlockWrite", "unlocked", {kOnce, mode(kWrite), kQueue, kSelf}));
  calls.push_back(call(Place::kEntry, "unstampedUnlockRead", "unlocked", {kOnce, mode(kRead), kQueue, kSelf}));
  return {{"stamped", "java/util/concurrent/locks/StampedLock", std::move(calls)}};
}

std::vector<DetailedClass> latches() {
  return {{"latch",
           "java/util/concurrent/CountDownLatch$Sync",
           {call(Place::kReturn, "tryReleaseShared", "opened", {kResult, kContended, mode(kLatch), kSelf})}}};
}

}  // namespace

std::vector<DetailedClass> detailed_classes(std::string_view words) {
  std::vector<DetailedClass> classes;
  const std::string all = "," + std::string(words) + ",";
  for (const auto make : {read_write_locks, semaphores, stamped_locks, latches}) {
    std::vector<DetailedClass> made = make();
    if (all.find("," + std::string(made.front().word) + ",") == std::string::npos) continue;
    classes.insert(classes.end(), std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
  }
  return classes;
}

}  // namespace tarsier::agent
