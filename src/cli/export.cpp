// tarsier export
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>

#include "analysis/engine_account.h"
#include "analysis/lock_pass.h"
#include "analysis/model.h"
#include "analysis/waker_stacks.h"
#include "archive/pack.h"
#include "archive/unpacked_recording.h"
#include "archive/write_all.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/fd_stream.h"
#include "cli/output_file.h"
#include "cli/recording_file.h"
#include "export/collapsed.h"
#include "export/csv.h"
#include "export/html.h"
#include "export/pprof.h"
#include "export/report_wakers.h"
#include "export/speedscope.h"
#include "export/speedup_stack.h"
#include "recording/reader.h"

namespace tarsier::cli {
namespace {

struct Format {
  std::string_view name;
  bool binary;
  // Null of csv: export_csv(). `page`: what the page wants to know was asked while the model was loaded.
  Status (*write)(const analysis::Model& model, const exporting::PageParts& page, std::ostream& out);
  // Of formats that are made of the file as it is, not of what it means.
  Status (*convert)(std::span<const uint8_t> recording, int fd) = nullptr;
};
constexpr Format kFormats[] = {
    {"collapsed", false,
     [](const auto& model, const auto&, auto& out) { return exporting::export_collapsed(model, out); }},
    {"html", false,
     [](const auto& model, const auto& page, auto& out) {
       return exporting::export_html(model, title_of(model.file), out, page);
     }},
    {"pprof", true, [](const auto& model, const auto&, auto& out) { return exporting::export_pprof(model, out); }},
    {"speedscope", false,
     [](const auto& model, const auto&, auto& out) { return exporting::export_speedscope(model, out); }},
    {"svg", false,
     [](const auto& model, const auto&, auto& out) { return exporting::export_speedup_stack(model, out); }},
    {"csv", false, nullptr},
    {"jfr", true, nullptr, archive::write_all},
    {"jfr.zst", true, nullptr, archive::pack},
};

constexpr Option kOptions[] = {
    {.name = "to",
     .kind = Kind::kWord,
     .value = "FORMAT",
     .help = "what to make of it",
     .allowed = "collapsed,html,pprof,speedscope,svg,csv,jfr,jfr.zst"},
    kWeightOption,
    {.name = "wakers", .help = "with --weight waits: who ended them, above the stacks that waited"},
    kAgainstOption,
    kPerOption,
    {.name = "output",
     .letter = 'o',
     .kind = Kind::kFile,
     .value = "OUT",
     .help = "the file; - is stdout",
     .otherwise = "stdout"},
};
constexpr CommandSpec kSpec = {
    .name = "export",
    .summary = "turn a recording into what other tools or a browser read",
    .operands = "FILE --to FORMAT",
    .max_operands = 1,
    .operand = Operand::kRecording,
    .options = kOptions,
    .notes =
        "collapsed: one line per stack with its count (of alloc: bytes; of waits, locks and owners: ns), as flame "
        "graph "
        "tools read it.\n"
        "html: an interactive flame graph in one file that needs nothing else. With --against FILE it shows both: "
        "boxes\n"
        "are as wide as the mean of the two, coloured by what changed; what is gone is there, too.\n"
        "pprof: gzipped profile.proto, for go tool pprof and its kin. Files of methods are derived from class names.\n"
        "speedscope: its JSON; all threads and the busiest ones, equal stacks merged (look at Left Heavy).\n"
        "svg: a picture of where the time of all CPUs went, second by second: application, GC, JIT, VM, other "
        "processes,\n"
        "stolen, idle (a speedup stack).\n"
        "csv: lock contentions, a row for each piece with another owner, for spreadsheets and other analysis. A name "
        "that a\n"
        "spreadsheet would take for a formula gets a ' in front.\n"
        "--wakers: above each stack that waited the frame [woken by], then the waker's frames, innermost first.\n"
        "jfr.zst: the recording itself, packed by zstd to a half or less; every command reads it as it is.\n"
        "jfr: the recording itself, unpacked, as other tools want it.\n"
        "OUT appears (and replaces an older one) only when it is complete; a symbolic link is refused.",
};

const Format& format_named(std::string_view name) {
  return *std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& f) { return f.name == name; });
}

Status through_stream(int fd, const std::function<Status(std::ostream& out)>& write) {
  FdBuffer buffer(fd);
  std::ostream out(&buffer);
  auto written = write(out);
  out.flush();
  auto finished = buffer.finish();  // names the cause where the stream only knows that it failed
  return finished ? std::move(written) : std::move(finished);
}

bool to_stdout(const Arguments& arguments) {
  return !arguments.has("output") || arguments.text("output") == "-";
}

// Through `write`, to the file that was asked for or to stdout.
Status write_output(const Arguments& arguments, const std::function<Status(int fd)>& write) {
  if (to_stdout(arguments)) {
    auto written = write(STDOUT_FILENO);
    return written ? std::move(written) : std::move(written).error().in("stdout");
  }
  auto output = OutputFile::create(arguments.text("output"));
  if (!output) return std::move(output).error();
  auto written = write(output->fd());
  return written ? output->publish() : std::move(written).error().in(output->path());
}

int export_file(const Arguments& arguments, const Format& format) {
  const auto path = recording_operand("export", arguments.operands);
  if (!path) return fail(path.error());
  const auto file = archive::UnpackedRecording::open(*path);
  if (!file) return fail(file.error());
  if (auto checked = recording::Recording::over(file->bytes()); !checked) {
    return fail(std::move(checked).error().in(*path));
  }
  const auto written = write_output(arguments, [&](int fd) { return format.convert(file->bytes(), fd); });
  if (!written) return fail(written.error());
  return tell_problems(file->problems(), !file->problems().empty());
}

Status show_wakers(analysis::Model& model) {
  if (model.profile != analysis::Profile::kWaits) return Error{Errc::kUsage, "--wakers is for --weight waits"};
  if (!exporting::wakers_recorded(model)) {
    return Error{Errc::kFailed, model.file +
                                    " does not tell who ended its waits; record --waits --waits-by ebpf does (as root, "
                                    "or with CAP_BPF and CAP_PERFMON)"};
  }
  analysis::put_wakers_on_top(model);
  return {};
}

void warn_no_period(const analysis::Model& model) {
  if (!analysis::tells_its_period(model)) say("warning: " + model.file + ": " + std::string(analysis::kNoPeriod));
}

// A differential flame graph.
int export_against(const Arguments& arguments, const analysis::Model& model) {
  const std::string file = arguments.text("against");
  const std::string files[] = {file, model.file};
  if (Status different = check_different(files); !different) return fail(different.error());
  auto before = load_recording(file, model.corrected ? kCorrected : analysis::about(model.profile).name);
  if (!before) return fail(before.error());
  if (arguments.has("wakers")) {
    if (Status shown = show_wakers(*before); !shown) return fail(shown.error());
  }
  const auto per = analysis::value_named(arguments.text("per"), analysis::kScales);
  const auto written = write_output(arguments, [&](int fd) {
    return through_stream(fd, [&](std::ostream& out) {
      const std::string title = title_of(model.file) + " against " + title_of(before->file);
      return exporting::export_html_against(model, *before, per, title, out);
    });
  });
  if (!written) return fail(written.error());
  warn_no_period(*before);
  warn_no_period(model);
  return std::max(tell_problems(*before), tell_problems(model));
}

// Row by row, while the recording is read: there may be more of them than memory.
int export_csv(const Arguments& arguments) {
  std::optional<Result<analysis::Model>> model;
  const auto written = write_output(arguments, [&](int fd) {
    return through_stream(fd, [&](std::ostream& out) -> Status {
      exporting::CsvExport rows(out);
      analysis::LockPass locks(rows.question());
      model.emplace(load_recording_operand("export", arguments, &locks));
      if (!*model) return model->error();
      return rows.finish();
    });
  });
  if (model && !*model) return fail(model->error());
  if (!written) return fail(written.error());
  return tell_problems(**model);
}

int run_export(const Arguments& arguments) {
  if (!arguments.has("to"))
    return fail(Error{Errc::kUsage, "into which format? --to " + listed(kOptions[0].allowed, " or --to ")});
  const Format& format = format_named(arguments.text("to"));
  if (format.binary && to_stdout(arguments) && ::isatty(STDOUT_FILENO) != 0) {
    return fail(Error{Errc::kUsage, std::string(format.name) + " is nothing for a terminal: name a file by -o OUT"});
  }
  if (arguments.has("against") && format.name != "html") {
    return fail(Error{Errc::kUsage, "--against is for --to html; tarsier compare tells in words what changed"});
  }
  if (arguments.has("wakers") && format.write == nullptr) {
    return fail(Error{Errc::kUsage, "--wakers is for stacks, which " + std::string(format.name) + " does not show"});
  }
  if (!to_stdout(arguments)) {
    std::vector<std::string> files = arguments.operands;
    if (arguments.has("against")) files.push_back(arguments.text("against"));
    if (Status checked = check_output(arguments.text("output"), files); !checked) return fail(checked.error());
  }
  if (format.convert != nullptr) return export_file(arguments, format);
  if (format.write == nullptr) return export_csv(arguments);
  // The page shows locks, too: of a large recording only while it is read.
  exporting::PageParts page;
  analysis::LockPass locks(format.name == "html" ? std::optional(page.question()) : std::nullopt);
  auto model = load_recording_operand("export", arguments, &locks);
  if (!model) return fail(model.error());
  if (arguments.has("wakers")) {
    if (Status shown = show_wakers(*model); !shown) return fail(shown.error());
  }
  if (arguments.has("against")) return export_against(arguments, *model);
  const auto written = write_output(arguments, [&](int fd) {
    return through_stream(fd, [&](std::ostream& out) { return format.write(*model, page, out); });
  });
  if (!written) return fail(written.error());
  warn_no_period(*model);
  return tell_problems(*model);
}

}  // namespace

const Command kExport = {kSpec, run_export};

}  // namespace tarsier::cli
