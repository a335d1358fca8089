#include "analysis/profile.h"

#include <array>

#include "analysis/model.h"
#include "analysis/wording.h"

namespace tarsier::analysis {
namespace {

// In the order of the enumeration, which is also that of preference.
constexpr std::array<ProfileInfo, static_cast<size_t>(Profile::kCount)> kProfiles = {{
    {Profile::kCpu, "cpu", "ns", "CPU time", "Hottest method", "samples", false, false},
    {Profile::kWall, "wall", "ns", "time", "Method with the most time", "samples", false, false},
    {Profile::kAlloc, "alloc", "bytes", "allocated memory", "Most allocated class", "samples", false, true},
    {Profile::kWaits, "waits", "ns", "waiting time", "Method that waits most", "waits", true, false},
    {Profile::kLocks, "locks", "ns", "time blocked by locks", "Most contended class of locks", "contentions", true,
     true},
    {Profile::kOwners, "owners", "ns", "time others were blocked", "Most contended class of locks", "delays", true,
     true},
}};

void use(Model& model, Profile profile) {
  if (profile == model.profile) return;
  std::swap(model.others[static_cast<size_t>(model.profile)], model.samples);
  std::swap(model.others[static_cast<size_t>(profile)], model.samples);
  model.profile = profile;
}

bool has_samples_of(const Model& model, const ProfileInfo& info) {
  return !samples_of(model, info.profile).empty();
}

std::string known_kinds(const Model& model) {
  std::string known;
  for (const ProfileInfo& info : kProfiles) {
    if (has_samples_of(model, info)) known += (known.empty() ? "" : ", ") + std::string(info.name);
  }
  return known.empty() ? "none at all" : known;
}

}  // namespace

const ProfileInfo& about(Profile profile) {
  return kProfiles[static_cast<size_t>(profile)];
}

std::string words_of_weight(Profile profile, int64_t weight) {
  return about(profile).unit == "bytes" ? words_of_bytes(Bytes(weight)) : words_of_time(Nanos(weight));
}

const Samples& samples_of(const Model& model, Profile profile) {
  return profile == model.profile ? model.samples : model.others[static_cast<size_t>(profile)];
}

Status use_profile(Model& model, std::string_view name) {
  for (const ProfileInfo& info : kProfiles) {
    if (info.name != name || !has_samples_of(model, info)) continue;
    use(model, info.profile);
    return {};
  }
  if (model.locks_are_of_part && (name == about(Profile::kLocks).name || name == about(Profile::kOwners).name)) {
    return Error{Errc::kUsage, "in the selected time no lock is known to have blocked anybody"};
  }
  return Error{Errc::kUsage,
               "the recording has no samples of the kind '" + std::string(name) + "'; it has " + known_kinds(model)};
}

void use_best_profile(Model& model) {
  for (const ProfileInfo& info : kProfiles) {
    if (has_samples_of(model, info)) return use(model, info.profile);
  }
}

Status use_common_profile(Model& a, Model& b) {
  for (const ProfileInfo& info : kProfiles) {
    if (!has_samples_of(a, info) || !has_samples_of(b, info)) continue;
    use(a, info.profile);
    use(b, info.profile);
    return {};
  }
  return Error{Errc::kUsage, "there is no kind of samples that both recordings have: " + a.file + " has " +
                                 known_kinds(a) + ", " + b.file + " has " + known_kinds(b)};
}

}  // namespace tarsier::analysis
