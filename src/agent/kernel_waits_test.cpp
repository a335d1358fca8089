#include <gtest/gtest.h>

#include <cstring>

#include "capture/signal_capture.h"
#include "linux/bpf/waits_layout.h"

namespace tarsier::agent {
namespace {

TEST(KernelWaits, set_the_flags_that_the_decoder_reads) {
  linux::bpf::SampleHeader written{};
  written.flags = linux::bpf::kFlagWaits | linux::bpf::kFlagBlocked | linux::bpf::kFlagFromBefore;
  capture::SampleHeader read{};
  static_assert(sizeof(read) == sizeof(written));
  std::memcpy(&read, &written, sizeof(read));
  EXPECT_TRUE(read.waits);
  EXPECT_TRUE(read.blocked);
  EXPECT_TRUE(read.from_before);
  EXPECT_FALSE(read.repeated);
  EXPECT_FALSE(read.kept);
  EXPECT_FALSE(read.ongoing);
}

}  // namespace
}  // namespace tarsier::agent
