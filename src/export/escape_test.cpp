#include "export/escape.h"

#include <gtest/gtest.h>

namespace tarsier::exporting {
namespace {

TEST(Visible, leaves_ordinary_names_alone) {
  for (const char* name : {"java.util.HashMap.get", "<init>", "Größe.日本", "a b", "💥", "", "\\n"}) {
    EXPECT_EQ(visible(name), name);
  }
}

TEST(Visible, shows_what_would_drive_a_terminal) {
  EXPECT_EQ(visible("a\x1b[31mb"), "a\\u{1b}[31mb");
  EXPECT_EQ(visible("a\nb\rc\td"), "a\\u{a}b\\u{d}c\\u{9}d");
  EXPECT_EQ(visible(std::string_view("a\0b", 3)), "a\\u{0}b");
  EXPECT_EQ(visible("\x7f"), "\\u{7f}");
  EXPECT_EQ(visible("\xc2\x9b"
                    "2J"),
            "\\u{9b}2J");  // the one-byte CSI
}

TEST(Visible, shows_what_would_hide_or_turn_text) {
  EXPECT_EQ(visible("\xe2\x80\xae"
                    "evil"),
            "\\u{202e}evil");
  EXPECT_EQ(visible("\xe2\x81\xa6x\xe2\x81\xa9"), "\\u{2066}x\\u{2069}");
  EXPECT_EQ(visible("a\xe2\x80\x8b"
                    "b"),
            "a\\u{200b}b");
  EXPECT_EQ(visible("\xef\xbb\xbf"), "\\u{feff}");
  EXPECT_EQ(visible("\xe2\x80\xa8"), "\\u{2028}");
  EXPECT_EQ(visible("\xf3\xa0\x81\x81"), "\\u{e0041}");  // a tag character
}

TEST(Visible, shows_bytes_that_are_no_text) {
  EXPECT_EQ(visible("a\xff"), "a\\x{ff}");
  EXPECT_EQ(visible("\xc0\x80"), "\\x{c0}\\x{80}");             // overlong NUL
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\x{ed}\\x{a0}\\x{80}");  // a surrogate
  EXPECT_EQ(visible("\xf4\x90\x80\x80"), "\\x{f4}\\x{90}\\x{80}\\x{80}");
  EXPECT_EQ(visible("\xe2\x82"), "\\x{e2}\\x{82}");  // cut off
}

TEST(Visible, shows_special_characters_on_request) {
  EXPECT_EQ(visible("a;b", ";"), "a\\u{3b}b");
  EXPECT_EQ(visible("a;b"), "a;b");
}

TEST(CutFront, keeps_the_end_and_the_width) {
  EXPECT_EQ(cut_front("abc", 3), "abc");
  EXPECT_EQ(cut_front("abcdef", 4), "…def");
  EXPECT_EQ(cut_front("日本語", 6), "日本語");
  EXPECT_EQ(cut_front("日本語", 4), "…語");
  EXPECT_EQ(cut_front("abc", 1), "…");
  EXPECT_EQ(display_width("日本a"), 5U);
  for (size_t columns = 1; columns < 20; ++columns) {
    EXPECT_LE(display_width(cut_front("a日e\u0301本語 long name", columns)), columns);
  }
}

}  // namespace
}  // namespace tarsier::exporting
