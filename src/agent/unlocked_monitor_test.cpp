#include "agent/engines/unlocked_monitor.h"

#include <gtest/gtest.h>

#include <vector>

namespace tarsier::agent {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(UnlockedMonitor, is_where_code_of_x86_reads_and_clears_it) {
  Bytes code = {0x53,                                                      // push rbx
                0x48, 0x8b, 0xbb, 0x40, 0x06, 0x00, 0x00,                  // mov rdi, [rbx + 0x640]
                0x48, 0x85, 0xff,                                          // test rdi, rdi
                0x74, 0x19,                                                // je
                0x48, 0xc7, 0x83, 0x40, 0x06, 0x00, 0x00, 0x00, 0, 0, 0};  // mov qword [rbx + 0x640], 0
  EXPECT_EQ(unlocked_monitor_of_x86(code), 0x640u);
  for (size_t cut = 0; cut < code.size(); ++cut) EXPECT_EQ(unlocked_monitor_of_x86(std::span(code).first(cut)), 0u);
  code[16] = 0x48;  // another field is cleared
  EXPECT_EQ(unlocked_monitor_of_x86(code), 0u);
}

TEST(UnlockedMonitor, is_where_code_of_aarch64_reads_and_clears_it) {
  const uint32_t words[] = {0xaa0103f3,   // mov x19, x1
                            0xf9432260,   // ldr x0, [x19, #0x640]
                            0xb40000c0,   // cbz x0, ..
                            0xf903227f};  // str xzr, [x19, #0x640]
  const auto* begin = reinterpret_cast<const uint8_t*>(words);
  const Bytes code(begin, begin + sizeof(words));
  EXPECT_EQ(unlocked_monitor_of_aarch64(code), 0x640u);
  EXPECT_EQ(unlocked_monitor_of_aarch64(std::span(code).first(12)), 0u);
}

}  // namespace
}  // namespace tarsier::agent
