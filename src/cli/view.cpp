// tarsier view
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <optional>

#include "analysis/changes.h"
#include "analysis/lock_pass.h"
#include "cli/browser.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/recording_file.h"
#include "cli/signals.h"
#include "export/escape.h"
#include "export/page_parts.h"
#include "export/page_template.h"
#include "serve/reading.h"
#include "serve/server.h"
#include "serve/token.h"

namespace tarsier::cli {
namespace {

constexpr Option kOptions[] = {
    kAgainstOption,
    kPerOption,
    {.name = "no-open", .help = "start no browser"},
    {.name = "port",
     .kind = Kind::kNumber,
     .value = "N",
     .help = "listen on this port",
     .otherwise = "one that is free",
     .min = 1,
     .max = 65535},
};
constexpr CommandSpec kSpec = {
    .name = "view",
    .summary = "explore a recording in the browser",
    .operands = "FILE",
    .max_operands = 1,
    .operand = Operand::kRecording,
    .options = kOptions,
    .notes =
        "Prints the address of the page and serves it until Ctrl-C. Only this machine can reach it, and only who knows "
        "the\n"
        "address, which is another one each time. Of a large recording the page shows what has been read so far.\n"
        "The browser is that of $BROWSER, else xdg-open finds it; without a display none is started. From another "
        "machine:\n"
        "tarsier view FILE --no-open --port 8123 here, ssh -L 8123:127.0.0.1:8123 HOST there, then open the address "
        "there.\n"
        "tarsier export FILE --to html writes the same page as a file, to keep or send.",
};

struct Wanted {
  std::string file;
  std::string against;  // empty: nothing
  analysis::Per per;
};

// One file, shown while it is read. What it holds is used by the reading thread only.
class OneRecording {
 public:
  explicit OneRecording(const Wanted& wanted) : wanted_(wanted), locks_(page_.question()) {}

  serve::ReadingSteps steps(std::function<void(const Result<analysis::Model>&)> ended) {
    return {.load = [this](const auto& watch) { return load_recording(wanted_.file, {}, &locks_, watch); },
            .parts = [this](const auto& model, double done) { return page_.make(model, title_of(wanted_.file), done); },
            .ended = std::move(ended)};
  }

 private:
  const Wanted wanted_;
  exporting::PageParts page_;
  analysis::LockPass locks_;
};

// Two of them: what differs can be told when both are read.
class Comparison {
 public:
  explicit Comparison(const Wanted& wanted) : wanted_(wanted) {}

  serve::ReadingSteps steps(std::function<void(const Result<analysis::Model>&)> ended) {
    return {.load = [this](const auto& watch) { return load(watch); },
            .parts = [this](const auto& model, double done) { return parts(model, done); },
            .ended = std::move(ended)};
  }

 private:
  Result<analysis::Model> load(const std::function<void(const analysis::SoFar&)>& watch) {
    auto before = load_recording(wanted_.against, {});
    if (!before) return before;
    auto model = load_recording(wanted_.file, {}, nullptr, watch);
    if (!model) return model;
    if (Status common = analysis::use_common_profile(*before, *model); !common) return std::move(common).error();
    if (before->damaged) model->damaged = true;
    for (const std::string& problem : before->problems) model->problems.push_back(wanted_.against + ": " + problem);
    before_.emplace(std::move(*before));
    return model;
  }
  [[nodiscard]] Result<std::vector<exporting::PagePart>> parts(const analysis::Model& model, double done) const {
    if (done < 1) return Error{Errc::kIncomplete, "not yet"};
    const std::string title = title_of(wanted_.file) + " against " + title_of(wanted_.against);
    return exporting::PageParts::make_against(model, *before_, wanted_.per, title);
  }

  const Wanted wanted_;
  std::optional<analysis::Model> before_;
};

void open_browser(const std::string& address, const Signals& signals) {
  const auto words =
      browser_command(address, std::getenv("BROWSER"), std::getenv("DISPLAY"), std::getenv("WAYLAND_DISPLAY"));
  if (!words) return;
  if (const Status started = start_apart(*words, signals.previous_mask()); !started) {
    say(exporting::visible(started.error().what) + "; open the address yourself");
  }
}

// False once a signal has asked for the end.
bool goes_on(Signals& signals) {
  bool on = true;
  while (const auto signal = signals.next()) {
    if (signal->ssi_signo != SIGCHLD) {
      on = false;
      continue;
    }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {  // the browser, or what has started it
    }
  }
  return on;
}

int serve_until_asked(
    const Arguments& arguments, const std::string& file,
    const std::function<serve::ReadingSteps(std::function<void(const Result<analysis::Model>&)>)>& steps) {
  // Before there is another thread, which would get them.
  auto signals = Signals::take();
  if (!signals) return fail(signals.error());
  auto page = serve::ServedPage::of(exporting::page_template());
  if (!page) return fail(page.error());
  auto token = serve::random_token();
  if (!token) return fail(token.error());
  auto server = serve::Server::listen(static_cast<uint16_t>(arguments.number("port")));
  if (!server) return fail(server.error());
  const serve::Identity identity{(*server)->port(), *token};

  serve::Content content;
  std::atomic<int> code = 0;
  const auto ended = [&](const Result<analysis::Model>& model) {
    code = model ? tell_problems(*model) : fail(model.error());
  };
  serve::Reading reading(steps(ended), content);
  // What can be read in no time at all and fails needs no page to tell it.
  constexpr Nanos kAtOnce = millis(200);
  if (reading.wait(kAtOnce) && content.now().progress.state == serve::Progress::State::kFailed) return code;

  if (!print(identity.address() + "\n")) {
    code = 1;
  } else {
    say("shows " + exporting::visible(file) + " until Ctrl-C");
    if (!arguments.has("no-open")) open_browser(identity.address(), *signals);
    const auto answer = [&](const serve::Request& request) { return serve::answer(request, identity, *page, content); };
    const Status served = (*server)->run(answer, signals->fd(), [&] { return goes_on(*signals); });
    if (!served) code = fail(served.error());
  }
  // Nobody waits for a recording that nobody will see.
  if (!reading.over()) std::_Exit(code);
  return code;
}

int run_view(const Arguments& arguments) {
  const auto file = recording_operand("view", arguments.operands);
  if (!file) return fail(file.error());
  const Wanted wanted{*file, arguments.text("against"),
                      analysis::value_named(arguments.text("per"), analysis::kScales)};
  if (arguments.has("per") && !arguments.has("against")) return fail(Error{Errc::kUsage, "--per is for --against"});
  if (const Status checked = check_recording(wanted.file); !checked) return fail(checked.error());
  if (!arguments.has("against")) {
    OneRecording one(wanted);
    return serve_until_asked(arguments, wanted.file, [&](auto ended) { return one.steps(std::move(ended)); });
  }
  const std::string files[] = {wanted.against, wanted.file};
  if (const Status different = check_different(files); !different) return fail(different.error());
  if (const Status checked = check_recording(wanted.against); !checked) return fail(checked.error());
  Comparison both(wanted);
  return serve_until_asked(arguments, wanted.file, [&](auto ended) { return both.steps(std::move(ended)); });
}

}  // namespace

const Command kView = {kSpec, run_view};

}  // namespace tarsier::cli
