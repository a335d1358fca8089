// A recording as far as it has been read.
#pragma once

#include <functional>

#include "analysis/model.h"

namespace tarsier::analysis {

class Loader;

class SoFar {
 public:
  SoFar(Loader& loader, double done) : loader_(loader), done_(done) {}

  // Which part of the file has been read: 0 to 1.
  [[nodiscard]] double done() const { return done_; }
  // What it tells so far, as if it ended here, in the time of the call only. Of locks there is what the LockPass has
  // found by now, but no blame; and engines have not yet said how many samples they took.
  void look(const std::function<void(const Model&)>& at) const;

 private:
  Loader& loader_;
  double done_;
};

// As load(), but `watch` is told now and then how far it is.
Result<Model> load_watched(const std::string& path, LockPass& locks, const std::function<void(const SoFar&)>& watch);

}  // namespace tarsier::analysis
