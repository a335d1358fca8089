// `tarsier top` while it runs: reads the recording as it grows, and shows it on a terminal, as text or as JSON.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analysis/top_reader.h"
#include "attach/jvm.h"
#include "base/units.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/spectator.h"
#include "cli/top_screen.h"
#include "cli/top_state.h"
#include "cli/top_terminal.h"

namespace tarsier::cli {

enum class TopOutput : uint8_t { kScreen, kText, kJson };

struct TopOptions {
  TopOutput output = TopOutput::kScreen;
  uint64_t count = 0;  // refreshes; 0: no end is set
  size_t rows = 20;    // of each table, where it is not the screen that says how many
  size_t columns = 160;
  Nanos duration{};  // 0: until somebody has enough
  TopState state{};
};

class TopView final : public Spectator {
 public:
  // Of the recording behind the descriptor, which has no name.
  TopView(int file, const attach::Jvm& jvm, TopOptions options);

  [[nodiscard]] Bytes most_on_disk() const override { return kMostOnDisk; }
  bool hear(std::string_view text) override;
  void on_progress(const control::Progress& progress) override;
  [[nodiscard]] int input() const override { return terminal_ != nullptr ? terminal_->fd() : -1; }
  void input_is_gone() override { state_.quit = true; }
  void tick() override;
  [[nodiscard]] bool has_enough() const override;
  void ending() override;

  // After the session. If the JVM has ended, the last screen stays until somebody quits. The exit code.
  int conclude(const Outcome& outcome, Signals& signals);

 private:
  static constexpr Bytes kMostOnDisk{64 << 20};

  [[nodiscard]] bool on_screen() const { return options_.output == TopOutput::kScreen; }
  bool look();
  void refresh(bool at_once);
  void read_keys();
  void take_snapshot();
  void measure();
  void show();
  void draw();
  void stay_until_quit(Signals& signals);

  const int file_;
  const attach::Jvm jvm_;
  const std::string tasks_;  // the folder that lists the JVM's threads, as it counts them itself
  TopOptions options_;
  TopState state_;
  TopTitle title_;
  analysis::TopTail tail_;
  std::optional<analysis::TopModel> frozen_;  // as it was when it was paused
  analysis::TopSnapshot snapshot_;
  std::unique_ptr<TopTerminal> terminal_;
  bool began_ = false;
  bool ended_by_us_ = false;
  bool dirty_ = false;
  bool print_failed_ = false;
  uint64_t shown_ = 0;
  size_t page_ = 0;
  Nanos began_at_, started_at_, due_, settled_at_;
  int looks_left_ = 0;  // until the round that was announced must be there
  Nanos own_cpu_;
};

}  // namespace tarsier::cli
