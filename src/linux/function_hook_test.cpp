#include "linux/function_hook.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/under_sanitizer.h"
#include "linux/elf.h"
#include "linux/elf_functions.h"
#include "linux/loaded_library.h"

#if defined(__aarch64__)
// By hand: sanitizers change what compilers make of functions.
asm(R"(
  .text
  .p2align 2
  .globl tarsier_test_victim
  .hidden tarsier_test_victim
  .type tarsier_test_victim, %function
tarsier_test_victim:
  add w0, w0, #1
  ret
  .globl tarsier_test_unmovable
  .hidden tarsier_test_unmovable
  .type tarsier_test_unmovable, %function
tarsier_test_unmovable:
  adr x0, tarsier_test_victim
  ret
)");
#else
asm(R"(
  .text
  .p2align 4
  .globl tarsier_test_unmovable
  .hidden tarsier_test_unmovable
  .type tarsier_test_unmovable, @function
tarsier_test_unmovable:
  ret
  .size tarsier_test_unmovable, . - tarsier_test_unmovable
  .p2align 4
  .globl tarsier_test_victim
  .hidden tarsier_test_victim
  .type tarsier_test_victim, @function
tarsier_test_victim:
  push %rbp
  mov %rsp, %rbp
  push %rbx
  mov %edi, %ebx
  lea 1(%rbx), %eax
  pop %rbx
  pop %rbp
  ret
  .size tarsier_test_victim, . - tarsier_test_victim
  .globl tarsier_test_large_frame
  .hidden tarsier_test_large_frame
  .type tarsier_test_large_frame, @function
tarsier_test_large_frame:
  push %rbx
  push %r12
  mov %rdi, %r12
  mov %rsi, %rdi
  sub $0x100, %rsp
  lea (%r12, %rdi, 2), %eax
  add $0x100, %rsp
  pop %r12
  pop %rbx
  ret
  .size tarsier_test_large_frame, . - tarsier_test_large_frame
)");
extern "C" int tarsier_test_large_frame(int, int);
#endif
extern "C" int tarsier_test_victim(int);
extern "C" int tarsier_test_unmovable(int);

namespace tarsier::linux {
namespace {

class FunctionHookTest : public testing::Test {
 protected:
  void SetUp() override {
    if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer has no shadow for memory near the program's code";
  }
  static std::string path() {
    char name[4096] = {};
    return ::readlink("/proc/self/exe", name, sizeof(name) - 1) > 0 ? name : "";
  }
  // The program itself is the first of the loaded libraries.
  static uint64_t file_offset(uint64_t function) {
    auto file = ElfFile::open(path());
    const uint64_t address = function - loaded_libraries(false).front().base;
    const ElfSection* text = file->section(".text");
    return text->offset + (address - text->address);
  }
  static Result<FunctionHook> prepare(int (*function)(int)) {
    return prepare_at(reinterpret_cast<uint64_t>(function), 1);
  }
  static Result<FunctionHook> prepare_at(uint64_t address, uint8_t arguments) {
    auto file = ElfFile::open(path());
    const auto functions = ElfFunctions::read(*file, 1 << 26);
    const auto* function = functions->find(address - loaded_libraries(false).front().base);
    return FunctionHook::prepare({path(), address, file_offset(address), function->size, arguments});
  }
};

FunctionHook* g_hook = nullptr;

int replacement(int x) {
  return reinterpret_cast<int (*)(int)>(g_hook->original())(x) + 1000;
}

TEST_F(FunctionHookTest, leads_calls_to_the_replacement_and_back) {
  auto hook = prepare(tarsier_test_victim);
  ASSERT_TRUE(hook) << hook.error().what;
  g_hook = &*hook;
  volatile int one = 1;
  EXPECT_EQ(tarsier_test_victim(one), 2);
  ASSERT_TRUE(hook->put_on(reinterpret_cast<uint64_t>(&replacement)));
  EXPECT_FALSE(hook->put_on(reinterpret_cast<uint64_t>(&replacement)));
  EXPECT_EQ(tarsier_test_victim(one), 1002);
  EXPECT_FALSE(prepare(tarsier_test_victim));  // not as the file has it
  ASSERT_TRUE(hook->take_off());
  EXPECT_EQ(tarsier_test_victim(one), 2);
  EXPECT_EQ(reinterpret_cast<int (*)(int)>(hook->original())(one), 2);
  EXPECT_TRUE(prepare(tarsier_test_victim));
  EXPECT_TRUE(hook->clear_padding());
}

TEST_F(FunctionHookTest, can_be_put_on_and_taken_off_while_others_call) {
  auto hook = prepare(tarsier_test_victim);
  ASSERT_TRUE(hook);
  g_hook = &*hook;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0}, hooked{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      volatile int x = 5;
      while (!stop.load(std::memory_order_relaxed)) {
        const int result = tarsier_test_victim(x);
        if (result == 1006) hooked.fetch_add(1, std::memory_order_relaxed);
        if (result != 6 && result != 1006) wrong.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (int i = 0; i < 200 || hooked.load() == 0; ++i) {
    ASSERT_TRUE(hook->put_on(reinterpret_cast<uint64_t>(&replacement)));
    std::this_thread::yield();
    ASSERT_TRUE(hook->take_off());
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0U);
}

TEST_F(FunctionHookTest, refuses_what_it_can_not_move) {
  const auto hook = prepare(tarsier_test_unmovable);
  ASSERT_FALSE(hook);
  EXPECT_NE(hook.error().what.find("first instruction"), std::string::npos);
}

#if defined(__x86_64__)

int replacement_of_large(int a, int b) {
  return reinterpret_cast<int (*)(int, int)>(g_hook->original())(a, b) + 1000;
}

TEST_F(FunctionHookTest, undoes_what_was_done_before_the_changed_instruction) {
  auto hook = prepare_at(reinterpret_cast<uint64_t>(&tarsier_test_large_frame), 2);
  ASSERT_TRUE(hook) << hook.error().what;
  g_hook = &*hook;
  volatile int one = 1, ten = 10;
  ASSERT_TRUE(hook->put_on(reinterpret_cast<uint64_t>(&replacement_of_large)));
  EXPECT_EQ(tarsier_test_large_frame(one, ten), 1021);
  ASSERT_TRUE(hook->take_off());
  EXPECT_EQ(tarsier_test_large_frame(one, ten), 21);
}

#endif

}  // namespace
}  // namespace tarsier::linux
