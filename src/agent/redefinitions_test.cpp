#include "agent/redefinitions.h"

#include <gtest/gtest.h>

namespace tarsier::agent {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// As the methods do it: what was read in an epoch is believed of a sample for which that epoch was over; if a sample of
// the same number has confirmed it, without a look.
struct Epochs {
  uint64_t count = 0;
  bool any = false;
  Redefinitions counted{&count, nullptr}, known{nullptr, &any}, unknown{nullptr, nullptr};
};

TEST(Redefinitions, that_never_were_make_nothing_doubtful) {
  Epochs e;
  e.counted.begin(100);
  EXPECT_EQ(e.counted.at(50), e.counted.now());
  e.counted.begin(200);
  EXPECT_EQ(e.counted.at(150), e.counted.now());
  EXPECT_EQ(e.counted.now(), 0u);
}

TEST(Redefinitions, that_were_before_us_make_nothing_doubtful) {
  Epochs e;
  e.count = 3;
  Redefinitions counted(&e.count, nullptr);
  counted.begin(100);
  EXPECT_EQ(counted.at(50), counted.now());
  counted.begin(200);
  EXPECT_EQ(counted.at(150), counted.now());
}

TEST(Redefinitions, make_what_was_confirmed_before_doubtful_from_the_beginning_before_them) {
  Epochs e;
  e.counted.begin(100);
  const uint64_t before = e.counted.at(90);
  ++e.count;  // somewhere between 100 and 200
  EXPECT_TRUE(e.counted.goes_on());
  e.counted.begin(200);
  EXPECT_FALSE(e.counted.goes_on());
  EXPECT_EQ(e.counted.at(90), before);   // they had not begun
  EXPECT_GT(e.counted.at(150), before);  // believed after a look
  EXPECT_LT(e.counted.at(150), e.counted.now());
  EXPECT_GT(e.counted.at(250), e.counted.at(150));
  EXPECT_LT(e.counted.at(250), e.counted.now());  // what is met now is not believed
}

TEST(Redefinitions, make_every_batch_an_epoch_of_its_own_for_a_while) {
  Epochs e;
  e.counted.begin(100);
  ++e.count;
  e.counted.begin(200);
  const uint64_t first = e.counted.now();
  e.counted.begin(300);
  EXPECT_EQ(e.counted.at(250), first - 1);
  EXPECT_EQ(e.counted.at(350), first);  // the batch of 200 is over
  EXPECT_EQ(e.counted.now(), first + 1);
  e.counted.begin(11 * kSecond);
  const uint64_t settled = e.counted.now();
  EXPECT_EQ(e.counted.at(11 * kSecond + 1), settled);
  EXPECT_EQ(e.counted.at(10 * kSecond), first) << "nothing that was confirmed for it holds for others";
  e.counted.begin(12 * kSecond);
  EXPECT_EQ(e.counted.now(), settled);
  EXPECT_EQ(e.counted.at(11 * kSecond + 1), settled);
  // And again: no number means two things.
  ++e.count;
  e.counted.begin(13 * kSecond);
  EXPECT_EQ(e.counted.at(12 * kSecond - 1), settled);
  EXPECT_GT(e.counted.at(12 * kSecond + 1), settled);
  EXPECT_GT(e.counted.at(13 * kSecond + 1), e.counted.at(12 * kSecond + 1));
}

TEST(Redefinitions, tell_apart_what_is_taken_before_and_after_something_is_confirmed) {
  Epochs e;
  e.counted.begin(100);
  EXPECT_TRUE(e.counted.is_old(150));  // nothing changes
  ++e.count;
  e.counted.begin(200);
  EXPECT_TRUE(e.counted.is_old(150));
  EXPECT_FALSE(e.counted.is_old(250));
  e.counted.begin(300);
  EXPECT_TRUE(e.counted.is_old(250));
  EXPECT_LT(e.counted.at(250), e.counted.at(350));
}

TEST(Redefinitions, of_which_only_one_is_known_never_end) {
  Epochs e;
  e.known.begin(100);
  EXPECT_EQ(e.known.at(150), e.known.now());
  e.any = true;
  e.known.begin(200);
  e.known.begin(100 * kSecond);
  EXPECT_LT(e.known.at(101 * kSecond), e.known.now());
}

TEST(Redefinitions, that_nobody_counts_are_those_that_were_seen) {
  Epochs e;
  e.unknown.begin(100);
  EXPECT_FALSE(e.unknown.goes_on());
  e.unknown.saw_one();
  EXPECT_TRUE(e.unknown.goes_on());
  e.unknown.begin(200);
  EXPECT_FALSE(e.unknown.goes_on());
  EXPECT_LT(e.unknown.at(250), e.unknown.now());
  e.counted.saw_one();
  EXPECT_FALSE(e.counted.goes_on());
}

}  // namespace
}  // namespace tarsier::agent
