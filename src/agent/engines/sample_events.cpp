#include "agent/engines/sample_events.h"

#include <algorithm>
#include <span>

namespace tarsier::agent {

bool SampleEvents::start_over_if_forgotten() {
  if (generation_ == context_.writer.generation()) return false;
  generation_ = context_.writer.generation();
  thread_ids_.clear();
  self_ns_.clear();  // the hottest method so far is a word on the console, not worth unbounded memory
  total_ns_ = 0;
  return true;
}

recording::ThreadId SampleEvents::thread_of(uint32_t serial) {
  const auto it = thread_ids_.find(serial);
  if (it != thread_ids_.end()) return it->second;
  const auto thread = context_.threads.find(serial);
  if (!thread) return {};
  return thread_ids_.emplace(serial, context_.writer.thread(thread->info())).first->second;
}

void SampleEvents::write(const capture::SampleHeader& sample, recording::StackId stack, bool imprecise,
                         std::string_view failure) {
  const recording::Value values[] = {
      thread_of(sample.thread),
      stack,
      static_cast<int64_t>(sample.waits ? recording::ThreadState::kSleeping : recording::ThreadState::kRunnable),
      static_cast<int64_t>(sample.weight_ns),
      static_cast<int64_t>(imprecise),
      failure.empty() ? std::string_view() : failure,  // without data it is null, not ""
      static_cast<int64_t>(sample.repeated),
  };
  // The last field is one of wall samples only.
  const size_t fields = recording::event_type(event_).fields.size();
  context_.writer.event(event_, Nanos(static_cast<int64_t>(sample.time_ns)), std::span(values).first(fields));
  context_.threads.mark_seen(sample.thread);
  ++counts_.written;
  counts_.failed += failure.empty() ? 0 : 1;
  counts_.imprecise += imprecise ? 1 : 0;
  total_ns_ += sample.weight_ns;
}

std::pair<const void*, double> SampleEvents::hottest() const {
  const auto best = std::max_element(self_ns_.begin(), self_ns_.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == self_ns_.end()) return {};
  return {best->first, static_cast<double>(best->second) / static_cast<double>(total_ns_)};
}

}  // namespace tarsier::agent
