// The kernel path lent to another process: it gets its own stacks, and nobody else's.
#include "linux/kernel_loan.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "agent/burner_for_test.h"
#include "agent/engines/kernel_capture.h"
#include "base/clock.h"

namespace tarsier::agent {
namespace {

constexpr size_t kRing = 1 << 20;

class KernelLoanTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  }
  static linux::LoanRequest request_for(const Burner& burner) {
    linux::LoanRequest request;
    request.process = burner.pid();
    request.user = kNobody;
    request.java = KernelCapture::layout_of({8, 16, 24, 32, 40, 48, nullptr, nullptr}, nullptr);
    request.interval = millis(1);
    request.ring_bytes = kRing;
    return request;
  }
  void lend(const Burner& burner) {
    auto loan = linux::KernelLoan::make(request_for(burner));
    if (!loan) GTEST_SKIP() << loan.error().what;
    loan_.emplace(std::move(*loan));
    std::vector<unique_fd> descriptors;
    for (const int fd : loan_->descriptors()) descriptors.emplace_back(::dup(fd));
    auto parts = linux::borrow_kernel_parts(std::move(descriptors));
    ASSERT_TRUE(parts);
    auto capture = KernelCapture::over(std::move(*parts), millis(1), kRing);
    ASSERT_TRUE(capture) << capture.error().what;
    capture_ = std::move(*capture);
    ASSERT_TRUE(capture_->start());
  }
  // That were seen of the process so far.
  [[nodiscard]] uint64_t ticks() const {
    const linux::bpf::Counters counters = capture_->counters();
    return counters.taken + counters.other_threads;
  }
  bool is_sampled() {
    const uint64_t before = ticks();
    for (const Nanos end = monotonic_now() + seconds(60); monotonic_now() < end; ::usleep(1000)) {
      EXPECT_TRUE(loan_->look());
      if (ticks() > before + 20) return true;
    }
    return false;
  }
  // Has the process used CPU time in which it should have been seen, and was not?
  bool stays_unseen(const Burner& burner) {
    const Nanos until = burner.cpu_time() + millis(200);
    const uint64_t before = ticks();
    while (burner.cpu_time() < until) {
      if (loan_) (void)loan_->look();
      ::usleep(1000);
    }
    return ticks() == before;
  }

  std::optional<linux::KernelLoan> loan_;
  std::unique_ptr<KernelCapture> capture_;
};

TEST_F(KernelLoanTest, samples_the_borrowers_process_while_it_is_awake) {
  const Burner burner;
  lend(burner);
  if (IsSkipped()) return;
  EXPECT_TRUE(is_sampled());
  EXPECT_TRUE(loan_->is_trusted());
  capture_->silence();
  EXPECT_TRUE(stays_unseen(burner));
  ASSERT_TRUE(capture_->start());
  EXPECT_TRUE(is_sampled());
}

TEST_F(KernelLoanTest, is_refused_to_a_process_that_had_more_rights_than_its_user) {
  const Burner burner({.dumpable = false});
  const auto loan = linux::KernelLoan::make(request_for(burner));
  ASSERT_FALSE(loan);
  EXPECT_EQ(loan.error().code, Errc::kNotPermitted) << loan.error().what;
}

TEST_F(KernelLoanTest, is_refused_for_the_process_of_another_user) {
  const Burner burner;
  linux::LoanRequest request = request_for(burner);
  request.user = kNobody - 1;
  const auto loan = linux::KernelLoan::make(request);
  ASSERT_FALSE(loan);
  EXPECT_EQ(loan.error().code, Errc::kNotPermitted) << loan.error().what;
}

TEST_F(KernelLoanTest, samples_nothing_if_the_process_has_got_more_rights_before_it_was_seen) {
  Burner burner;
  lend(burner);
  if (IsSkipped()) return;
  burner.hide();
  EXPECT_TRUE(stays_unseen(burner));
  EXPECT_FALSE(loan_->look());
  EXPECT_FALSE(loan_->is_trusted());
}

TEST_F(KernelLoanTest, samples_nothing_of_what_the_process_becomes_by_executing_another_program) {
  Burner burner;
  lend(burner);
  if (IsSkipped()) return;
  ASSERT_TRUE(is_sampled());
  burner.execute_another_program();
  EXPECT_TRUE(stays_unseen(burner));
}

TEST_F(KernelLoanTest, samples_no_other_process) {
  const Burner burner;
  lend(burner);
  if (IsSkipped()) return;
  ASSERT_TRUE(is_sampled());
  ::kill(burner.pid(), SIGSTOP);
  siginfo_t stopped{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(burner.pid()), &stopped, WSTOPPED), 0);
  const Burner other;
  EXPECT_TRUE(stays_unseen(other));
}

TEST_F(KernelLoanTest, ends_with_its_lender_whoever_still_holds_descriptors) {
  const Burner burner;
  lend(burner);
  if (IsSkipped()) return;
  ASSERT_TRUE(is_sampled());
  loan_.reset();
  EXPECT_TRUE(stays_unseen(burner));
}

TEST_F(KernelLoanTest, is_refused_if_more_is_wanted_than_there_can_be) {
  const Burner burner;
  linux::LoanRequest request = request_for(burner);
  request.ring_bytes = 12'345;
  EXPECT_FALSE(linux::KernelLoan::make(request));
  request.ring_bytes = size_t{1} << 40;
  EXPECT_FALSE(linux::KernelLoan::make(request));
  request.ring_bytes = kRing;
  request.interval = Nanos(1);
  EXPECT_FALSE(linux::KernelLoan::make(request));
}

}  // namespace
}  // namespace tarsier::agent
