// A copy of a library's unwind tables says what the library's own say, and whatever is wrong in it, nothing else is
// read.
#include "agent/engines/copied_unwind_table.h"

#include <gtest/gtest.h>

#include <cstring>

#include "linux/self_memory.h"

namespace tarsier::agent {
namespace {

// Of a library, with some bytes of its tables changed.
class DamagedMemory final : public Memory {
 public:
  DamagedMemory(const Memory& memory, Address from, Address every, uint8_t value)
      : memory_(memory), from_(from), every_(every), value_(value) {}
  bool copy(void* out, Address from, size_t size) const noexcept override {
    if (!memory_.copy(out, from, size)) return false;
    for (size_t i = 0; i < size; ++i) {
      if (from + i >= from_ && (from + i - from_) % every_ == every_ - 1) static_cast<uint8_t*>(out)[i] = value_;
    }
    return true;
  }

 private:
  const Memory& memory_;
  Address from_, every_;
  uint8_t value_;
};

bool same(const std::optional<UnwindRule>& a, const std::optional<UnwindRule>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->by_fp == b->by_fp && a->cfa_offset == b->cfa_offset && a->ra_saved == b->ra_saved &&
         a->ra_offset == b->ra_offset && a->fp_saved == b->fp_saved && a->fp_offset == b->fp_offset &&
         a->outermost == b->outermost;
}

constexpr size_t kMost = 1 << 26;
constexpr Address kStep = 68;

TEST(CopiedUnwindTable, says_the_same_as_the_library) {
  const auto library = linux::find_library("libc.so.6");
  if (!library) GTEST_SKIP() << "no libc.so.6 here";
  const linux::SelfMemory memory;
  const auto table = capture::UnwindTable::open(library->code_begin, library->code_end, library->eh_frame_header);
  const auto copied = CopiedUnwindTable::copy(memory, *library, kMost);
  ASSERT_TRUE(table && copied);
  EXPECT_GT(copied->memory_used(), 1000U);
  size_t rules = 0;
  for (Address pc = library->code_begin; pc < library->code_end; pc += kStep) {
    ASSERT_TRUE(same(table->rule_at(pc), copied->rule_at(pc))) << std::hex << pc;
    rules += copied->rule_at(pc) ? 1 : 0;
  }
  EXPECT_GT(rules, 1000U);
  EXPECT_TRUE(copied->contains(library->code_begin));
  EXPECT_FALSE(copied->contains(library->code_end));
}

TEST(CopiedUnwindTable, takes_no_more_memory_than_it_may) {
  const auto library = linux::find_library("libc.so.6");
  if (!library) GTEST_SKIP() << "no libc.so.6 here";
  EXPECT_FALSE(CopiedUnwindTable::copy(linux::SelfMemory(), *library, 1000));
}

TEST(CopiedUnwindTable, is_nothing_if_the_library_is_gone) {
  auto library = linux::find_library("libc.so.6");
  if (!library) GTEST_SKIP() << "no libc.so.6 here";
  library->eh_frame_header = reinterpret_cast<const uint8_t*>(0x10);
  EXPECT_FALSE(CopiedUnwindTable::copy(linux::SelfMemory(), *library, kMost));
}

TEST(CopiedUnwindTable, survives_damaged_tables) {
  const auto library = linux::find_library("libc.so.6");
  if (!library) GTEST_SKIP() << "no libc.so.6 here";
  const linux::SelfMemory memory;
  constexpr Address kHeader = 12;
  for (const Address every : {3, 7, 16, 61, 1009}) {
    for (const uint8_t value : {0x00, 0x7f, 0x80, 0xff}) {
      const DamagedMemory damaged(memory, reinterpret_cast<Address>(library->eh_frame_header) + kHeader, every, value);
      const auto copied = CopiedUnwindTable::copy(damaged, *library, kMost);
      if (!copied) continue;
      for (Address pc = library->code_begin; pc < library->code_end; pc += 50 * kStep) (void)copied->rule_at(pc);
    }
  }
}

}  // namespace
}  // namespace tarsier::agent
