#include "cli/session.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/clock.h"
#include "base/parse.h"
#include "cli/console.h"

namespace tarsier::cli {
namespace {

constexpr Nanos kHelloPatience = seconds(10);
constexpr Nanos kStartPatience = seconds(60);  // the agent may have to visit all classes of a big JVM
constexpr Nanos kFinishPatience = seconds(30);
constexpr Nanos kDurationGrace = seconds(15);  // the agent counts the duration; this is for one that lost count
constexpr Nanos kSendPatience = seconds(5);
constexpr Nanos kForever{std::numeric_limits<int64_t>::max()};

}  // namespace

Session::Session(control::Channel& channel, Signals& signals, OutputFile& output, Child* child,
                 const control::SessionOptions& options, std::string announcement, Spectator* live)
    : channel_(channel),
      signals_(signals),
      output_(output),
      child_(child),
      options_(options),
      announcement_(std::move(announcement)),
      live_(live),
      display_(options.duration) {
  enter(Phase::kHello, kHelloPatience);
}

void Session::enter(Phase phase, Nanos patience) {
  phase_ = phase;
  deadline_ = patience == kForever ? kForever : monotonic_now() + patience;
}

Result<Outcome> Session::run() {
  while (phase_ != Phase::kDone) {
    std::array<pollfd, 3> events = {{{channel_.fd(), POLLIN, 0},
                                     {signals_.fd(), POLLIN, 0},
                                     {live_ != nullptr && has_started() ? live_->input() : -1, POLLIN, 0}}};
    const Nanos patience = std::min(millis(200), loans_.patience());
    ::poll(events.data(), events.size(), static_cast<int>(patience.count / 1'000'000));
    if (events[0].revents != 0) receive();
    if (phase_ != Phase::kDone) watch_loans();
    if (phase_ != Phase::kDone) read_signals();
    if (phase_ != Phase::kDone) check_deadline();
    if ((events[2].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) live_->input_is_gone();
    if (live_ != nullptr && has_started()) show();
  }
  display_.clear();
  if (failed_) return *failed_;
  return outcome_;
}

void Session::tell(std::string_view text) {
  if (live_ == nullptr || !live_->hear(text)) say(text);
}

void Session::show() {
  live_->tick();
  if (!live_->has_enough() || watched_enough_) return;
  watched_enough_ = true;
  ++interrupts_;
  if (phase_ == Phase::kRecording) stop();
}

void Session::receive() {
  while (phase_ != Phase::kDone) {
    auto received = channel_.receive(Nanos(0));
    if (!received) {
      if (received.error().code == Errc::kNotFound) {
        hung_up();
      } else {
        give_up("the agent sent what is not understood: " + received.error().what);
      }
      return;
    }
    if (!*received) return;
    std::visit([this](const auto& message) { on(message); }, (*received)->message);
  }
}

void Session::hung_up() {
  if (has_started()) {
    give_up("the JVM ended, or its agent hung up, before the recording was finished");
  } else if (child_ != nullptr) {
    give_up("the JVM ended before the recording had started; nothing was recorded", Errc::kFailed);
  } else {
    give_up("the JVM ended, or its agent hung up, before the recording had started");
  }
}

void Session::on(const control::Hello&) {
  if (phase_ != Phase::kHello) return;
  enter(Phase::kStarting, kStartPatience);
  const control::Start start{options_, output_.path(), live_ != nullptr ? live_->most_on_disk() : Bytes(0)};
  const int file = output_.fd();
  if (auto sent = channel_.send(start, kSendPatience, {&file, 1}); !sent) give_up(sent.error().what);
}

// Where the JVM's user lacks the right to what its agent needs, we may have it.
void Session::on(const control::KernelWanted& wanted) {
  if (phase_ != Phase::kStarting) return;
  if (Status sent = loans_.lend(wanted, channel_, options_, kSendPatience); !sent) give_up(sent.error().what);
}

void Session::on(const control::WaitsWanted& wanted) {
  if (phase_ != Phase::kStarting) return;
  if (Status sent = loans_.lend(wanted, channel_, options_, kSendPatience); !sent) give_up(sent.error().what);
}

void Session::on(const control::TurnsWanted& wanted) {
  if (phase_ != Phase::kStarting) return;
  if (Status sent = loans_.lend(wanted, channel_, options_, kSendPatience); !sent) give_up(sent.error().what);
}

void Session::watch_loans() {
  if (Status status = loans_.look(); !status) {
    give_up("the kernel no longer works for the JVM: " + status.error().what, status.error().code);
  }
}

void Session::on(const control::Started& started) {
  if (phase_ != Phase::kStarting) return;
  enter(Phase::kRecording, options_.duration.count == 0 ? kForever : options_.duration + kDurationGrace);
  if (auto published = output_.publish(); !published) {
    failed_ = std::move(published).error();
    phase_ = Phase::kDone;  // hanging up makes the agent stop
    return;
  }
  tell(announcement_);
  for (const control::EngineReport& engine : started.engines) {
    std::string line = engine.name + " by " + engine.mechanism;
    if (!engine.runs) continue;  // a warning says why
    if (engine.interval_bytes.count > 0) line += ", every " + format_size(engine.interval_bytes);
    if (engine.interval.count > 0) line += ", every " + format_duration(engine.interval);
    if (!engine.why.empty()) line += " (" + engine.why + ")";
    tell(line);
  }
  for (const std::string& warning : started.warnings) tell("warning: " + warning);
  if (interrupts_ > 0) stop();  // was asked for while it started
}

void Session::on(const control::Progress& progress) {
  outcome_.last = progress;
  if (live_ != nullptr) live_->on_progress(progress);
  if (phase_ == Phase::kRecording && live_ == nullptr) display_.show(progress);
}

void Session::on(const control::Finished& finished) {
  outcome_.finished = finished;
  display_.clear();
  for (const std::string& warning : finished.warnings) tell("warning: " + warning);
  phase_ = Phase::kDone;
}

void Session::on(const control::Failed& failed) {
  give_up(failed.what, failed.code);
}

void Session::read_signals() {
  for (auto info = signals_.next(); info && phase_ != Phase::kDone; info = signals_.next()) {
    if (info->ssi_signo != SIGCHLD) {
      user_interrupts(*info);
    } else if (child_ != nullptr && child_->poll_exit() && phase_ == Phase::kRecording) {
      stop();  // the JVM may live on without the program that started it
    }
  }
}

// We attached: the first signal saves, the second leaves at once. We started the program: the first is the program's
// alone, the second saves, the third gives up on the agent; leaving is the program's business.
void Session::user_interrupts(const signalfd_siginfo& info) {
  ++interrupts_;
  display_.clear();
  if (child_ != nullptr && !from_terminal(info)) child_->forward(static_cast<int>(info.ssi_signo));
  const int for_us = child_ != nullptr ? interrupts_ - 1 : interrupts_;
  if (for_us >= 2) {
    give_up("left before the agent had confirmed; it saves on its own what it has", Errc::kFailed);
  } else if (for_us == 1 && phase_ == Phase::kRecording) {
    tell("saving ... (again: don't wait for it)");
    stop();
  }
}

void Session::stop() {
  if (live_ != nullptr) live_->ending();
  enter(Phase::kStopping, kFinishPatience);
  // An agent that has just hung up may have said Finished before: that is still to be read.
  [[maybe_unused]] const Status sent = channel_.send(control::Stop{}, kSendPatience);
}

void Session::check_deadline() {
  if (deadline_ == kForever || monotonic_now() < deadline_) return;
  switch (phase_) {
    case Phase::kHello:
    case Phase::kStarting:
      give_up("the agent was loaded but did not start recording in time: the JVM may be hanging");
      break;
    case Phase::kRecording:
      stop();
      break;
    case Phase::kStopping:
      give_up("the agent did not finish within " + format_duration(kFinishPatience) + ": the JVM may be hanging");
      break;
    case Phase::kDone:
      break;
  }
}

void Session::give_up(std::string problem, Errc code) {
  if (has_started()) {
    outcome_.problem = std::move(problem);
  } else {
    failed_ = Error{code, std::move(problem)};
  }
  phase_ = Phase::kDone;
}

}  // namespace tarsier::cli
