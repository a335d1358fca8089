#include "analysis/alloc.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/index_table.h"
#include "analysis/profile.h"

namespace tarsier::analysis {
namespace {

// The interval of a Poisson count (Wilson-Hilferty, within 1 % of the exact one already for a count of 1).
Interval poisson_95(double n) {
  constexpr double kZ = 1.959963984540054;
  const auto cube = [](double x) { return x * x * x; };
  const double low = n > 0 ? n * cube(std::max(0.0, 1 - 1 / (9 * n) - kZ / (3 * std::sqrt(n)))) : 0;
  const double more = n + 1;
  return {low, more * cube(1 - 1 / (9 * more) + kZ / (3 * std::sqrt(more)))};
}

std::string_view primitive(char code) {
  switch (code) {
    case 'Z':
      return "boolean";
    case 'B':
      return "byte";
    case 'C':
      return "char";
    case 'S':
      return "short";
    case 'I':
      return "int";
    case 'J':
      return "long";
    case 'F':
      return "float";
    case 'D':
      return "double";
    default:
      return {};
  }
}

}  // namespace

void AllocEstimate::add(int64_t weight, double of_objects) {
  bytes += weight;
  objects += of_objects;
  samples += 1;
  // An object that stands for k of its size was drawn with the probability 1 / k; its part of the variance is
  // weight^2 (1 - 1 / k) (Horvitz and Thompson). Unknown sizes: as if all were small.
  const auto w = static_cast<double>(weight);
  variance += w * w * (of_objects >= 1 ? 1 - 1 / of_objects : 1);
}

Interval AllocEstimate::bytes_ci95() const {
  const auto mean = static_cast<double>(bytes);
  if (variance <= 0) return {mean, mean};
  const double n = mean * mean / variance;  // so many equal and rare samples would tell as much
  const Interval count = poisson_95(n);
  return {mean * count.low / n, mean * count.high / n};
}

AllocProfile alloc_profile(const Model& model, const Selection& selection, const Labels& labels) {
  AllocProfile profile;
  KeyMap row_of;
  std::vector<std::map<int32_t, int64_t>> lines;
  size_t index = 0;
  for (const Sample& sample : samples_of(model, Profile::kAlloc)) {
    const double objects = index < model.alloc_objects.size() ? model.alloc_objects[index] : 0;
    ++index;
    if (!selection.has(sample) || sample.stack.value >= model.stacks.size()) continue;
    const StackNode& klass = model.stacks[sample.stack.value];
    const StackNode& site = model.stacks[klass.parent.value];
    const uint32_t site_label = klass.parent.value == 0 ? labels.of(klass) : labels.of(site);
    uint32_t& row = row_of[static_cast<uint64_t>(site_label) << 32 | labels.of(klass)];
    if (row == KeyMap::kNone) {
      row = static_cast<uint32_t>(profile.rows.size());
      profile.rows.push_back({.site = site_label, .klass = labels.of(klass), .line = 0, .estimate = {}});
      lines.emplace_back();
    }
    profile.rows[row].estimate.add(sample.weight, objects);
    lines[row][site.line] += sample.weight;
    profile.all.add(sample.weight, objects);
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    profile.rows[i].line = std::max_element(lines[i].begin(), lines[i].end(), [](const auto& a, const auto& b) {
                             return a.second < b.second;
                           })->first;
  }
  std::sort(profile.rows.begin(), profile.rows.end(), [&](const AllocRow& a, const AllocRow& b) {
    if (a.estimate.bytes != b.estimate.bytes) return a.estimate.bytes > b.estimate.bytes;
    if (a.site != b.site) return labels.names[a.site] < labels.names[b.site];
    return labels.names[a.klass] < labels.names[b.klass];
  });
  return profile;
}

std::string readable_class(std::string_view name) {
  const size_t dimensions = std::min(name.find_first_not_of('['), name.size());
  std::string_view element = name.substr(dimensions);
  std::string text;
  if (dimensions == 0) {
    text = element;
  } else if (element.size() == 1 && !primitive(element[0]).empty()) {
    text = primitive(element[0]);
  } else if (element.size() > 2 && element.front() == 'L' && element.back() == ';') {
    text = element.substr(1, element.size() - 2);
  } else {
    return std::string(name);  // no class name that a JVM would write
  }
  std::replace(text.begin(), text.end(), '/', '.');
  for (size_t i = 0; i < dimensions; ++i) text += "[]";
  return text;
}

}  // namespace tarsier::analysis
