#include "control/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <iterator>

#include "base/parse.h"

namespace tarsier::control {
namespace {

// One row per word of the agent string: how it is read, and how it is written back when it differs from the default.
struct Row {
  std::string_view name;
  enum class Takes { kNothing, kValue, kMaybe } takes;
  Status (*read)(AgentString&, std::string_view);
  std::string (*write)(const SessionOptions&);  // nullptr: no part of a session
};

constexpr std::string_view kLockDetails[] = {"rw", "semaphore", "stamped", "latch"};

template <class T>
Status assign(T& target, Result<T> parsed) {
  if (!parsed) return std::move(parsed).error();
  target = *parsed;
  return {};
}

// MIN or MIN-MAX
Status read_waits(SessionOptions& options, std::string_view text) {
  const size_t dash = text.find('-');
  if (Status status = assign(options.waits_min, parse_duration(text.substr(0, dash))); !status) return status;
  if (dash == std::string_view::npos) return {};
  if (Status status = assign(options.waits_max, parse_duration(text.substr(dash + 1))); !status) return status;
  if (options.waits_max >= options.waits_min) return {};
  return Error{Errc::kUsage, "'" + std::string(text) + "': the longest wait is shorter than the shortest"};
}

std::string write_waits(const SessionOptions& options) {
  if (!options.waits) return {};
  const std::string max = options.waits_max.count == 0 ? "" : "-" + format_duration(options.waits_max);
  return format_duration(options.waits_min) + max;
}

// As the command has them, but for the commas: rw+semaphore
Status read_lock_detail(SessionOptions& options, std::string_view text) {
  std::string words;
  while (!text.empty()) {
    const size_t plus = text.find('+');
    const std::string_view word = text.substr(0, plus);
    text = plus == std::string_view::npos ? std::string_view() : text.substr(plus + 1);
    if (std::find(std::begin(kLockDetails), std::end(kLockDetails), word) == std::end(kLockDetails)) {
      return Error{Errc::kUsage, "'" + std::string(word) + "' is none of rw, semaphore, stamped and latch"};
    }
    words += (words.empty() ? "" : ",") + std::string(word);
  }
  options.lock_detail = words;
  options.lock = "owner";
  return {};
}

// The agent string is split at commas, which a regular expression may contain.
std::string without_commas(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == ',' ? "%2c" : c == '%' ? "%25" : std::string(1, c);
  return escaped;
}

std::string with_commas(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view escape = text.substr(i, 3);
    const bool is_escape = escape == "%2c" || escape == "%25";
    plain += is_escape ? (escape == "%2c" ? ',' : '%') : text[i];
    i += is_escape ? 2 : 0;
  }
  return plain;
}

constexpr std::array<Row, 27> kRows = {{
    {"cpu", Row::Takes::kNothing,
     [](AgentString& a, std::string_view) -> Status {
       a.session.cpu = true;
       return {};
     },
     [](const SessionOptions& o) -> std::string { return o.cpu ? "cpu" : ""; }},
    {"alloc", Row::Takes::kMaybe,
     [](AgentString& a, std::string_view v) -> Status {
       a.session.alloc = true;
       if (v.empty()) return {};
       if (Status status = assign(a.session.alloc_interval, parse_size(v)); !status) return status;
       if (a.session.alloc_interval.count > kMaxAllocInterval.count) {
         return Error{Errc::kUsage, "'" + std::string(v) + "' is too much; the most is 1g"};
       }
       return {};
     },
     [](const SessionOptions& o) -> std::string { return o.alloc ? std::to_string(o.alloc_interval.count) : ""; }},
    {"waits", Row::Takes::kMaybe,
     [](AgentString& a, std::string_view v) -> Status {
       a.session.waits = true;
       return v.empty() ? Status() : read_waits(a.session, v);
     },
     write_waits},
    {"waitsby", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       if (v != "ebpf" && v != "watcher") {
         return Error{Errc::kUsage, "'" + std::string(v) + "' finds no waits: write ebpf or watcher"};
       }
       a.session.waits_by = v;
       return {};
     },
     [](const SessionOptions& o) { return o.waits_by; }},
    {"waitsbudget", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) { return assign(a.session.waits_budget, parse_share(v)); },
     [](const SessionOptions& o) {
       return o.waits_budget == kDefaultWaitsBudget ? std::string() : format_share(o.waits_budget);
     }},
    {"lock", Row::Takes::kMaybe,
     [](AgentString& a, std::string_view v) -> Status {
       if (!v.empty() && v != "blocked" && v != "owner") {
         return Error{Errc::kUsage, "'" + std::string(v) + "' is no side of a lock: write blocked or owner"};
       }
       a.session.lock = v.empty() ? "owner" : v;
       return {};
     },
     [](const SessionOptions& o) { return o.lock; }},
    {"lockdetail", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) { return read_lock_detail(a.session, v); },
     [](const SessionOptions& o) {
       std::string words = o.lock_detail;
       std::replace(words.begin(), words.end(), ',', '+');
       return words;
     }},
    {"nohooks", Row::Takes::kNothing,
     [](AgentString& a, std::string_view) -> Status {
       a.session.no_hooks = true;
       return {};
     },
     [](const SessionOptions& o) -> std::string { return o.no_hooks ? "nohooks" : ""; }},
    {"engine", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       a.session.engine = v;
       return {};
     },
     [](const SessionOptions& o) { return o.engine; }},
    {"threads", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       a.session.threads = with_commas(v);
       return {};
     },
     [](const SessionOptions& o) { return without_commas(o.threads); }},
    {"clock", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       a.session.clock = v;
       return {};
     },
     [](const SessionOptions& o) { return o.clock; }},
    {"interval", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) { return assign(a.session.interval, parse_duration(v)); },
     [](const SessionOptions& o) { return o.interval.count == 0 ? "" : format_duration(o.interval); }},
    {"duration", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) { return assign(a.session.duration, parse_duration(v)); },
     [](const SessionOptions& o) { return o.duration.count == 0 ? "" : format_duration(o.duration); }},
    {"counters", Row::Takes::kMaybe,
     [](AgentString& a, std::string_view v) -> Status {
       a.session.counters = v.empty() || v == "default" ? kDefaultCounters : v;
       std::replace(a.session.counters.begin(), a.session.counters.end(), '+', ',');
       return {};
     },
     [](const SessionOptions& o) {
       std::string words = o.counters;
       std::replace(words.begin(), words.end(), ',', '+');
       return words;
     }},
    {"account", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       if (Status status = assign(a.session.account, parse_duration(v)); !status) return status;
       if (a.session.account < kFinestAccount || a.session.account > kCoarsestAccount) {
         return Error{Errc::kUsage, "'" + std::string(v) + "' is not between 10ms and 1s"};
       }
       return {};
     },
     [](const SessionOptions& o) { return o.account == SessionOptions().account ? "" : format_duration(o.account); }},
    {"stealby", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       if (v != "cpu" && v != "schedule") {
         return Error{Errc::kUsage, "'" + std::string(v) + "' splits no stolen time: write cpu or schedule"};
       }
       a.session.steal_by = v == "cpu" ? "" : v;
       return {};
     },
     [](const SessionOptions& o) { return o.steal_by; }},
    {"procfs", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       a.session.procfs = with_commas(v);
       return {};
     },
     [](const SessionOptions& o) { return without_commas(o.procfs); }},
    {"memory", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) { return assign(a.session.memory, parse_size(v)); },
     [](const SessionOptions& o) { return o.memory == SessionOptions().memory ? "" : std::to_string(o.memory.count); }},
    {"maxdepth", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       int depth = 0;
       const auto [rest, error] = std::from_chars(v.data(), v.data() + v.size(), depth);
       if (error != std::errc() || rest != v.data() + v.size() || depth < 1 || depth > 8192) {
         return Error{Errc::kUsage, "'" + std::string(v) + "' is no depth: write a number from 1 to 8192"};
       }
       a.session.max_depth = depth;
       return {};
     },
     [](const SessionOptions& o) {
       return o.max_depth == SessionOptions().max_depth ? "" : std::to_string(o.max_depth);
     }},
    {"native", Row::Takes::kNothing,
     [](AgentString& a, std::string_view) -> Status {
       a.session.native = true;
       return {};
     },
     [](const SessionOptions& o) -> std::string { return o.native ? "native" : ""; }},
    {"walks", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       if (v != "whole" && v != "both" && v != "agct") {
         return Error{Errc::kUsage, "'" + std::string(v) + "' is no way to walk: write whole, both or agct"};
       }
       a.session.walks = v;
       return {};
     },
     [](const SessionOptions& o) { return o.walks; }},
    {"savefragments", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       int one_of = 0;
       const auto [rest, error] = std::from_chars(v.data(), v.data() + v.size(), one_of);
       if (error != std::errc() || rest != v.data() + v.size() || one_of < 1 || one_of > kMaxSaveFragments) {
         return Error{Errc::kUsage, "'" + std::string(v) + "' is no number from 1 to 1000000"};
       }
       a.session.save_fragments = one_of;
       return {};
     },
     [](const SessionOptions& o) { return o.save_fragments == 0 ? "" : std::to_string(o.save_fragments); }},
    {"fragmentsize", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) { return assign(a.session.fragment_size, parse_size(v)); },
     [](const SessionOptions& o) { return o.fragment_size.count == 0 ? "" : std::to_string(o.fragment_size.count); }},
    {"chunksize", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) { return assign(a.session.chunk_size, parse_size(v)); },
     [](const SessionOptions& o) {
       return o.chunk_size == SessionOptions().chunk_size ? "" : std::to_string(o.chunk_size.count);
     }},
    {"chunktime", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) { return assign(a.session.chunk_age, parse_duration(v)); },
     [](const SessionOptions& o) {
       return o.chunk_age == SessionOptions().chunk_age ? "" : format_duration(o.chunk_age);
     }},
    {"file", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       a.file = v;
       return {};
     },
     nullptr},
    {"connect", Row::Takes::kValue,
     [](AgentString& a, std::string_view v) -> Status {
       a.connect = v;
       return {};
     },
     nullptr},
}};

std::string known_words() {
  std::string words;
  for (const Row& row : kRows) {
    if (!words.empty()) words += ", ";
    words += row.name;
  }
  return words;
}

Status read_word(AgentString& result, std::string_view word) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    const bool has_value = equals != std::string_view::npos && equals + 1 < word.size();
    if (!has_value && (row.takes == Row::Takes::kValue || (row.takes == Row::Takes::kMaybe && equals < word.size()))) {
      return Error{Errc::kUsage,
                   "agent option '" + std::string(name) + "' needs a value, as in " + std::string(name) + "=..."};
    }
    if (row.takes == Row::Takes::kNothing && equals != std::string_view::npos) {
      return Error{Errc::kUsage, "agent option '" + std::string(name) + "' takes no value"};
    }
    Status status = row.read(result, has_value ? word.substr(equals + 1) : std::string_view());
    if (!status) return std::move(status).error().in("agent option '" + std::string(name) + "'");
    return {};
  }
  return Error{Errc::kUsage, "agent option '" + std::string(name) + "' is not known; known are " + known_words()};
}

}  // namespace

Result<AgentString> parse_agent_string(std::string_view text) {
  AgentString result;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (word.empty()) continue;
    Status status = read_word(result, word);
    if (!status) return std::move(status).error();
  }
  if (!result.file.empty() && !result.connect.empty()) {
    return Error{Errc::kUsage, "agent options 'file' and 'connect' exclude each other"};
  }
  return result;
}

std::string to_agent_string(const SessionOptions& options) {
  std::string text;
  for (const Row& row : kRows) {
    if (row.write == nullptr) continue;
    const std::string value = row.write(options);
    if (value.empty()) continue;
    if (!text.empty()) text += ',';
    text += row.name;
    if (row.takes != Row::Takes::kNothing) text += '=' + value;
  }
  return text;
}

}  // namespace tarsier::control
