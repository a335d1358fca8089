// Out of libc into the function of this program that called it, from a signal taken in the middle of it.
#include "capture/unwind_table.h"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <vector>

#include "base/under_sanitizer.h"
#include "linux/loaded_library.h"

// Named by the linker.
extern "C" const uint8_t __start_unwound_code[], __stop_unwound_code[];

namespace tarsier::capture {
namespace {

std::optional<UnwindTable> table_of(std::string_view file_name) {
  const auto library = linux::find_library(file_name);
  if (!library) return std::nullopt;
  return UnwindTable::open(library->code_begin, library->code_end, library->eh_frame_header);
}

std::vector<UnwindTable> g_tables;
Registers g_left;
bool g_ok;
bool g_by_backtrace;
void on_signal(int, siginfo_t*, void* argument) {
  const auto& context = *static_cast<ucontext_t*>(argument);
  g_left = Registers::of(context);
  g_ok = leave_native_code(g_tables, context, g_left);
  void* frames[64];
  const int count = ::backtrace(frames, 64);
  g_by_backtrace = std::find(frames, frames + count, reinterpret_cast<void*>(g_left.pc)) != frames + count;
}

uint64_t stack_pointer() {
  uint64_t sp;
#if defined(__aarch64__)
  asm volatile("mov %0, sp" : "=r"(sp));
#else
  asm volatile("mov %%rsp, %0" : "=r"(sp));
#endif
  return sp;
}

// Calls libc, which sends the signal to itself some frames deeper.
__attribute__((noinline)) uint64_t call_libc() {
  ::raise(SIGUSR1);
  return stack_pointer();
}

// In a section of its own, so that a table can be made for just this function.
__attribute__((noinline, section("unwound_code"))) int compare_and_raise(const void* a, const void* b) {
  ::raise(SIGUSR1);
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

__attribute__((noinline)) uint64_t call_libc_which_calls_back() {
  int numbers[] = {2, 1};
  std::qsort(numbers, 2, sizeof(int), compare_and_raise);
  return stack_pointer();
}

class Unwinding : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kUnderSanitizer) GTEST_SKIP() << "sanitizers put functions of their own between libc and its callers";
    void* loads_libgcc[1];
    ::backtrace(loads_libgcc, 1);
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &old_), 0);
    g_tables.clear();
    g_ok = g_by_backtrace = false;
  }
  void TearDown() override {
    if (!kUnderSanitizer) ::sigaction(SIGUSR1, &old_, nullptr);
  }

  struct sigaction old_ {};
};

TEST_F(Unwinding, leads_out_of_libc_into_its_caller_with_the_callers_stack_pointer) {
  const auto libc = table_of("libc.so.6");
  const auto program = table_of("");
  ASSERT_TRUE(libc && program);
  g_tables = {*libc};
  const uint64_t sp = call_libc();
  ASSERT_TRUE(g_ok);
  EXPECT_TRUE(program->contains(g_left.pc));
  EXPECT_TRUE(g_by_backtrace);
  EXPECT_EQ(g_left.sp, sp);
}

TEST_F(Unwinding, leads_through_several_functions) {
  const auto libc = table_of("libc.so.6");
  const auto program = linux::find_library("");
  ASSERT_TRUE(libc && program);
  // raise() <- compare_and_raise() <- qsort() <- call_libc_which_calls_back()
  const auto comparer = UnwindTable::open(reinterpret_cast<uint64_t>(__start_unwound_code),
                                          reinterpret_cast<uint64_t>(__stop_unwound_code), program->eh_frame_header);
  ASSERT_TRUE(comparer);
  g_tables = {*libc, *comparer};
  const uint64_t sp = call_libc_which_calls_back();
  ASSERT_TRUE(g_ok);
  EXPECT_TRUE(table_of("")->contains(g_left.pc));
  EXPECT_TRUE(g_by_backtrace);
  EXPECT_EQ(g_left.sp, sp);
}

TEST_F(Unwinding, does_nothing_outside_its_libraries) {
  const auto program = table_of("");
  ASSERT_TRUE(program);
  g_tables = {*program};  // the signal comes in libc
  call_libc();
  EXPECT_FALSE(g_ok);
}

TEST(UnwindTable, what_is_no_sorted_table_is_refused) {
  const uint8_t other_version[12] = {2, 0x1b, 0x03, 0x3b};
  const uint8_t no_table[12] = {1, 0x1b, 0xff, 0xff};
  EXPECT_FALSE(UnwindTable::open(0, 1, other_version));
  EXPECT_FALSE(UnwindTable::open(0, 1, no_table));
}

TEST(UnwindTable, every_function_of_libc_has_a_rule_or_says_that_it_has_none) {
  const auto library = linux::find_library("libc.so.6");
  ASSERT_TRUE(library);
  const auto libc = UnwindTable::open(library->code_begin, library->code_end, library->eh_frame_header);
  ASSERT_TRUE(libc);
  size_t known = 0, asked = 0;
  for (uint64_t pc = library->code_begin; pc < library->code_end; pc += 64, ++asked) {
    const auto rule = libc->rule_at(pc);
    if (!rule) continue;
    ++known;
    EXPECT_GE(rule->cfa_offset, 0);
    EXPECT_LT(rule->cfa_offset, 1 << 24);
    EXPECT_LE(rule->ra_offset, 0);
  }
  EXPECT_GT(known, asked / 3);
}

TEST(LoadedLibrary, one_that_is_not_loaded_is_not_found) {
  EXPECT_FALSE(linux::find_library("libno-such-thing.so"));
}

}  // namespace
}  // namespace tarsier::capture
