// tarsier export
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <string_view>

#include "analysis/model.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/fd_stream.h"
#include "cli/output_file.h"
#include "cli/recording_file.h"
#include "export/collapsed.h"
#include "export/html.h"

namespace tarsier::cli {
namespace {

struct Format {
  std::string_view name;
  Status (*write)(const analysis::Model& model, std::ostream& out);
};
constexpr Format kFormats[] = {
    {"collapsed", exporting::export_collapsed},
    {"html",
     [](const analysis::Model& model, std::ostream& out) {
       return exporting::export_html(model, model.file.substr(model.file.rfind('/') + 1), out);
     }},
};

constexpr Option kOptions[] = {
    {.name = "to", .kind = Kind::kWord, .value = "FORMAT", .help = "what to make of it", .allowed = "collapsed,html"},
    {.name = "output", .letter = 'o', .kind = Kind::kText, .value = "OUT", .help = "the file", .otherwise = "stdout"},
};
constexpr CommandSpec kSpec = {
    .name = "export",
    .summary = "turn a recording into what other tools or a browser read",
    .operands = "FILE --to FORMAT",
    .max_operands = 1,
    .options = kOptions,
    .notes =
        "collapsed: one line per stack with its count, as flame graph tools read it.\n"
        "html: an interactive flame graph in one file that needs nothing else.\n"
        "OUT appears (and replaces an older one) only when it is complete; a symbolic link is refused.",
};

const Format& format_named(std::string_view name) {
  return *std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& f) { return f.name == name; });
}

Status write_to(int fd, const Format& format, const analysis::Model& model) {
  FdBuffer buffer(fd);
  std::ostream out(&buffer);
  auto written = format.write(model, out);
  out.flush();
  auto finished = buffer.finish();  // names the cause where the stream only knows that it failed
  return finished ? std::move(written) : std::move(finished);
}

int run_export(const Arguments& arguments) {
  if (!arguments.has("to")) return fail(Error{Errc::kUsage, "into which format? --to collapsed or --to html"});
  const auto model = load_recording("export", arguments.operands);
  if (!model) return fail(model.error());
  const Format& format = format_named(arguments.text("to"));
  if (!arguments.has("output")) {
    if (auto written = write_to(STDOUT_FILENO, format, *model); !written) {
      return fail(std::move(written).error().in("stdout"));
    }
    return tell_problems(*model);
  }
  auto output = OutputFile::create(arguments.text("output"));
  if (!output) return fail(output.error());
  auto written = write_to(output->fd(), format, *model);
  if (!written) return fail(std::move(written).error().in(output->path()));
  if (auto published = output->publish(); !published) return fail(published.error());
  return tell_problems(*model);
}

}  // namespace

const Command kExport = {kSpec, run_export};

}  // namespace tarsier::cli
