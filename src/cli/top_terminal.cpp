#include "cli/top_terminal.h"

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "cli/terminfo.h"
#include "cli/top_columns.h"

namespace tarsier::cli {
namespace {

enum Pair : short { kHotPair = 1, kWarningPair, kCursorPair };

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

std::string utf8_of(wint_t code) {
  const auto c = static_cast<uint32_t>(code);
  const auto byte = [](uint32_t bits) { return static_cast<char>(bits); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xc0 | c >> 6), byte(0x80 | (c & 0x3f))};
  if (c < 0x10000) return {byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f))};
  return {byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 0x3f)), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f))};
}

TopKey::Kind kind_of(wint_t code) {
  switch (code) {
    case KEY_UP:
      return TopKey::Kind::kUp;
    case KEY_DOWN:
      return TopKey::Kind::kDown;
    case KEY_PPAGE:
      return TopKey::Kind::kPageUp;
    case KEY_NPAGE:
      return TopKey::Kind::kPageDown;
    case KEY_HOME:
      return TopKey::Kind::kHome;
    case KEY_END:
      return TopKey::Kind::kEnd;
    case KEY_ENTER:
      return TopKey::Kind::kEnter;
    case KEY_BACKSPACE:
    case KEY_DC:
      return TopKey::Kind::kBackspace;
    default:
      return TopKey::Kind::kOther;
  }
}

TopKey key_of(wint_t character) {
  switch (character) {
    case '\t':
      return {TopKey::Kind::kTab};
    case '\r':
    case '\n':
      return {TopKey::Kind::kEnter};
    case 0x1b:
      return {TopKey::Kind::kEscape};
    case 0x08:
    case 0x7f:
      return {TopKey::Kind::kBackspace};
    default:
      return character < 0x20 ? TopKey{} : TopKey{TopKey::Kind::kText, utf8_of(character)};
  }
}

class Curses final : public TopTerminal {
 public:
  explicit Curses(SCREEN* screen) : screen_(screen), unicode_(std::string_view(::nl_langinfo(CODESET)) == "UTF-8") {
    ::cbreak();
    ::noecho();
    ::nonl();
    ::keypad(stdscr, TRUE);
    ::nodelay(stdscr, TRUE);
    ::curs_set(0);
    ::set_escdelay(50);
    colours_ = !is_set("NO_COLOR") && ::has_colors() && ::start_color() == OK;
    if (!colours_) return;
    const auto background = static_cast<short>(::use_default_colors() == OK ? -1 : COLOR_BLACK);
    ::init_pair(kHotPair, COLOR_RED, background);
    ::init_pair(kWarningPair, COLOR_YELLOW, background);
    ::init_pair(kCursorPair, COLOR_BLACK, COLOR_CYAN);
  }
  ~Curses() override {
    ::endwin();
    ::delscreen(screen_);
  }
  Curses(const Curses&) = delete;
  Curses& operator=(const Curses&) = delete;

  [[nodiscard]] TopSize size() const override {
    return {static_cast<size_t>(std::max(0, ::getmaxx(stdscr))), static_cast<size_t>(std::max(0, ::getmaxy(stdscr)))};
  }

  // From top to bottom: should the terminal take a character for wider than we do, and the line flow over, then into
  // one that is drawn anyway. What has not changed is not sent.
  void put(const std::vector<TopLine>& lines) override {
    const TopSize room = size();
    for (size_t y = 0; y < room.lines; ++y) {
      ::wmove(stdscr, static_cast<int>(y), 0);
      ::wclrtoeol(stdscr);
      if (y >= lines.size()) continue;
      for (const TopSpanOfText& span : lines[y]) {
        ::wattrset(stdscr, static_cast<int>(attributes(span.style)));
        const std::string text = unicode_ ? span.text : as_ascii(span.text);
        ::waddnstr(stdscr, text.data(), static_cast<int>(text.size()));
      }
      ::wattrset(stdscr, A_NORMAL);
    }
    ::wrefresh(stdscr);
  }

  std::optional<Input> next() override {
    wint_t code = 0;
    const int got = ::wget_wch(stdscr, &code);
    if (got == ERR) return std::nullopt;
    if (got == OK) return Input{.key = key_of(code)};
    if (code != KEY_RESIZE) return Input{.key = TopKey{kind_of(code)}};
    ::wclear(stdscr);
    return Input{.resized = true};
  }

  [[nodiscard]] int fd() const override { return STDIN_FILENO; }

 private:
  [[nodiscard]] attr_t attributes(TopStyle style) const {
    const auto pair = [this](Pair which, attr_t otherwise) {
      return colours_ ? static_cast<attr_t>(COLOR_PAIR(which)) : otherwise;
    };
    switch (style) {
      case TopStyle::kPlain:
        return A_NORMAL;
      case TopStyle::kStrong:
        return A_BOLD;
      case TopStyle::kDim:
        return A_DIM;
      case TopStyle::kHead:
        return A_REVERSE;
      case TopStyle::kSortedHead:
        return A_REVERSE | A_BOLD;
      case TopStyle::kCursor:
        return pair(kCursorPair, A_REVERSE);
      case TopStyle::kHot:
        return pair(kHotPair, A_NORMAL);
      case TopStyle::kWarning:
        return pair(kWarningPair, A_NORMAL) | A_BOLD;
    }
    return A_NORMAL;
  }

  SCREEN* screen_;
  bool unicode_;
  bool colours_ = false;
};

}  // namespace

bool TopTerminal::is_there() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 && terminal_is_a_screen();
}

std::unique_ptr<TopTerminal> TopTerminal::open() {
  if (!is_there()) return nullptr;
  ::setlocale(LC_CTYPE, "");
  SCREEN* const screen = ::newterm(nullptr, stdout, stdin);
  if (screen == nullptr) return nullptr;
  ::set_term(screen);
  return std::make_unique<Curses>(screen);
}

}  // namespace tarsier::cli
