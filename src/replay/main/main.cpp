// tarsier-replay: a developer's tool, see docs/replay.md.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "replay/corpus.h"
#include "replay/replay.h"

namespace tarsier::replay {
namespace {

struct Options {
  bool check = false;
  size_t only = 0;  // 0: all
  std::string write;
  size_t most = 20;
  std::vector<std::string> files;
};

bool read_number(std::string_view text, size_t& out) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && rest == text.data() + text.size() && out > 0;
}

// One row per option: the help is made of it, too.
struct Row {
  std::string_view name, value, help;  // an empty value: it takes none
  bool (*read)(Options&, std::string_view);
};
constexpr Row kRows[] = {
    {"--check", "", "print only the stacks that are not as saved, and exit with 1 if there are any",
     [](Options& o, std::string_view) { return o.check = true; }},
    {"--only", "N", "just the Nth fragment of a file",
     [](Options& o, std::string_view v) { return read_number(v, o.only); }},
    {"--write", "OUT", "write a few fragments that differ much into OUT (.jfr or .jfr.zst), with today's results",
     [](Options& o, std::string_view v) { return !(o.write = v).empty(); }},
    {"--most", "N", "so many of them at most (default: 20)",
     [](Options& o, std::string_view v) { return read_number(v, o.most); }},
};

std::string help() {
  std::string text =
      "usage: tarsier-replay [OPTIONS] FILE..\n"
      "Decodes the stack fragments again that tarsier record --save-fragments has kept, and prints their stacks.\n\n";
  for (const Row& row : kRows) {
    std::string left(row.name);
    if (!row.value.empty()) left += " " + std::string(row.value);
    left.resize(14, ' ');
    text += "  " + left + std::string(row.help) + "\n";
  }
  return text + "  --help        this text\n";
}

// Empty if they are understood, else what is wrong.
std::string parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      options.files.emplace_back(word);
      continue;
    }
    const Row* found = nullptr;
    for (const Row& row : kRows) {
      if (row.name == word) found = &row;
    }
    if (found == nullptr) return "there is no option " + std::string(word);
    if (!found->value.empty() && i + 1 >= argc) return std::string(word) + " needs a value";
    if (!found->read(options, found->value.empty() ? "" : argv[++i])) {
      return "'" + std::string(argv[i]) + "' is no value for " + std::string(word);
    }
  }
  if (options.files.empty()) return "which recording?";
  if (!options.write.empty() && options.files.size() != 1) return "--write takes one recording";
  return "";
}

void say(const std::string& text) {
  std::fprintf(stderr, "tarsier-replay: %s\n", text.c_str());
}

// False: there is something wrong, or different.
bool show(const std::string& file, const Options& options) {
  size_t number = 0, differ_from_written = 0;
  const auto summary = replay_file(file, [&](const Replayed& one) {
    ++number;
    differ_from_written += one.fragment.as_written ? 0 : 1;
    if (options.only != 0 && options.only != number) return;
    if (options.check && one.same()) return;
    const std::string title = file + ", fragment " + std::to_string(number) + ": " +
                              std::string(one.jvm.machine->name()) + ", JDK " + std::to_string(one.jvm.release) +
                              ", thread '" + one.fragment.thread + "'" + (one.same() ? "" : ", not as saved");
    std::printf("%s\n%s\n", title.c_str(),
                (one.same() ? one.result + "\n" : difference(one.fragment.result, one.result)).c_str());
  });
  if (!summary) {
    say(summary.error().what);
    return false;
  }
  for (const std::string& problem : summary->problems)
    say(std::string("warning: ").append(file).append(": ").append(problem));
  say(file + ": " + std::to_string(summary->fragments) + " fragments, " + std::to_string(summary->different) +
      " not as saved; of the stacks written at the time " + std::to_string(differ_from_written) +
      " knew more or other things, from other samples");
  return !options.check || (summary->different == 0 && summary->problems.empty());
}

bool keep(const Options& options) {
  const auto kept = write_corpus(options.files[0], options.write, {options.most, options.only});
  if (!kept) {
    say(kept.error().what);
    return false;
  }
  say(options.write + ": " + std::to_string(kept->fragments) + " of " + std::to_string(kept->of) + " fragments");
  return true;
}

int run(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    std::fputs(help().c_str(), stdout);
    return 0;
  }
  Options options;
  if (const std::string wrong = parse(argc, argv, options); !wrong.empty()) {
    say(wrong + "; tarsier-replay --help says more");
    return 2;
  }
  if (!options.write.empty()) return keep(options) ? 0 : 1;
  bool good = true;
  for (const std::string& file : options.files) good = show(file, options) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace tarsier::replay

int main(int argc, char** argv) {
  try {
    return tarsier::replay::run(argc, argv);
  } catch (const std::exception& wrong) {  // no memory
    std::fprintf(stderr, "tarsier-replay: %s\n", wrong.what());
    return 1;
  }
}
