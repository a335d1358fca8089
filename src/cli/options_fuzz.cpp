// Any words at all: as options of the command (one per line), as an agent string, as a duration and as a size. What is
// accepted must mean the same when it is written down and read again.
#include "cli/options.h"

#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "base/parse.h"
#include "cli/command.h"
#include "control/options.h"
#include "export/page_template.h"

// The commands' table links the html export, and with it the page, which fuzzers are built without.
std::string_view tarsier::exporting::page_template() {
  return {};
}

namespace {

using namespace tarsier;

void check(bool holds) {
  if (!holds) std::abort();
}

void as_arguments(const cli::CommandSpec& spec, const std::vector<std::string>& words) {
  const auto arguments = cli::parse_arguments(spec, words);
  if (!arguments) {
    check(arguments.error().code == Errc::kUsage && !arguments.error().what.empty());
    return;
  }
  for (const cli::Option& option : spec.options) {
    (void)arguments->text(option.name);
    switch (option.kind) {
      case cli::Kind::kDuration:
        check(arguments->duration(option.name).count >= 0);
        break;
      case cli::Kind::kRange:
        check(arguments->range(option.name).first.count >= 0 && arguments->range(option.name).second.count >= 0);
        break;
      case cli::Kind::kSize:
        check(arguments->size(option.name).count >= 0);
        break;
      case cli::Kind::kWords:
        (void)arguments->words(option.name);
        break;
      case cli::Kind::kShare:
        check(arguments->share(option.name) >= 0 && arguments->share(option.name) <= 1);
        break;
      case cli::Kind::kNumber: {
        const int64_t number = arguments->number(option.name);
        check(!arguments->has(option.name) || (number >= option.min && number <= option.max));
        break;
      }
      default:
        break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::istringstream lines(text);
  std::vector<std::string> words;
  for (std::string line; std::getline(lines, line);) words.push_back(line);
  for (const cli::Command* command : {&cli::kRecord, &cli::kReport, &cli::kExport}) as_arguments(command->spec, words);

  if (const auto agent = control::parse_agent_string(text)) {
    const auto again = control::parse_agent_string(control::to_agent_string(agent->session));
    check(again && again->session == agent->session);
  }
  if (const auto duration = parse_duration(text)) {
    const auto again = parse_duration(format_duration(*duration));
    // The number is a double on the way: exact as far as that goes.
    check(again && (duration->count >= int64_t{1} << 53 || again->count == duration->count));
  }
  if (const auto bytes = parse_size(text)) check(bytes->count >= 0);
  return 0;
}
