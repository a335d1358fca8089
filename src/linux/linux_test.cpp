#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <thread>
#include <vector>

#include "linux/kernel_symbols.h"
#include "linux/procfs.h"
#include "linux/self_memory.h"
#include "linux/signals.h"

namespace tarsier::linux {
namespace {

TEST(Procfs, tells_where_a_thread_sleeps_and_that_it_runs) {
  if (!sleeping_sp(::gettid())) GTEST_SKIP() << "this kernel does not tell";
  std::atomic<bool> wake{false}, stop{false};
  std::atomic<pid_t> tid{0};
  std::atomic<uint64_t> inside{0};
  std::thread sleeper([&] {
    inside = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
    tid = ::gettid();
    wake.wait(false);
    while (!stop) {
    }
  });
  uint64_t sp = 0;
  for (int i = 0; i < 10'000 && sp == 0; ++i) {
    ::usleep(1000);
    if (tid != 0) sp = sleeping_sp(tid).value_or(0);
  }
  EXPECT_GT(sp, inside - (1 << 16));
  EXPECT_LE(sp, inside);
  wake = true;
  wake.notify_all();
  for (int i = 0; i < 10'000 && sleeping_sp(tid) != 0; ++i) ::usleep(1000);
  EXPECT_EQ(sleeping_sp(tid), 0);
  stop = true;
  sleeper.join();
  // Who waits for its end hears of it a moment before the kernel is done with it.
  for (int i = 0; i < 10'000 && sleeping_sp(tid); ++i) ::usleep(1000);
  EXPECT_EQ(sleeping_sp(tid), std::nullopt);
}

TEST(SelfMemory, copies_what_is_there_and_refuses_what_is_not) {
  const SelfMemory memory;
  const long page = ::sysconf(_SC_PAGESIZE);
  auto* pages =
      static_cast<char*>(::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::mprotect(pages + page, page, PROT_NONE), 0);
  std::strcpy(pages + page - 4, "abc");
  char out[8];
  EXPECT_TRUE(memory.copy(out, reinterpret_cast<Address>(pages + page - 4), 4));
  EXPECT_STREQ(out, "abc");
  EXPECT_FALSE(memory.copy(out, reinterpret_cast<Address>(pages + page - 4), 8));
  EXPECT_FALSE(memory.read<int>(0));
  EXPECT_EQ(memory.read_string(reinterpret_cast<Address>(pages + page - 4), 10), "abc");
  EXPECT_EQ(memory.read_string(reinterpret_cast<Address>(pages + page - 4), 2), std::nullopt);
  pages[page - 1] = 'x';  // no end before the forbidden page
  EXPECT_EQ(memory.read_string(reinterpret_cast<Address>(pages + page - 4), 10), std::nullopt);
  ::munmap(pages, 2 * page);
}

TEST(SelfMemory, copies_many_and_large_pieces) {
  const auto check = [] {
    const SelfMemory memory;
    std::vector<uint32_t> large(100'000);
    std::iota(large.begin(), large.end(), 1);
    std::vector<uint32_t> small(300), large_copy(large.size()), small_copy(small.size());
    std::iota(small.begin(), small.end(), 7);
    std::vector<MemoryPiece> pieces;
    const auto want = [&](std::vector<uint32_t>& out, const std::vector<uint32_t>& from, size_t at, size_t count) {
      pieces.push_back({out.data() + at, reinterpret_cast<Address>(from.data() + at), count * sizeof(uint32_t)});
    };
    for (size_t i = 0; i < 150; ++i) want(small_copy, small, i, 1);
    want(large_copy, large, 0, large.size());
    want(small_copy, small, 0, 0);
    for (size_t i = 150; i < small.size(); ++i) want(small_copy, small, i, 1);
    EXPECT_TRUE(memory.copy_all(pieces));
    EXPECT_EQ(large_copy, large);
    EXPECT_EQ(small_copy, small);
    pieces.push_back({small_copy.data(), 8, 4});
    EXPECT_FALSE(memory.copy_all(pieces));
    EXPECT_TRUE(memory.copy_all(std::span(pieces).first(3)));  // what failed has left nothing behind
    EXPECT_EQ(small_copy, small);
  };
  check();
  // Where files may not be large there is another way.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tiny{1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tiny), 0);
  check();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST(Procfs, a_thread_that_works_uses_cpu_time_and_one_that_is_gone_has_none) {
  std::atomic<pid_t> tid{0};
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    tid = ::gettid();
    while (!stop) {
    }
  });
  while (tid == 0) std::this_thread::yield();
  const auto ids = thread_ids();
  EXPECT_NE(std::find(ids.begin(), ids.end(), tid.load()), ids.end());
  const auto before = thread_cpu_time(tid);
  ASSERT_TRUE(before);
  while (*thread_cpu_time(tid) - *before < millis(1)) std::this_thread::yield();
  stop = true;
  worker.join();
  // join() returns when the kernel clears the thread's id word, a moment before it takes the thread off its lists.
  while (thread_cpu_time(tid)) std::this_thread::yield();
  EXPECT_GT(process_age(), Nanos(0));
  EXPECT_GT(kernel_tick(), Nanos(0));
}

TEST(KernelSymbols, an_address_belongs_to_the_symbol_below_it_in_any_order_of_the_file) {
  char path[] = "kallsymsXXXXXX";
  const int fd = ::mkstemp(path);
  ASSERT_GE(fd, 0);
  ::close(fd);
  std::ofstream(path) << "0000000000003000 t third\n0000000000001000 T first\n0000000000002000 T second\t[mod]\n"
                         "0000000000002800 d data\n";
  KernelSymbols symbols(path);
  EXPECT_TRUE(symbols.available());
  EXPECT_EQ(symbols.find(0x1004), "first");
  ::unlink(path);
  EXPECT_FALSE(symbols.available());
  EXPECT_EQ(symbols.find(0x2900), "second");
  EXPECT_EQ(symbols.find(0x2000), "second");
  EXPECT_EQ(symbols.find(0x1000), "first");
  EXPECT_EQ(symbols.find(0x1fff), "first");
  EXPECT_EQ(symbols.find(0x10), "[kernel]");
  EXPECT_EQ(symbols.find(0x9000), "third");
}

std::atomic<int> g_signals{0};
void count_signal(int, siginfo_t*, void*) {
  g_signals.fetch_add(1);
}

TEST(OwnedSignal, takes_a_free_one_and_leaves_it_ignored) {
  int number = 0;
  {
    struct sigaction taken {};
    taken.sa_handler = [](int) {};
    ASSERT_EQ(::sigaction(SIGSTKFLT, &taken, nullptr), 0);
    auto signal = OwnedSignal::take(count_signal);
    ASSERT_TRUE(signal) << signal.error().what;
    number = signal->number();
    EXPECT_NE(number, SIGSTKFLT);  // has a handler of somebody else
    EXPECT_TRUE(signal->still_ours());
    ::raise(number);
    EXPECT_EQ(g_signals.load(), 1);
  }
  ::raise(number);  // would end the process if the default action were back
  EXPECT_EQ(g_signals.load(), 1);
}

TEST(KernelPlaces, are_found_with_their_ends) {
  const std::string path = ::testing::TempDir() + "/places_" + std::to_string(::getpid());
  std::ofstream(path) << "ffff800080010000 T _stext\n"
                         "ffff800080010100 T one\n"
                         "ffff800080010100 t alias_of_one\n"
                         "ffff800080010180 T other\n"
                         "0000000000021034 D __preempt_count\n"
                         "ffff800080010200 t one\t[module]\n"
                         "0000000000000000 T hidden\n";
  const KernelPlaces places = KernelPlaces::read({"one", "__preempt_count", "hidden", "missing"}, path);
  EXPECT_EQ(places.of("one"), 0xffff800080010100u);
  EXPECT_EQ(places.end_of("one"), 0xffff800080010180u);
  EXPECT_EQ(places.of("__preempt_count"), 0x21034u);
  EXPECT_EQ(places.of("hidden"), 0u);
  EXPECT_EQ(places.of("missing"), 0u);
  EXPECT_EQ(KernelPlaces::read({"one"}, "/nonexistent").of("one"), 0u);
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace tarsier::linux
