// One recording session, from the agent's Hello to its Finished: passes on the user's signals, keeps the deadlines,
// shows the progress.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/child.h"
#include "cli/loans.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/spectator.h"
#include "control/channel.h"
#include "control/messages.h"

namespace tarsier::cli {

struct Outcome {
  std::optional<control::Finished> finished;  // nothing: `problem` says why
  control::Progress last;                     // the latest that we heard
  std::string problem;
};

class Session {
 public:
  // `child`: the program that we started, or nullptr if we attached. All are borrowed.
  // `announcement` is said once the recording runs. `live`: watches it while it is made; nullptr: nobody does.
  Session(control::Channel& channel, Signals& signals, OutputFile& output, Child* child,
          const control::SessionOptions& options, std::string announcement, Spectator* live = nullptr);

  // An error: it did not start, and there is no file. Otherwise something has been recorded.
  Result<Outcome> run();

 private:
  enum class Phase { kHello, kStarting, kRecording, kStopping, kDone };

  void receive();
  void on(const control::Hello& hello);
  void on(const control::KernelWanted& wanted);
  void on(const control::WaitsWanted& wanted);
  void on(const control::TurnsWanted& wanted);
  void watch_loans();
  void on(const control::Started& started);
  void on(const control::Progress& progress);
  void on(const control::Finished& finished);
  void on(const control::Failed& failed);
  template <class Other>
  void on(const Other&) {}  // words that only we speak: ignored

  void tell(std::string_view text);
  void show();
  void read_signals();
  void user_interrupts(const signalfd_siginfo& info);
  void stop();
  void check_deadline();
  void enter(Phase phase, Nanos patience);
  [[nodiscard]] bool has_started() const { return phase_ == Phase::kRecording || phase_ == Phase::kStopping; }
  void hung_up();
  void give_up(std::string problem, Errc code = Errc::kNotPermitted);

  control::Channel& channel_;
  Signals& signals_;
  OutputFile& output_;
  Child* child_;
  control::SessionOptions options_;
  std::string announcement_;
  Spectator* live_;
  ProgressDisplay display_;
  Phase phase_ = Phase::kHello;
  Nanos deadline_;
  int interrupts_ = 0;
  bool watched_enough_ = false;
  std::optional<Error> failed_;  // before it started
  Outcome outcome_;
  Loans loans_;
};

}  // namespace tarsier::cli
