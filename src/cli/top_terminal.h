// Puts the screen of `tarsier top` onto a terminal, and reads keys from it: the only place that knows ncurses.
#pragma once

#include <memory>
#include <optional>

#include "cli/top_screen.h"

namespace tarsier::cli {

class TopTerminal {
 public:
  // False: stdin or stdout is no terminal, or none that lines can be put on anywhere.
  static bool is_there();
  // Takes over the terminal; nothing if that is not possible. One at a time.
  static std::unique_ptr<TopTerminal> open();
  virtual ~TopTerminal() = default;  // leaves the terminal as it was

  [[nodiscard]] virtual TopSize size() const = 0;
  virtual void put(const std::vector<TopLine>& lines) = 0;
  struct Input {
    std::optional<TopKey> key{};
    bool resized = false;
  };
  // Nothing: no key has been pressed.
  virtual std::optional<Input> next() = 0;
  [[nodiscard]] virtual int fd() const = 0;
};

}  // namespace tarsier::cli
