// The programs that find waits lent to another process: it gets its own waits, and learns nothing of anybody else.
#include "linux/wait_loan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/burner_for_test.h"
#include "agent/engines/kernel_capture.h"
#include "base/clock.h"
#include "base/mapping.h"
#include "linux/bpf_map.h"
#include "linux/bpf_ring.h"

namespace tarsier::agent {
namespace {

using linux::bpf::WaitingThread;
using linux::bpf::Waker;

constexpr linux::WaitMemory kMemory{1 << 20, 1 << 20};

// Stands in for a JavaThread: a child has it at the same address, and in memory, as it was written to before.
alignas(8) volatile uint64_t java_thread[9];

class WaitLoanTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    java_thread[4] = 4;  // its state: in native code
  }
  static linux::WaitLoanRequest request_for(const Burner& burner) {
    linux::WaitLoanRequest request;
    request.process = burner.pid();
    request.user = kNobody;
    request.java = KernelCapture::layout_of({8, 16, 24, 32, 40, 48, nullptr, nullptr}, nullptr);
    request.min = micros(1);
    request.memory = kMemory;
    return request;
  }
  void lend(const Burner& burner) {
    auto loan = linux::WaitLoan::make(request_for(burner));
    if (!loan) GTEST_SKIP() << loan.error().what;
    loan_.emplace(std::move(*loan));
    std::vector<unique_fd> descriptors;
    for (const int fd : loan_->descriptors()) descriptors.emplace_back(::dup(fd));
    auto parts = linux::borrow_wait_parts(std::move(descriptors));
    ASSERT_TRUE(parts);
    parts_ = std::move(*parts);
    told_ = Mapping::of(parts_.bottoms.get(), sizeof(linux::bpf::Told));
    ASSERT_TRUE(told_);
    set_awake(true);
    auto ring = linux::BpfRing::map(parts_.ring.get(), kMemory.ring);
    ASSERT_TRUE(ring);
    ring_.emplace(std::move(*ring));
  }
  void set_awake(bool awake) {
    std::atomic_ref(reinterpret_cast<linux::bpf::Told*>(told_.data())->awake).store(awake ? 1 : 0);
  }
  // What a borrower does for each of his threads; and what one might do for those of others.
  void ask_for(pid_t tid) {
    WaitingThread thread{};
    thread.java_thread = reinterpret_cast<uintptr_t>(java_thread);
    thread.serial = 42;
    const auto slot = static_cast<uint32_t>(slots_.size());
    slots_[tid] = slot;
    ASSERT_EQ(linux::set_in_bpf_map(parts_.threads.get(), &slot, &thread), 0);
    ASSERT_EQ(linux::set_in_bpf_map(parts_.slots.get(), &tid, &slot), 0);
    const std::vector<uint8_t> nothing(linux::bpf::kSmallCopy);
    ASSERT_EQ(linux::set_in_bpf_map(parts_.copies[0].get(), &slot, nothing.data()), 0);
  }
  [[nodiscard]] WaitingThread seen(pid_t tid) const {
    WaitingThread thread{};
    EXPECT_EQ(linux::find_in_bpf_map(parts_.threads.get(), &slots_.at(tid), &thread), 0);
    return thread;
  }
  [[nodiscard]] uint64_t waits(pid_t tid) const {
    const WaitingThread thread = seen(tid);
    return thread.written.count + thread.shorter.count + thread.longer.count + thread.missed.count;
  }
  bool waits_are_found(pid_t tid) {
    const uint64_t before = waits(tid);
    for (const Nanos end = monotonic_now() + seconds(60); monotonic_now() < end; ::usleep(1000)) {
      EXPECT_TRUE(loan_->look());
      forget_records();
      if (waits(tid) > before + 10) return true;
    }
    return false;
  }
  // Does it go to sleep and get up without anything being told of it? `tid`: as its own namespace counts it.
  bool stays_unseen(const Burner& burner, pid_t tid) {
    const WaitingThread before = seen(tid);
    for (const uint64_t until = switches(burner) + 30; switches(burner) < until; ::usleep(1000)) {
      if (loan_) (void)loan_->look();
    }
    const WaitingThread after = seen(tid);
    return std::memcmp(&before, &after, sizeof(after)) == 0;
  }
  static uint64_t switches(const Burner& burner) {
    std::ifstream status("/proc/" + std::to_string(burner.pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.compare(0, 24, "voluntary_ctxt_switches:") == 0) return std::stoull(line.substr(24));
    }
    ADD_FAILURE() << "it is gone";
    return UINT64_MAX;
  }
  void forget_records() {
    ring_->consume([](const uint8_t*, size_t) {}, SIZE_MAX);
  }
  // The record of who wakes the burner, which sleeps: a process, us.
  std::optional<Waker> waker_of(Burner& burner) {
    for (const Nanos end = monotonic_now() + seconds(60); monotonic_now() < end; ::usleep(500)) {
      std::optional<Waker> found;
      burner.wake();
      ring_->consume(
          [&](const uint8_t* record, size_t size) {
            Waker waker{};
            if (size < sizeof(waker)) return;
            std::memcpy(&waker, record, sizeof(waker));
            if (waker.mark == kWakerMark && waker.by == linux::bpf::kByProcess) found = waker;
          },
          SIZE_MAX);
      if (found) return found;
    }
    return std::nullopt;
  }

  std::optional<linux::WaitLoan> loan_;
  linux::WaitParts parts_;  // as the borrower has them
  std::map<pid_t, uint32_t> slots_;
  Mapping told_;
  std::optional<linux::BpfRing> ring_;
};

TEST_F(WaitLoanTest, the_borrowers_waits_are_found_while_it_is_awake) {
  const Burner burner({.naps = true});
  lend(burner);
  if (IsSkipped()) return;
  ask_for(burner.pid());
  EXPECT_TRUE(waits_are_found(burner.pid()));
  EXPECT_TRUE(loan_->is_trusted());
  EXPECT_GT(seen(burner.pid()).written.count, 0u) << "with copies of its stack";
  set_awake(false);
  ::usleep(20'000);  // programs that were at work
  EXPECT_TRUE(stays_unseen(burner, burner.pid()));
  set_awake(true);
  EXPECT_TRUE(waits_are_found(burner.pid()));
}

TEST_F(WaitLoanTest, is_refused_to_a_process_that_had_more_rights_than_its_user) {
  const Burner burner({.dumpable = false});
  const auto loan = linux::WaitLoan::make(request_for(burner));
  ASSERT_FALSE(loan);
  EXPECT_EQ(loan.error().code, Errc::kNotPermitted) << loan.error().what;
}

TEST_F(WaitLoanTest, is_refused_for_the_process_of_another_user) {
  const Burner burner;
  linux::WaitLoanRequest request = request_for(burner);
  request.user = kNobody - 1;
  const auto loan = linux::WaitLoan::make(request);
  ASSERT_FALSE(loan);
  EXPECT_EQ(loan.error().code, Errc::kNotPermitted) << loan.error().what;
}

TEST_F(WaitLoanTest, nothing_is_told_if_the_process_has_got_more_rights_before_it_was_seen) {
  Burner burner({.naps = true});
  lend(burner);
  if (IsSkipped()) return;
  burner.hide();
  ask_for(burner.pid());
  EXPECT_TRUE(stays_unseen(burner, burner.pid()));
  EXPECT_FALSE(loan_->look());
  EXPECT_FALSE(loan_->is_trusted());
}

TEST_F(WaitLoanTest, nothing_is_told_of_what_the_process_becomes_by_executing_another_program) {
  Burner burner({.naps = true});
  lend(burner);
  if (IsSkipped()) return;
  ask_for(burner.pid());
  ASSERT_TRUE(waits_are_found(burner.pid()));
  burner.execute_another_program();
  EXPECT_TRUE(stays_unseen(burner, burner.pid()));
}

TEST_F(WaitLoanTest, nothing_is_told_of_another_process_though_the_borrower_asks_for_its_threads) {
  const Burner burner({.naps = true}), other({.naps = true});
  lend(burner);
  if (IsSkipped()) return;
  ask_for(burner.pid());
  ask_for(other.pid());
  ASSERT_TRUE(waits_are_found(burner.pid()));
  EXPECT_TRUE(stays_unseen(other, other.pid()));
}

TEST_F(WaitLoanTest, nothing_that_the_borrower_can_read_is_an_address_of_the_kernel) {
  const Burner burner({.naps = true});
  lend(burner);
  if (IsSkipped()) return;
  ask_for(burner.pid());
  ASSERT_TRUE(waits_are_found(burner.pid()));
  const WaitingThread thread = seen(burner.pid());
  std::array<uint64_t, sizeof(thread) / 8> words{};
  std::memcpy(words.data(), &thread, sizeof(thread));
  for (const uint64_t word : words) EXPECT_EQ(word >> 63, 0u) << std::hex << word;
}

TEST_F(WaitLoanTest, ends_with_its_lender_whoever_still_holds_descriptors) {
  const Burner burner({.naps = true});
  lend(burner);
  if (IsSkipped()) return;
  ask_for(burner.pid());
  ASSERT_TRUE(waits_are_found(burner.pid()));
  loan_.reset();
  EXPECT_TRUE(stays_unseen(burner, burner.pid()));
}

TEST_F(WaitLoanTest, a_process_that_wakes_the_borrower_is_named) {
  Burner burner({.naps = true});
  lend(burner);
  if (IsSkipped()) return;
  ask_for(burner.pid());
  ASSERT_TRUE(waits_are_found(burner.pid()));
  const auto waker = waker_of(burner);
  ASSERT_TRUE(waker);
  EXPECT_EQ(waker->id, static_cast<uint32_t>(::getpid()));
  EXPECT_NE(waker->name[0], 0);
}

TEST_F(WaitLoanTest, but_not_to_one_that_could_not_see_it) {
  Burner burner({.naps = true, .own_namespace = true});
  lend(burner);
  if (IsSkipped()) return;
  ask_for(1);
  ASSERT_TRUE(waits_are_found(1));
  const auto waker = waker_of(burner);
  ASSERT_TRUE(waker);
  EXPECT_EQ(waker->id, 0u);
  EXPECT_EQ(waker->name[0], 0);
}

TEST_F(WaitLoanTest, takes_no_more_of_the_kernels_memory_than_was_granted) {
  const Burner burner;
  lend(burner);
  if (IsSkipped()) return;
  for (size_t which = 0; which < parts_.copies.size(); ++which) {
    const size_t bytes = linux::WaitParts::kCopyBytes[which];
    const std::vector<uint8_t> nothing(bytes);
    uint32_t given = 0;
    int err = 0;
    for (uint32_t tid = 1; given <= kMemory.copies / bytes && (err == 0 || err == ENOMEM); ++tid) {
      err = linux::set_in_bpf_map(parts_.copies[which].get(), &tid, nothing.data());
      if (err == 0) ++given;
    }
    EXPECT_EQ(err, E2BIG);
    EXPECT_LE(given * bytes, kMemory.copies);
  }
  linux::WaitLoanRequest request = request_for(burner);
  request.memory.ring = 12'345;
  EXPECT_FALSE(linux::WaitLoan::make(request));
  request.memory = {kMemory.ring, size_t{1} << 40};
  EXPECT_FALSE(linux::WaitLoan::make(request));
}

TEST(ProcessesInSight, are_those_of_a_proc_that_hides_nobody) {
  const std::string root = "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
  const std::string proc = "22 21 0:5 / /proc rw,nosuid - proc proc rw";
  EXPECT_TRUE(linux::shows_other_processes(root + proc + "\n"));
  EXPECT_TRUE(linux::shows_other_processes(root + proc + ",hidepid=0\n"));
  EXPECT_TRUE(linux::shows_other_processes(root + proc + ",hidepid=off\n"));
  for (const char* hidden : {"1", "2", "4", "noaccess", "invisible", "ptraceable"}) {
    EXPECT_FALSE(linux::shows_other_processes(root + proc + ",hidepid=" + hidden + "\n")) << hidden;
  }
  EXPECT_FALSE(linux::shows_other_processes(root)) << "it has no /proc at all";
  EXPECT_FALSE(linux::shows_other_processes(""));
}

}  // namespace
}  // namespace tarsier::agent
