// `record --lock --live`: the locks that threads wait for now, and who holds them, drawn anew every two seconds on a
// terminal, else as lines. On stdout.
#pragma once

#include <string>

#include "analysis/live_locks.h"
#include "base/units.h"
#include "cli/spectator.h"

namespace tarsier::cli {

// "2.1 s of waiting for locks per second, 1,234 contentions/s" and a line for each of the top ones, in `width` columns.
std::string live_text(const analysis::LiveTop& top, Nanos time, size_t width);

class LiveView final : public Spectator {
 public:
  // Of the recording behind the descriptor. `keep`: else what was shown is freed on the disk.
  LiveView(int file, bool keep);

  // A command that is stopped (Ctrl-Z) frees nothing.
  [[nodiscard]] Bytes most_on_disk() const override { return keep_ ? Bytes(0) : kMostOnDisk; }
  void tick() override;
  // After the recording has ended: the rest, and a word on all of it.
  void finish();

 private:
  static constexpr Bytes kMostOnDisk{512 << 20};

  void look();
  void draw(const analysis::LiveTop& top, Nanos time);

  int file_;
  bool keep_;
  bool terminal_;
  size_t drawn_lines_ = 0;
  Nanos next_, last_;
  analysis::LiveLocks locks_;
};

}  // namespace tarsier::cli
