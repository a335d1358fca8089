// What is there to be served, by now: one thread reads the recording and puts its parts here, another hands them out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "export/page_parts.h"

namespace tarsier::serve {

using SharedBytes = std::shared_ptr<const std::string>;

struct Part {
  SharedBytes plain;
  SharedBytes gzip;  // null: not compressed, or not yet
};

// Parts that belong together: rows of one are numbers in another.
struct Parts {
  uint64_t number = 0;  // 0: there are none yet
  std::map<std::string, Part, std::less<>> by_name;
};

struct Progress {
  enum class State { kReading, kReady, kFailed };
  State state = State::kReading;
  double done = 0;      // 0 to 1
  std::string message;  // of kFailed
};

class Content {
 public:
  // A moment of both that fits together.
  struct Now {
    Progress progress;
    std::shared_ptr<const Parts> parts;
  };
  [[nodiscard]] Now now() const;

  void reading(double done);
  // Takes the place of the parts so far. The last ones: all of the recording is in them.
  void renew(std::vector<exporting::PagePart> parts, double done);
  void ready(std::vector<exporting::PagePart> parts);
  void fail(std::string message);
  // After ready(): from now on there is a compressed form, too. Takes a while, in which others can ask.
  void compress();

 private:
  void put(std::vector<exporting::PagePart> parts, Progress progress);

  mutable std::mutex mutex_;
  Now now_{{}, std::make_shared<const Parts>()};
};

// By gzip; null if that gave out or is not worth it.
SharedBytes compressed(const std::string& bytes);

}  // namespace tarsier::serve
