#include "linux/bpf_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "linux/cpus.h"

namespace tarsier::linux {
namespace {

// What the kernel does, in memory of ours; the second mapping is a copy.
class FakeRing {
 public:
  static constexpr size_t kCapacity = 64;

  // Where its header lies.
  uint64_t add(const std::string& payload, uint32_t flags = 0) {
    const uint64_t at = producer_;
    const auto header = static_cast<uint32_t>(payload.size()) | flags;
    write(at, &header, sizeof(header));
    write(at + BpfRing::kHeader, payload.data(), payload.size());
    producer_ += (BpfRing::kHeader + payload.size() + 7) & ~size_t{7};
    return at;
  }
  void set_header(uint64_t at, uint32_t header) { write(at, &header, sizeof(header)); }
  std::vector<std::string> read(size_t at_most = SIZE_MAX) {
    BpfRing ring(&consumer_, &producer_, data_, kCapacity);
    std::vector<std::string> read;
    const size_t count = ring.consume(
        [&](const uint8_t* payload, size_t size) { read.emplace_back(reinterpret_cast<const char*>(payload), size); },
        at_most);
    EXPECT_EQ(count, read.size());
    return read;
  }
  [[nodiscard]] bool empty() const { return consumer_ == producer_; }

 private:
  void write(uint64_t at, const void* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) {
      const uint8_t byte = static_cast<const uint8_t*>(bytes)[i];
      data_[(at + i) % kCapacity] = data_[(at + i) % kCapacity + kCapacity] = byte;
    }
  }
  alignas(8) uint8_t data_[2 * kCapacity] = {};
  uint64_t consumer_ = 0, producer_ = 0;
};

using Texts = std::vector<std::string>;

TEST(BpfRing, records_come_in_order_also_where_the_ring_begins_anew) {
  FakeRing ring;
  for (int i = 0; i < 20; ++i) {
    const Texts texts = {std::to_string(i), "a record of some length"};
    for (const std::string& text : texts) ring.add(text);
    EXPECT_EQ(ring.read(), texts);
  }
  EXPECT_TRUE(ring.empty());
}

TEST(BpfRing, no_more_than_asked_for) {
  FakeRing ring;
  for (const char* text : {"a", "b", "c"}) ring.add(text);
  EXPECT_EQ(ring.read(2), (Texts{"a", "b"}));
  EXPECT_EQ(ring.read(2), (Texts{"c"}));
  EXPECT_EQ(ring.read(2), Texts{});
}

TEST(BpfRing, waits_for_a_record_that_is_still_written_and_passes_one_that_was_discarded) {
  FakeRing ring;
  ring.add("a");
  const uint64_t busy = ring.add("b", BpfRing::kBusy);
  ring.add("c", BpfRing::kDiscarded);
  ring.add("d");
  EXPECT_EQ(ring.read(), (Texts{"a"}));
  EXPECT_EQ(ring.read(), Texts{});
  ring.set_header(busy, 1);
  EXPECT_EQ(ring.read(), (Texts{"b", "d"}));
  EXPECT_TRUE(ring.empty());
}

TEST(Cpus, lists_as_the_kernel_writes_them) {
  EXPECT_EQ(parse_cpu_list("0"), (std::vector{0}));
  EXPECT_EQ(parse_cpu_list("0-2,5,8-9"), (std::vector{0, 1, 2, 5, 8, 9}));
  for (const char* wrong : {"", "x", "1-", "3-1", "0,", "0;1", "0-999999999"}) {
    EXPECT_TRUE(parse_cpu_list(wrong).empty()) << wrong;
  }
}

TEST(Cpus, at_least_as_many_are_possible_as_run) {
  ASSERT_FALSE(online_cpus().empty());
  EXPECT_GT(possible_cpus(), static_cast<size_t>(online_cpus().back()));
}

}  // namespace
}  // namespace tarsier::linux
