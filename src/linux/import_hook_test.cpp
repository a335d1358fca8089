#include "linux/import_hook.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/under_sanitizer.h"
#include "linux/mappings.h"

namespace tarsier::linux {
namespace {

pid_t replacement() {
  return 12345;
}

class ImportHookTest : public testing::Test {
 protected:
  void SetUp() override {
    if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer puts functions of its own in between";
    (void)::getppid();  // so that it has been looked for
  }
  static Result<ImportHook> prepare(const char* name) {
    LoadedLibrary program = loaded_libraries(false).front();  // the program itself is the first
    program.path = "/proc/self/exe";
    return ImportHook::prepare(program, name);
  }
};

TEST_F(ImportHookTest, leads_calls_to_the_replacement_and_back) {
  const pid_t truth = ::getppid();
  auto hook = prepare("getppid");
  ASSERT_TRUE(hook) << hook.error().what;
  const auto address = reinterpret_cast<uint64_t>(&replacement);
  ASSERT_TRUE(hook->put_on(address));
  EXPECT_FALSE(hook->put_on(address));
  EXPECT_EQ(::getppid(), 12345);
  EXPECT_EQ(reinterpret_cast<pid_t (*)()>(hook->original())(), truth);
  ASSERT_TRUE(hook->take_off());
  EXPECT_EQ(::getppid(), truth);
  EXPECT_TRUE(hook->take_off());
}

TEST_F(ImportHookTest, is_taken_off_when_it_goes) {
  const pid_t truth = ::getppid();
  {
    auto hook = prepare("getppid");
    ASSERT_TRUE(hook);
    ASSERT_TRUE(hook->put_on(reinterpret_cast<uint64_t>(&replacement)));
  }
  EXPECT_EQ(::getppid(), truth);
}

TEST_F(ImportHookTest, refuses_what_is_not_called) {
  EXPECT_FALSE(prepare("no_such_function_anywhere"));
}

TEST(Mappings, tell_what_is_writable) {
  int variable = 0;
  EXPECT_TRUE(mapping_is_writable(reinterpret_cast<uint64_t>(&variable)));
  EXPECT_FALSE(mapping_is_writable(reinterpret_cast<uint64_t>(&replacement)));
  EXPECT_FALSE(mapping_is_writable(16));
}

}  // namespace
}  // namespace tarsier::linux
