#include "cli/man_page.h"

#include <algorithm>

namespace tarsier::cli {
namespace {

// Plain text for troff: hyphens stay what they are, and no line is taken for a request.
std::string escaped(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

// One output line for each of the text's; indented ones are examples.
std::string lines(std::string_view text) {
  std::string result;
  bool example = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("  ") != example) {
      result += example ? ".EE\n" : ".EX\n";
      example = !example;
    } else if (!result.empty() && !example) {
      result += ".br\n";
    }
    result += escaped(line) + "\n";
  }
  return result + (example ? ".EE\n" : "");
}

std::string title(std::string_view page) {
  std::string upper(page);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return ".TH " + escaped(upper) + " 1 \"\" \"tarsier " + std::string(version()) + "\" \"tarsier\"\n";
}

std::string name_section(std::string_view page, std::string_view summary) {
  return title(page) + ".SH NAME\n" + escaped(page) + " \\- " + escaped(summary) + "\n";
}

std::string exit_status() {
  std::string text = ".SH \"EXIT STATUS\"\n";
  for (const ExitCode& code : exit_codes()) {
    text += ".TP\n.B " + std::to_string(code.code) + "\n" + escaped(code.meaning) + "\n";
  }
  return text;
}

std::string option(const Option& option) {
  std::string text = ".TP\n";
  if (option.letter != 0) text += std::string("\\fB\\-") + option.letter + "\\fR, ";
  text += "\\fB\\-\\-" + escaped(option.name) + "\\fR";
  return text + "\\fI" + escaped(value_shown(option)) + "\\fR\n" + escaped(explained(option)) + "\n";
}

}  // namespace

std::string man_page() {
  std::string text = name_section("tarsier", kSummary);
  text +=
      ".SH SYNOPSIS\n.B tarsier\n.I COMMAND\n[\\fIOPTIONS\\fR] ...\n.SH DESCRIPTION\n"
      "Attaches to a running HotSpot JVM, samples where its CPU time goes, writes a standard JFR file, and shows what "
      "is "
      "in\nit. Results go to stdout, everything else to stderr.\n.SH COMMANDS\n";
  for (const Command* command : commands()) {
    text += ".TP\n.B " + escaped(command->spec.name) + "\n" + escaped(command->spec.summary) + "\n";
  }
  text += exit_status();
  text += ".PP\nAfter \\fBrecord \\-\\-\\fR \\fICMD\\fR a failing program's own code wins.\n";
  text +=
      ".SH ENVIRONMENT\n.TP\n.B TMPDIR\nWhere packed recordings (.jfr.zst) are unpacked to be read; else /var/tmp.\n"
      ".TP\n.B NO_COLOR\nNo colours on a terminal.\n.SH \"SEE ALSO\"\n";
  std::string separator;
  for (const Command* command : commands()) {
    text += separator + ".BR tarsier\\-" + escaped(command->spec.name) + " (1)";
    separator = ",\n";
  }
  return text + "\n";
}

std::string man_page(const CommandSpec& spec) {
  const std::string page = "tarsier-" + std::string(spec.name);
  std::string text = name_section(page, spec.summary) + ".SH SYNOPSIS\n.B tarsier " + escaped(spec.name) +
                     "\n[\\fIOPTIONS\\fR]" + (spec.operands.empty() ? "" : " ") + escaped(spec.operands) + "\n";
  text += ".SH OPTIONS\n";
  for (const Option& one : all_options(spec)) text += option(one);
  if (!spec.notes.empty()) text += ".SH NOTES\n" + lines(spec.notes);
  return text + exit_status() + ".SH \"SEE ALSO\"\n.BR tarsier (1)\n";
}

}  // namespace tarsier::cli
