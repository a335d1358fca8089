#include "replay/selection.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace tarsier::replay {
namespace {

// What a test would miss without it: how the walk has started and ended, each step from one kind of frame to the next,
// each stub, and how deep it is.
std::set<std::string> features_of(const std::string& result) {
  std::set<std::string> features;
  std::istringstream lines(result);
  std::string line, before;
  std::getline(lines, line);
  const std::string how = line.substr(0, line.find(", read up to"));
  features.insert(how);
  size_t depth = 0;
  while (std::getline(lines, line)) {
    if (line.starts_with("calls: ") && line.find('W') != std::string::npos) features.insert("a wrong call");
    if (line.starts_with("calls: ") || line.starts_with("code:")) continue;
    std::string kind = line.substr(0, line.find(' '));
    if (kind == "stub") kind = line.substr(0, line.find(" at "));
    if (line.find("[unloaded]") != std::string::npos) kind += " unloaded";
    features.insert((depth == 0 ? how : before) + " < " + kind);
    before = kind;
    ++depth;
  }
  size_t power = 1;
  while (power < depth) power *= 2;
  features.insert("depth " + std::to_string(power));
  return features;
}

}  // namespace

std::vector<size_t> select(const std::vector<Candidate>& candidates, size_t most) {
  std::vector<std::set<std::string>> features;
  features.reserve(candidates.size());
  for (const Candidate& candidate : candidates) features.push_back(features_of(candidate.result));
  std::set<size_t> chosen;
  std::set<std::string> covered;
  while (chosen.size() < std::min(most, candidates.size())) {
    size_t best = candidates.size(), best_news = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (chosen.contains(i)) continue;
      const auto news = static_cast<size_t>(
          std::count_if(features[i].begin(), features[i].end(), [&](const auto& f) { return !covered.contains(f); }));
      const bool better = best == candidates.size() || news > best_news ||
                          (news == best_news && candidates[i].cost < candidates[best].cost);
      if (!better) continue;
      best = i;
      best_news = news;
    }
    // When nothing is news any more, everything is again: the next ones show it a second time.
    if (best_news == 0 && !covered.empty()) {
      covered.clear();
      continue;
    }
    chosen.insert(best);
    covered.insert(features[best].begin(), features[best].end());
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace tarsier::replay
