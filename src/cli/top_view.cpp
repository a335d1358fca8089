#include "cli/top_view.h"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "attach/java_command.h"
#include "base/clock.h"
#include "cli/console.h"
#include "cli/passed_bytes.h"
#include "cli/top_json.h"
#include "linux/procfs.h"

namespace tarsier::cli {
namespace {

constexpr Nanos kNever{std::numeric_limits<int64_t>::max()};
// The agent announces its round just before it writes it.
constexpr Nanos kUntilWritten = millis(20), kUntilNextLook = millis(100);
constexpr int kLooks = 10;
// Rounds come once a second, not by the clock: a refresh need not wait for the next because of a moment.
constexpr Nanos kTolerance = millis(500);
constexpr size_t kMostNotes = 50;

}  // namespace

TopView::TopView(int file, const attach::Jvm& jvm, TopOptions options)
    : file_(file),
      jvm_(jvm),
      tasks_(jvm.pid == jvm.namespace_pid
                 ? "/proc/" + std::to_string(jvm.pid) + "/task"
                 : "/proc/" + std::to_string(jvm.pid) + "/root/proc/" + std::to_string(jvm.namespace_pid) + "/task"),
      options_(std::move(options)),
      state_(options_.state),
      tail_("/proc/self/fd/" + std::to_string(file)),
      began_at_(monotonic_now()),
      due_(kNever),
      settled_at_(monotonic_now()),
      own_cpu_(clock_now(CLOCK_PROCESS_CPUTIME_ID)) {
  title_.main = attach::short_name(jvm.main);
  title_.pid = jvm.pid;
  title_.jvm = jvm.version;
}

bool TopView::hear(std::string_view text) {
  if (!on_screen()) return false;
  if (title_.notes.size() < kMostNotes) title_.notes.emplace_back(text);
  return true;
}

void TopView::on_progress(const control::Progress&) {
  due_ = monotonic_now() + kUntilWritten;
  looks_left_ = kLooks;
}

bool TopView::has_enough() const {
  return state_.quit || print_failed_ || (options_.count > 0 && shown_ >= options_.count);
}

// At once, though the agent may need a moment: the terminal is the user's again.
void TopView::ending() {
  ended_by_us_ = true;
  terminal_.reset();
}

bool TopView::look() {
  // What can't be read yet can be read the next time.
  const auto round = tail_.look();
  free_passed(file_, tail_.take_passed());
  return round && *round;
}

void TopView::tick() {
  if (ended_by_us_) return;
  if (!began_) {
    began_ = true;
    started_at_ = monotonic_now();
    if (on_screen()) terminal_ = TopTerminal::open();
    if (on_screen() && terminal_ == nullptr) options_.output = TopOutput::kText;
    measure();
    dirty_ = true;
  }
  read_keys();
  const Nanos now = monotonic_now();
  if (now >= due_) {
    const bool round = look();
    due_ = round || --looks_left_ <= 0 ? kNever : now + kUntilNextLook;
    if (round) refresh(false);
  }
  if (dirty_ && terminal_ != nullptr && !state_.quit) draw();
}

void TopView::refresh(bool at_once) {
  const Nanos now = monotonic_now();
  if (!at_once && now - settled_at_ < state_.refresh - kTolerance) return;
  const auto pids = linux::thread_ids(tasks_.c_str());
  // Nothing: it may not be looked at, or is gone.
  if (!pids.empty()) {
    std::vector<int64_t> ids(pids.begin(), pids.end());
    std::sort(ids.begin(), ids.end());
    title_.threads = ids.size();
    tail_.model().ended_but(ids);
  }
  if (!tail_.model().settle()) return;
  measure();
  settled_at_ = now;
  take_snapshot();
  if (!state_.paused) show();
}

// What is known without the recording.
void TopView::measure() {
  const Nanos now = monotonic_now(), cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID);
  if (now > settled_at_) title_.command_cpu = in_seconds(cpu - own_cpu_) / in_seconds(now - settled_at_);
  own_cpu_ = cpu;
  title_.uptime = jvm_.uptime + (now - began_at_);
  title_.skipped = tail_.skipped();
  if (!tail_.reader().jvm().empty()) title_.jvm = tail_.reader().jvm();
  title_.cpus = tail_.reader().cpus();
}

void TopView::take_snapshot() {
  if (state_.paused && !frozen_) frozen_ = tail_.model();
  if (!state_.paused) frozen_.reset();
  snapshot_ = (frozen_ ? *frozen_ : tail_.model()).snapshot(state_.span, state_.methods_of);
}

void TopView::read_keys() {
  if (terminal_ == nullptr) return;
  bool pressed = false;
  while (const auto input = terminal_->next()) {
    if (input->key) press(*input->key, snapshot_, page_, state_);
    pressed = true;
    if (state_.quit) return;
  }
  if (!pressed) return;
  take_snapshot();
  dirty_ = true;
}

void TopView::show() {
  ++shown_;
  if (on_screen()) {
    dirty_ = true;
  } else if (options_.output == TopOutput::kText) {
    print_failed_ = !print(top_text(snapshot_, title_, state_, options_.rows, options_.columns) + "\n");
  } else {
    print_failed_ = !print(top_json(snapshot_, title_, state_, options_.rows) + "\n");
  }
}

void TopView::draw() {
  const TopScreen screen = draw_top(snapshot_, title_, state_, terminal_->size());
  state_.first = screen.first;
  state_.help_line = screen.help_line;
  page_ = screen.page;
  terminal_->put(screen.lines);
  dirty_ = false;
}

int TopView::conclude(const Outcome& outcome, Signals& signals) {
  if (ended_by_us_ && outcome.finished) return print_failed_ ? 1 : 0;
  if (ended_by_us_) {
    say(outcome.problem);
    return 1;
  }
  // A recording that could not go on says why; one that was cut off is that of a JVM that was killed.
  const bool broken = outcome.finished && !outcome.finished->complete;
  const bool time_is_up =
      options_.duration.count > 0 && began_ && monotonic_now() - started_at_ + millis(200) >= options_.duration;
  title_.ended = broken ? "stopped: " + outcome.finished->missing : time_is_up ? "the time is up" : "the JVM has ended";
  look();
  refresh(true);
  if (!time_is_up && terminal_ != nullptr) stay_until_quit(signals);
  terminal_.reset();
  if (broken) {
    say(title_.ended);
    return exit_code(Errc::kIncomplete);
  }
  if (!time_is_up && !on_screen()) say(title_.ended);
  return print_failed_ ? 1 : 0;
}

void TopView::stay_until_quit(Signals& signals) {
  dirty_ = true;
  while (!state_.quit) {
    if (dirty_) draw();
    std::array<pollfd, 2> events = {{{terminal_->fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    ::poll(events.data(), events.size(), -1);
    if ((events[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return;
    for (auto info = signals.next(); info; info = signals.next()) {
      if (info->ssi_signo != SIGCHLD) return;
    }
    read_keys();
  }
}

}  // namespace tarsier::cli
