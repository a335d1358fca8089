// Who watches a recording while it is made. The session calls it between its own words with the agent.
#pragma once

#include <string_view>

#include "base/units.h"
#include "control/messages.h"

namespace tarsier::cli {

class Spectator {
 public:
  virtual ~Spectator() = default;

  // How far the writer may be ahead of what we have read and freed. 0: as far as it likes.
  [[nodiscard]] virtual Bytes most_on_disk() const = 0;
  // What the session has to say to the user. False: it goes to stderr.
  virtual bool hear(std::string_view) { return false; }
  virtual void on_progress(const control::Progress&) {}
  // A descriptor whose input makes tick() worth while at once; -1: none.
  [[nodiscard]] virtual int input() const { return -1; }
  virtual void input_is_gone() {}
  // Some times a second, from when the recording has started; it knows when it is time for something.
  virtual void tick() = 0;
  // Asked after every tick: the recording shall end.
  [[nodiscard]] virtual bool has_enough() const { return false; }
  // The recording is being ended, at the user's or our own wish: that may take a moment.
  virtual void ending() {}
};

}  // namespace tarsier::cli
