#include "linux/loaded_elf.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace tarsier::linux {
namespace {

TEST(LoadedElf, is_the_file_that_was_loaded_or_an_error) {
  const auto libraries = loaded_libraries();
  const auto library = std::find_if(libraries.begin(), libraries.end(),
                                    [](const LoadedLibrary& one) { return one.file_name().starts_with("libc.so"); });
  if (library == libraries.end()) GTEST_SKIP() << "linked statically";
  EXPECT_TRUE(open_loaded(*library));

  const std::filesystem::path folder = testing::TempDir() + "loaded_elf." + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  LoadedLibrary moved = *library;
  moved.path = folder / "library.so";
  std::filesystem::copy_file(library->path, moved.path);
  EXPECT_TRUE(open_loaded(moved));
  // An update: another file bears its name now.
  std::filesystem::copy_file("/proc/self/exe", moved.path, std::filesystem::copy_options::overwrite_existing);
  const auto other = open_loaded(moved);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().what.find("replaced"), std::string::npos) << other.error().what;
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(open_loaded(moved));
}

}  // namespace
}  // namespace tarsier::linux
