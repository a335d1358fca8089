#include "export/page_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/comparison.h"
#include "analysis/contentions.h"
#include "export/page_head.h"
#include "export/page_locks.h"
#include "export/page_threads.h"
#include "export/page_time.h"
#include "export/page_timeline.h"
#include "export/page_waits.h"
#include "export/profile_difference.h"
#include "export/profile_tree.h"

namespace tarsier::exporting {
namespace {

using analysis::Model;
using analysis::Profile;

std::vector<Profile> profiles_of(const Model& model) {
  std::vector<Profile> profiles;
  for (size_t i = 0; i < static_cast<size_t>(Profile::kCount); ++i) {
    const auto profile = static_cast<Profile>(i);
    if (!samples_of(model, profile).empty()) profiles.push_back(profile);
  }
  return profiles;
}

std::string part_of(Profile profile) {
  return "profile-" + std::string(analysis::about(profile).name);
}

// The trees of all profiles, in moments that are long enough for each of them: `time` is what was found.
Result<std::vector<PagePart>> profile_parts(const Model& model, const std::vector<Profile>& profiles,
                                            const PageThreads& threads, PageTime& time,
                                            std::map<Profile, int64_t>& together) {
  auto stacks = FoldedStacks::make(model);
  if (!stacks) return std::move(stacks).error();
  struct Made {
    Profile profile;
    ProfileTree tree;
    int64_t moment_ns;  // of then: later ones may need longer moments
  };
  std::vector<Made> made;
  for (const Profile profile : profiles) {
    auto tree = build_profile_tree(model, profile, *stacks, threads, &time);
    if (!tree) return std::move(tree).error();
    together[profile] = tree->together;
    made.push_back({profile, *std::move(tree), time.moment_ns()});
  }
  std::vector<PagePart> parts;
  for (Made& each : made) {
    if (each.moment_ns != time.moment_ns()) join_moments(each.tree.moments, time.moment_ns() / each.moment_ns);
    parts.push_back({part_of(each.profile), encode_profile_tree(each.tree, time.moments())});
    each.tree = {};
  }
  return parts;
}

bool locks_recorded(const Model& model) {
  return !model.locks.empty() || std::any_of(model.engines.begin(), model.engines.end(), [](const auto& engine) {
    return engine.is_lock() && !engine.is_missing();
  });
}

// The head comes first, then the rest by name.
std::vector<PagePart> with_head(PageHead head, std::vector<PagePart> parts) {
  std::sort(parts.begin(), parts.end(), [](const PagePart& a, const PagePart& b) { return a.name < b.name; });
  head.parts = {"head"};
  for (const PagePart& part : parts) head.parts.push_back(part.name);
  parts.insert(parts.begin(), PagePart{"head", head.encode()});
  return parts;
}

}  // namespace

struct PageParts::Locks {
  LockCollector collector;
  bool asked = false;  // while the recording was read
};

PageParts::PageParts() : locks_(std::make_unique<Locks>()) {}
PageParts::~PageParts() = default;

analysis::LockQuestion PageParts::question() {
  locks_->asked = true;
  return {
      .by = {analysis::LockAspect::kGroup},
      .each = [locks = locks_.get()](const Model& model, const analysis::LockCode& code,
                                     const analysis::Contention& contention, std::span<const analysis::Piece> pieces) {
        locks->collector.add(model, code, contention, pieces);
      }};
}

Result<std::vector<PagePart>> PageParts::make(const Model& model, const std::string& title, double complete) const {
  LockCollector own;
  if (!locks_->asked && model.locks.complete() && !model.locks.empty()) {
    const analysis::LockCode code(model);
    analysis::for_each_contention(
        model, code, {}, [&](const auto& contention, auto pieces) { own.add(model, code, contention, pieces); });
  }
  LockCollector& collector = locks_->asked ? locks_->collector : own;

  PageTime time(model);
  // Contentions have been added up already, in whole moments.
  while (time.moment_ns() < model.lock_stretch.count && time.coarsen() > 1) {
  }
  const PageThreads threads(model, collector.blocked());
  const std::vector<Profile> profiles = profiles_of(model);
  PageHead head{.model = model, .title = title, .time = time, .complete = complete, .profiles = profiles};
  auto made = profile_parts(model, profiles, threads, time, head.together);
  if (!made) return std::move(made).error();
  std::vector<PagePart> parts = *std::move(made);

  parts.push_back({"threads", threads.encode()});
  if (locks_recorded(model)) {
    head.locks = collector.encode(model, threads, time);
    parts.push_back({"locks", std::exchange(head.locks->bytes, {})});
  }
  if (!samples_of(model, Profile::kWaits).empty()) {
    head.waits = encode_waits(model, threads, time);
    parts.push_back({"waits", std::exchange(head.waits->bytes, {})});
  }
  if (auto timeline = encode_timeline(model, time)) parts.push_back({"timeline", *std::move(timeline)});
  return with_head(std::move(head), std::move(parts));
}

Result<std::vector<PagePart>> PageParts::make_against(const Model& model, const Model& before, analysis::Per per,
                                                      const std::string& title) {
  const std::vector<Model> both = {before, model};
  analysis::CompareOptions options;
  options.changes.per = per;
  const auto comparison = analysis::compare(both, options);
  if (!comparison) return comparison.error();

  const PageTime time(model);
  PageThreads threads(model);
  const PageThreads threads_before(before);
  auto stacks = FoldedStacks::make(model);
  if (!stacks) return std::move(stacks).error();
  auto stacks_before = FoldedStacks::make(before);
  if (!stacks_before) return std::move(stacks_before).error();
  PageHead head{.model = model, .title = title, .time = time};
  std::vector<PagePart> parts;
  for (const Profile profile : profiles_of(model)) {
    if (samples_of(before, profile).empty()) continue;
    auto tree = build_profile_tree(model, profile, *stacks, threads, nullptr);
    if (!tree) return std::move(tree).error();
    auto tree_before = build_profile_tree(before, profile, *stacks_before, threads_before, nullptr);
    if (!tree_before) return std::move(tree_before).error();
    const ProfileTree joined =
        join_trees(*tree, threads, *tree_before, threads_before, scale_of(before, model, profile, per));
    parts.push_back({part_of(profile), encode_profile_tree(joined, time.moments())});
    head.profiles.push_back(profile);
  }
  parts.push_back({"threads", threads.encode()});
  head.against = PageAgainst{&before, std::string(name_of(per)), verdict_of(*comparison, both, options)};
  return with_head(std::move(head), std::move(parts));
}

}  // namespace tarsier::exporting
