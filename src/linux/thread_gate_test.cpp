#include "linux/thread_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace tarsier::linux {
namespace {

// Does waiting end while a thread is inside of these places?
bool is_waited_for(const ThreadGate& gate, ThreadGate::Place& place) {
  std::atomic<bool> done{false};
  std::thread waits([&] {
    gate.wait_until_left();
    done.store(true);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const bool waited = !done.load();
  place.leave();
  waits.join();
  return waited;
}

TEST(ThreadGate, WaitsForThoseInside) {
  auto gate = std::make_unique<ThreadGate>();
  gate->open();
  gate->wait_until_left();
  int mine = 0;
  ThreadGate::Place& place = gate->place_of(&mine);
  place.enter();
  EXPECT_TRUE(is_waited_for(*gate, place));
}

TEST(ThreadGate, TheSameMemoryHasTheSamePlace) {
  auto gate = std::make_unique<ThreadGate>();
  gate->open();
  int one = 0, other = 0;
  EXPECT_EQ(&gate->place_of(&one), &gate->place_of(&one));
  EXPECT_NE(&gate->place_of(&one), &gate->place_of(&other));
}

TEST(ThreadGate, ThreadsWithoutAPlaceOfTheirOwnShareOne) {
  auto gate = std::make_unique<ThreadGate>();
  gate->open();
  // More than there are places: two of them share one, and each counts.
  std::vector<int> memory(5000);
  std::vector<ThreadGate::Place*> places;
  for (int& mine : memory) places.push_back(&gate->place_of(&mine));
  for (ThreadGate::Place* place : places) place->enter();
  for (size_t i = 0; i + 1 < places.size(); ++i) places[i]->leave();
  EXPECT_TRUE(is_waited_for(*gate, *places.back()));
}

// What it is for: nobody works with what was taken away.
TEST(ThreadGate, NobodySeesWhatWasTakenAway) {
  auto gate = std::make_unique<ThreadGate>();
  gate->open();
  constexpr int kAlive = 1, kGone = 2;
  std::atomic<std::atomic<int>*> shared{nullptr};
  std::atomic<bool> stop{false};
  std::atomic<int> saw_gone{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      int mine = 0;
      ThreadGate::Place& place = gate->place_of(&mine);
      while (!stop.load(std::memory_order_relaxed)) {
        place.enter();
        if (std::atomic<int>* there = shared.load(std::memory_order_seq_cst)) {
          for (int look = 0; look < 20; ++look) {
            if (there->load(std::memory_order_relaxed) == kGone) saw_gone.fetch_add(1);
          }
        }
        place.leave();
      }
    });
  }
  std::vector<std::atomic<int>> things(300);
  for (std::atomic<int>& thing : things) {
    thing.store(kAlive);
    shared.store(&thing, std::memory_order_seq_cst);
    shared.store(nullptr, std::memory_order_seq_cst);
    gate->wait_until_left();
    thing.store(kGone, std::memory_order_relaxed);
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(saw_gone.load(), 0);
}

}  // namespace
}  // namespace tarsier::linux
