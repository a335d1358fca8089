// How far the samples can be trusted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analysis/selection.h"

namespace tarsier::analysis {

struct Quality {
  uint64_t samples = 0;                    // = complete + incomplete + sum of failed
  uint64_t complete = 0;                   // stack walked to its end
  uint64_t incomplete = 0;                 // frames are missing
  std::map<std::string, uint64_t> failed;  // by cause
  uint64_t imprecise = 0;                  // innermost line and inlining may be wrong; of any of the above
  int64_t weight = 0, failed_weight = 0, imprecise_weight = 0;  // ns
  // Samples of the whole recording: by how the stack was found if the engine tells that, else by what triggered them.
  std::map<std::string, uint64_t> by_mechanism;
  // Pairs of caller and callee: of all stacks ever taken if the engine has checked them, else the distinct ones.
  uint64_t edges = 0;
  uint64_t edges_checked = 0;  // against the bytecodes
  uint64_t bad_edges = 0;      // of those: calls that the bytecode does not make
  // Native frames of the whole recording, if they were asked for: samples in native code, and of those the ones with
  // all their native frames; samples with native code between Java frames, and of those the ones with all frames of it.
  bool has_native = false;
  uint64_t native = 0, native_complete = 0, native_between = 0, native_between_complete = 0;
  // Of engines that have to ask for stacks: from asking to having one.
  struct Latency {
    Nanos p50, p90, p99, max;
  };
  std::optional<Latency> latency;
};

Quality assess_quality(const Model& model, const Selection& selection, Profile profile);
inline Quality assess_quality(const Model& model, const Selection& selection) {
  return assess_quality(model, selection, model.profile);
}

}  // namespace tarsier::analysis
