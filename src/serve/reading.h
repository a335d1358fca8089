// Reads a recording in a thread of its own, and puts what the page shows of it where the server finds it: first of what
// has been read so far, after 1, 2, 4, ... seconds, then of all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "analysis/model.h"
#include "analysis/so_far.h"
#include "base/result.h"
#include "base/units.h"
#include "export/page_parts.h"
#include "serve/content.h"

namespace tarsier::serve {

// When a look at what has been read so far is worth its time.
class Schedule {
 public:
  explicit Schedule(Nanos begin, Nanos first = millis(250)) : begin_(begin), next_(begin + first) {}
  [[nodiscard]] bool due(Nanos now) const { return now >= next_; }
  // All looks together take less than a quarter of the time: else the reading would hardly get on.
  void looked(Nanos began, Nanos ended);

 private:
  Nanos begin_, next_;
};

struct ReadingSteps {
  // The whole recording; tells now and then how far it is.
  std::function<Result<analysis::Model>(const std::function<void(const analysis::SoFar&)>& watch)> load;
  // Of a model that is loaded or still growing: which part of the file is in it.
  std::function<Result<std::vector<exporting::PagePart>>(const analysis::Model& model, double done)> parts;
  // In that thread, once, when the parts of all of it are there, or never will be.
  std::function<void(const Result<analysis::Model>& model)> ended;
};

class Reading {
 public:
  // Begins at once. What it refers to stays until it has ended.
  Reading(ReadingSteps steps, Content& content);
  ~Reading() { thread_.join(); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  // Whether it has ended by then: the parts of all of it are there, or never will be.
  [[nodiscard]] bool wait(Nanos time) const;
  // Whether the thread has nothing left to do, so that the destructor waits for nothing.
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_acquire); }

 private:
  void read();
  Result<analysis::Model> load_and_show();

  const ReadingSteps steps_;
  Content& content_;
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_now_;
  bool ended_ = false;
  std::atomic<bool> over_ = false;  // released as the last that the thread does
  std::thread thread_;
};

}  // namespace tarsier::serve
