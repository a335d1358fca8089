#include "dump/header.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_set>

namespace tarsier::dump {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

template <class Number>
std::optional<Number> number_at(std::string_view text, int base) {
  Number value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || rest == text.data()) return std::nullopt;
  return value;
}

// 0x4c1e up to 20, 19486 since then.
std::optional<int64_t> id_at(std::string_view text) {
  return text.starts_with("0x") ? number_at<int64_t>(text.substr(2), 16) : number_at<int64_t>(text, 10);
}

// 4.75ms
std::optional<double> decimal_at(std::string_view text) {
  double value = 0;
  const auto error = std::from_chars(text.data(), text.data() + text.size(), value).ec;
  return error == std::errc() && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// _java_thread_list=0x.., length=2, elements={ 0x.., 0x.. }, before the first thread. None in 8.
std::unordered_set<uint64_t> announced_threads(std::string_view text) {
  std::unordered_set<uint64_t> addresses;
  const std::string_view head = text.substr(0, text.find("\n\""));
  const size_t list = head.find("\n_java_thread_list=");
  const size_t open = list == kNowhere ? kNowhere : head.find("elements={", list);
  if (open == kNowhere) return addresses;
  const std::string_view elements = head.substr(open, head.find('}', open) - open);
  for (size_t at = elements.find("0x"); at != kNowhere; at = elements.find("0x", at + 2)) {
    if (const auto address = number_at<uint64_t>(elements.substr(at + 2, 16), 16)) addresses.insert(*address);
  }
  return addresses;
}

// Java threads have a number, those of the JVM have none.
bool has_number(std::string_view attributes) {
  return attributes.starts_with(" #") && attributes.size() > 2 && attributes[2] >= '0' && attributes[2] <= '9';
}

}  // namespace

// One pass, whatever a name contains.
Headers find_headers(std::string_view text) {
  constexpr std::string_view kAddress = " tid=0x";
  auto announced = announced_threads(text);
  const bool has_list = !announced.empty();
  Headers headers;
  size_t quote = kNowhere;     // the last one in this line
  size_t name_end = kNowhere;  // of the last header in this line: one before it is a part of its name
  uint64_t thread = 0;
  const auto end_line = [&](size_t at) {
    if (name_end != kNowhere) {
      headers.found.push_back({name_end, at});
      announced.erase(thread);
    }
    quote = name_end = kNowhere;
  };
  for (size_t at = text.find_first_of("\"\n "); at != kNowhere; at = text.find_first_of("\"\n ", at + 1)) {
    if (text[at] == '"') {
      quote = at;
    } else if (text[at] == '\n') {
      end_line(at);
    } else if (quote != kNowhere && text.substr(at, kAddress.size()) == kAddress) {
      const uint64_t address = number_at<uint64_t>(text.substr(at + kAddress.size(), 16), 16).value_or(0);
      if (!(has_list ? announced.contains(address) : has_number(text.substr(quote + 1, at - quote)))) continue;
      name_end = quote;
      thread = address;
    }
  }
  end_line(text.size());
  headers.missing = announced.size();
  return headers;
}

void parse_attributes(std::string_view attributes, Thread& thread) {
  while (!attributes.empty()) {
    attributes.remove_prefix(std::min(attributes.find_first_not_of(' '), attributes.size()));
    const std::string_view word = attributes.substr(0, attributes.find(' '));
    attributes.remove_prefix(word.size());
    const auto value_of = [word](std::string_view key) {
      return word.starts_with(key) ? std::optional(word.substr(key.size())) : std::nullopt;
    };
    if (const auto number = value_of("#")) thread.id = number_at<int64_t>(*number, 10).value_or(0);
    if (const auto number = value_of("prio=")) thread.priority = number_at<int>(*number, 10).value_or(0);
    if (const auto number = value_of("nid=")) thread.native_id = id_at(*number).value_or(0);
    if (const auto number = value_of("cpu=")) thread.cpu_ms = decimal_at(*number);
    if (const auto number = value_of("elapsed=")) thread.elapsed_s = decimal_at(*number);
    if (word == "daemon") thread.daemon = true;
    if (word.starts_with("nid=")) return;  // words follow
  }
}

}  // namespace tarsier::dump
