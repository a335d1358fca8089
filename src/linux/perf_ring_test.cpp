#include "linux/perf_ring.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "linux/perf_sample.h"

namespace tarsier::linux {
namespace {

// What the kernel does, in memory of ours.
class FakeRing {
 public:
  static constexpr size_t kCapacity = 64;

  void add(uint32_t type, const std::string& body) {
    perf_event_header header{};
    header.type = type;
    header.size = static_cast<uint16_t>(sizeof(header) + body.size());
    write(&header, sizeof(header));
    write(body.data(), body.size());
  }
  void write(const void* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) data_[page_.data_head++ % kCapacity] = static_cast<const uint8_t*>(bytes)[i];
  }
  std::vector<std::string> read() {
    PerfRing ring(&page_, data_.data(), kCapacity);
    std::vector<std::string> read;
    ring.consume([&](const perf_event_header& header, std::span<const uint8_t> body) {
      read.push_back(std::to_string(header.type) + ":" +
                     std::string(reinterpret_cast<const char*>(body.data()), body.size()));
    });
    return read;
  }
  [[nodiscard]] bool empty() const { return page_.data_head == page_.data_tail; }

 private:
  perf_event_mmap_page page_{};
  std::array<uint8_t, kCapacity> data_{};
};

using Bodies = std::vector<std::string>;

TEST(PerfRing, records_are_read_once_in_their_order) {
  FakeRing ring;
  EXPECT_EQ(ring.read(), Bodies{});
  ring.add(9, "12345678");
  ring.add(2, "");
  EXPECT_EQ(ring.read(), (Bodies{"9:12345678", "2:"}));
  EXPECT_EQ(ring.read(), Bodies{});
  EXPECT_TRUE(ring.empty());
}

TEST(PerfRing, a_record_may_wrap_around) {
  FakeRing ring;
  for (int i = 0; i < 20; ++i) {
    const std::string body = "a body of 24 bytes, no. " + std::string(1, static_cast<char>('a' + i));
    ring.add(9, body.substr(1));
    EXPECT_EQ(ring.read(), Bodies{"9:" + body.substr(1)});
  }
}

TEST(PerfRing, a_size_that_can_not_be_is_not_followed) {
  for (const uint16_t size : {uint16_t{0}, uint16_t{4}, uint16_t{4096}}) {
    FakeRing ring;
    perf_event_header header{};
    header.size = size;
    ring.write(&header, sizeof(header));
    EXPECT_EQ(ring.read(), Bodies{});
    EXPECT_TRUE(ring.empty());
  }
}

std::vector<uint8_t> sample_body(uint64_t kernel_frames, uint64_t stack_words) {
  std::vector<uint64_t> words = {7, 1000};
  if (kernel_frames != 0) {
    words.push_back(kernel_frames);
    for (uint64_t i = 0; i < kernel_frames; ++i) words.push_back(0xffff000000000000 + i);
  }
  words.push_back(2);  // 64-bit registers
  for (uint64_t i = 0; i < PerfSample::kRegisters; ++i) words.push_back(100 + i);
  words.push_back(8 * stack_words);
  for (uint64_t i = 0; i < stack_words; ++i) words.push_back(200 + i);
  if (stack_words != 0) words.push_back(8 * (stack_words - 1));  // one could not be read
  std::vector<uint8_t> bytes(8 * words.size());
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

TEST(PerfSample, is_read_part_by_part) {
  const std::vector<uint8_t> body = sample_body(2, 3);
  const auto sample = PerfSample::parse(body, true);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->event, 7u);
  EXPECT_EQ(sample->time_ns, 1000u);
  EXPECT_EQ(sample->kernel.size(), 2u);
  ASSERT_EQ(sample->general.size(), PerfSample::kRegisters);
  EXPECT_EQ(sample->general[0], 100u);
#if defined(__aarch64__)
  EXPECT_EQ(sample->sp, 131u);
  EXPECT_EQ(sample->pc, 132u);
#else
  EXPECT_EQ(sample->sp, 107u);
  EXPECT_EQ(sample->pc, 108u);
#endif
  EXPECT_EQ(sample->stack.size(), 16u);
  EXPECT_EQ(sample->stack[0], 200u);
}

TEST(PerfSample, of_a_thread_without_user_registers_has_none) {
  const std::array<uint64_t, 4> words = {7, 1000, 0, 0};
  const auto sample = PerfSample::parse({reinterpret_cast<const uint8_t*>(words.data()), sizeof(words)}, false);
  ASSERT_TRUE(sample);
  EXPECT_TRUE(sample->general.empty());
  EXPECT_TRUE(sample->stack.empty());
}

TEST(PerfSample, half_a_record_is_none) {
  const std::vector<uint8_t> body = sample_body(2, 3);
  for (size_t size = 0; size < body.size(); ++size) {
    EXPECT_FALSE(PerfSample::parse(std::span(body).first(size), true)) << size;
  }
  std::vector<uint8_t> lies = sample_body(0, 3);
  lies[lies.size() - 8] = 255;  // more than there was room for
  EXPECT_FALSE(PerfSample::parse(lies, false));
}

// The clock of our own thread on the CPU that it is on, bound to it.
class OwnSamples : public testing::Test {
 protected:
  static constexpr size_t kRing = 256 << 10;

  void SetUp() override {
    ASSERT_EQ(::sched_getaffinity(0, sizeof(before_), &before_), 0);
    cpu_ = ::sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu_, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    auto ring = PerfRing::open(cpu_, kRing);
    if (!ring) GTEST_SKIP() << ring.error().what;
    ring_.emplace(std::move(*ring));
    options_.cpu = cpu_;
    options_.stack_bytes = 8 << 10;
    options_.count_lost = true;
    options_.count_lost = PerfSampler::probe(options_) == 0;
    if (const int err = PerfSampler::probe(options_)) GTEST_SKIP() << errno_text(err);
  }
  void TearDown() override { ::sched_setaffinity(0, sizeof(before_), &before_); }
  static void burn(Nanos time) {
    const Nanos end = clock_now(CLOCK_THREAD_CPUTIME_ID) + time;
    // In user mode, mostly: only that is sampled.
    volatile unsigned work[1] = {};
    while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end) {
      for (int i = 0; i < 10'000; ++i) work[0] = work[0] + 1;
    }
  }
  void read(size_t& samples, uint64_t& lost) {
    ring_->consume([&](const perf_event_header& header, std::span<const uint8_t> body) {
      if (header.type == PERF_RECORD_LOST) {
        uint64_t words[2];
        std::memcpy(words, body.data(), sizeof(words));
        lost += words[1];
      }
      if (header.type != PERF_RECORD_SAMPLE) return;
      ++samples;
      const auto sample = PerfSample::parse(body, options_.kernel);
      ASSERT_TRUE(sample);
      EXPECT_EQ(sample->event, id_);
      EXPECT_LE(sample->time_ns, static_cast<uint64_t>(monotonic_now().count));
      EXPECT_NE(sample->pc, 0u);
      const auto here = reinterpret_cast<uint64_t>(&samples);
      EXPECT_TRUE(sample->sp < here + (1 << 16) && here < sample->sp + (1 << 16));
      EXPECT_GT(sample->stack.size(), 1000u);
      EXPECT_LE(sample->stack.size(), options_.stack_bytes);
    });
  }

  cpu_set_t before_{};
  int cpu_ = 0;
  std::optional<PerfRing> ring_;
  PerfSampler::Options options_;
  uint64_t id_ = 0;
};

TEST_F(OwnSamples, come_with_registers_and_stack) {
  auto [sampler, err] = PerfSampler::open(options_, ring_->fd());
  ASSERT_EQ(err, 0);
  id_ = sampler.id();
  burn(millis(15));
  sampler.disable();
  size_t samples = 0;
  uint64_t lost = 0;
  read(samples, lost);
  EXPECT_GT(samples, 2u);
  EXPECT_EQ(lost, 0u);
  read(samples, lost);
  burn(millis(5));
  const size_t before = samples;
  read(samples, lost);
  EXPECT_EQ(samples, before) << "it was disabled";
}

TEST_F(OwnSamples, that_find_no_room_are_counted) {
  options_.period_ns = 100'000;
  auto [sampler, err] = PerfSampler::open(options_, ring_->fd());
  ASSERT_EQ(err, 0);
  id_ = sampler.id();
  burn(millis(20));  // some 30 fit
  size_t samples = 0;
  uint64_t lost = 0;
  read(samples, lost);
  burn(millis(2));
  sampler.disable();
  read(samples, lost);
  EXPECT_GT(samples, 10u);
  EXPECT_GT(lost, 10u);
  if (options_.count_lost) {
    EXPECT_EQ(sampler.lost(), lost);
  } else {
    EXPECT_EQ(sampler.lost(), std::nullopt);
  }
}

}  // namespace
}  // namespace tarsier::linux
