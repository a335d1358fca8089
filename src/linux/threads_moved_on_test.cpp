#include "linux/threads_moved_on.h"

#include <gtest/gtest.h>

#include <atomic>
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

}  // namespace
}  // namespace tarsier::linux
