#include "replay/replay.h"

#include <algorithm>
#include <string_view>

#include "archive/unpacked_recording.h"
#include "hotspot/noted_rules.h"
#include "recording/reader.h"

namespace tarsier::replay {
namespace {

constexpr size_t kMostLines = 1 << 24;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string decode(const Memory& memory, const saved::SavedJvm& jvm, const saved::SavedFragment& fragment) {
  const hotspot::SavedRules rules(fragment.rules);
  const auto result = hotspot::walk_alone(memory, jvm.kind(), rules, fragment.walk());
  return result ? result->text() : "can't be decoded: " + result.error().what;
}

Result<Summary> replay_file(const std::string& path, const std::function<void(const Replayed&)>& on_replayed) {
  const auto file = archive::UnpackedRecording::open(path);
  if (!file) return file.error();
  auto recording = recording::Recording::over(file->bytes());
  if (!recording) return std::move(recording).error().in(path);
  Summary summary;
  const auto on_fragment = [&](const saved::SavedJvm& jvm, const saved::SavedMemory& memory,
                               const saved::SavedFragment& fragment) {
    const NotedMemory noted(memory, kMostLines);
    const std::string result = decode(noted, jvm, fragment);
    ++summary.fragments;
    summary.different += result == fragment.result ? 0 : 1;
    on_replayed({jvm, fragment, noted, result});
  };
  auto read = saved::read_fragments(**recording, on_fragment);
  if (!read) return std::move(read).error().in(path);
  if (read->count == 0) {
    return Error{Errc::kFailed, path + ": has no saved fragments; tarsier record --save-fragments keeps some"};
  }
  summary.problems = file->problems();
  summary.problems.insert(summary.problems.end(), read->problems.begin(), read->problems.end());
  return summary;
}

std::string difference(const std::string& was, const std::string& is) {
  std::vector<std::string_view> before = lines_of(was), after = lines_of(is);
  size_t same_at_start = 0;
  while (same_at_start < std::min(before.size(), after.size()) && before[same_at_start] == after[same_at_start]) {
    ++same_at_start;
  }
  while (before.size() > same_at_start && after.size() > same_at_start && before.back() == after.back()) {
    before.pop_back();
    after.pop_back();
  }
  std::string out;
  if (same_at_start > 0) out += "  (" + std::to_string(same_at_start) + " lines are the same)\n";
  for (size_t i = same_at_start; i < before.size(); ++i) out.append("- ").append(before[i]).append("\n");
  for (size_t i = same_at_start; i < after.size(); ++i) out.append("+ ").append(after[i]).append("\n");
  return out;
}

}  // namespace tarsier::replay
