// The kinds of profile that one recording may hold, each with samples of its own: CPU time, time on the wall,
// allocation, waits, contentions by the blocked and by the owners of locks. Every pass and view works on one of them,
// Model::samples; which one is chosen right after loading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tarsier::analysis {

struct Model;
class Samples;

enum class Profile : uint8_t { kCpu, kWall, kAlloc, kWaits, kLocks, kOwners, kCount };

struct ProfileInfo {
  Profile profile;
  std::string_view name;     // as options and files say it
  std::string_view unit;     // of weights: ns or bytes
  std::string_view what;     // "12 % of the CPU time"
  std::string_view hottest;  // what the leaf of a stack is called if it is the heaviest
  std::string_view events;   // what is counted
  bool is_census;            // all of them are there, not samples of them: nothing is left to chance
  bool ends_in_class;        // the innermost frame is a class: of an object, or of a lock
};
const ProfileInfo& about(Profile profile);
constexpr bool is_of_locks(Profile profile) {
  return profile == Profile::kLocks || profile == Profile::kOwners;
}

std::string words_of_weight(Profile profile, int64_t weight);  // 350 ms, 12.4 MB

const Samples& samples_of(const Model& model, Profile profile);
// From now on the model's samples are those; kUsage, with what there is, if the recording has none of that kind.
Status use_profile(Model& model, std::string_view name);
// The first kind of which there are samples.
void use_best_profile(Model& model);
// The first kind of which both have some; kUsage if there is none.
Status use_common_profile(Model& a, Model& b);

}  // namespace tarsier::analysis
