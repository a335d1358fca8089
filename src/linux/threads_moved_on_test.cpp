#include "linux/threads_moved_on.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tarsier::linux {
namespace {

TEST(ThreadsMovedOn, of_threads_that_run_and_threads_that_sleep) {
  std::atomic<bool> stop{false};
  std::thread runs([&] {
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  std::mutex lock;
  lock.lock();
  std::thread sleeps([&] { const std::lock_guard guard(lock); });
  EXPECT_TRUE(threads_moved_on(seconds(60)));
  stop.store(true);
  lock.unlock();
  runs.join();
  sleeps.join();
}

TEST(ThreadsMovedOn, not_of_one_that_gets_no_time) {
  std::atomic<bool> stop{false};
  std::thread runs([&] {
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  EXPECT_FALSE(threads_moved_on(Nanos(0))) << "at the first look nobody has run since";
  stop.store(true);
  runs.join();
}

}  // namespace
}  // namespace tarsier::linux
