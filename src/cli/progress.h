// The line that shows how a recording is getting on.
#pragma once

#include <string>

#include "base/units.h"
#include "control/messages.h"

namespace tarsier::cli {

// "12 s left · 11,834 samples · 0 dropped · cost 0.4 % · hottest com.example.Main.work 34 %", in at most `width`
// columns: the front of the method's name gives way, then whole parts from the end. `duration` 0: no end is set, the
// seconds so far are shown.
std::string progress_line(const control::Progress& progress, Nanos duration, size_t width);

// On a terminal one line that is drawn anew, else a line every ten seconds. On stderr.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(Nanos duration);
  void show(const control::Progress& progress);
  void clear();  // before anything else is said

 private:
  Nanos duration_;
  bool terminal_;
  bool drawn_ = false;
  Nanos next_line_;
};

}  // namespace tarsier::cli
