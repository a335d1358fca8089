#include "cli/browser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarsier::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Browser, is_the_one_that_the_user_has_chosen) {
  EXPECT_EQ(browser_command("http://x/", "firefox", ":0", nullptr), (Words{"firefox", "http://x/"}));
  EXPECT_EQ(browser_command("http://x/", "firefox:chromium", nullptr, nullptr), (Words{"firefox", "http://x/"}));
  EXPECT_EQ(browser_command("http://x/", "my-browser --at %s now", nullptr, nullptr),
            (Words{"my-browser", "--at", "http://x/", "now"}));
}

TEST(Browser, is_found_by_xdg_open_where_there_is_a_display) {
  EXPECT_EQ(browser_command("http://x/", nullptr, ":0", nullptr), (Words{"xdg-open", "http://x/"}));
  EXPECT_EQ(browser_command("http://x/", "", nullptr, "wayland-0"), (Words{"xdg-open", "http://x/"}));
  EXPECT_EQ(browser_command("http://x/", " ", ":0", nullptr), (Words{"xdg-open", "http://x/"}));
  EXPECT_EQ(browser_command("http://x/", nullptr, nullptr, nullptr), std::nullopt);
  EXPECT_EQ(browser_command("http://x/", nullptr, "", ""), std::nullopt);
}

TEST(Browser, what_stands_in_the_variable_is_no_shell_command) {
  EXPECT_EQ(browser_command("http://x/", "a; rm $HOME", nullptr, nullptr), (Words{"a;", "rm", "$HOME", "http://x/"}));
}

}  // namespace
}  // namespace tarsier::cli
