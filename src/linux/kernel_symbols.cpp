#include "linux/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>

namespace tarsier::linux {
namespace {

struct Line {
  uint64_t address = 0;
  char type = 0;
  std::string_view name;
};

// "ffffffff81000000 T _text\t[module]"
bool parse(std::string_view text, Line& line) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), line.address, 16);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  if (text.size() < 4) return false;
  line.type = text[1];
  line.name = text.substr(3);
  line.name = line.name.substr(0, line.name.find_first_of("\t\n "));
  return true;
}

template <class Visit>
void for_each_line(const std::string& path, Visit&& visit) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  if (file == nullptr) return;
  char buffer[1024];
  Line line;
  while (std::fgets(buffer, sizeof(buffer), file.get()) != nullptr) {
    if (parse(buffer, line) && !visit(line)) return;
  }
}

}  // namespace

bool KernelSymbols::available() const {
  bool real = false;
  for_each_line(path_, [&](const Line& line) {
    real = line.address != 0;
    return !real && line.name != "_text";
  });
  return real;
}

void KernelSymbols::load() {
  loaded_ = true;
  for_each_line(path_, [&](const Line& line) {
    if (std::string_view("tTwW").find(line.type) == std::string_view::npos || line.address == 0) return true;
    functions_.push_back({line.address, static_cast<uint32_t>(names_.size()), static_cast<uint32_t>(line.name.size())});
    names_ += line.name;
    return true;
  });
  functions_.shrink_to_fit();
  names_.shrink_to_fit();
  // The file is sorted but for modules.
  std::sort(functions_.begin(), functions_.end(),
            [](const Function& a, const Function& b) { return a.start < b.start; });
}

std::string_view KernelSymbols::find(uint64_t address) {
  if (!loaded_) load();
  const auto after =
      std::upper_bound(functions_.begin(), functions_.end(), address,
                       [](uint64_t wanted, const Function& function) { return wanted < function.start; });
  if (after == functions_.begin()) return "[kernel]";
  const Function& function = *(after - 1);
  return std::string_view(names_).substr(function.name, function.length);
}

KernelPlaces KernelPlaces::read(std::vector<std::string> names, const std::string& path) {
  KernelPlaces all;
  for (std::string& name : names) all.places_.push_back({std::move(name)});
  std::vector<Place*> open;  // whose end has not come yet
  for_each_line(path, [&](const Line& line) {
    if (line.address == 0) return true;
    // In the kernel itself symbols come in the order of their addresses; several may have the same one.
    std::erase_if(open, [&](Place* place) {
      if (line.address == place->begin) return false;
      if (line.address > place->begin) place->end = line.address;
      return true;
    });
    for (Place& place : all.places_) {
      if (place.begin != 0 || place.name != line.name) continue;
      place.begin = line.address;
      open.push_back(&place);
    }
    return true;
  });
  return all;
}

const KernelPlaces::Place* KernelPlaces::find(std::string_view name) const {
  const auto it = std::find_if(places_.begin(), places_.end(), [&](const Place& place) { return place.name == name; });
  return it != places_.end() ? &*it : nullptr;
}

uint64_t KernelPlaces::of(std::string_view name) const {
  const Place* place = find(name);
  return place != nullptr ? place->begin : 0;
}

uint64_t KernelPlaces::end_of(std::string_view name) const {
  const Place* place = find(name);
  return place != nullptr ? place->end : 0;
}

}  // namespace tarsier::linux
