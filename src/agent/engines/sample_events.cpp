#include "agent/engines/sample_events.h"

#include <algorithm>
#include <span>

namespace tarsier::agent {

bool SampleEvents::start_over_if_forgotten() {
  if (generation_ == context_.writer.generation()) return false;
  generation_ = context_.writer.generation();
  thread_ids_.clear();
  recent_threads_ = {};
  virtual_ids_.clear();
  forget_methods();
  return true;
}

void SampleEvents::forget_methods() {
  recent_self_ = {};
  self_ns_.clear();  // the hottest method so far is a word on the console, not worth unbounded memory
  total_ns_ = 0;
}

recording::ThreadId SampleEvents::thread_of(uint32_t serial) {
  RecentThread& recent = recent_threads_[serial % recent_threads_.size()];
  if (recent.serial == serial && serial != 0) return recent.id;
  auto it = thread_ids_.find(serial);
  if (it == thread_ids_.end()) {
    const auto thread = context_.threads.find(serial);
    if (!thread) return {};
    it = thread_ids_.emplace(serial, context_.writer.thread(thread->info())).first;
  }
  recent = {serial, it->second};
  return it->second;
}

void SampleEvents::name_virtual(int64_t id, std::string name) {
  // Virtual threads come by the million. Those who copy names keep far fewer in mind (NamedVirtuals): whoever still
  // runs when its name is forgotten here has it copied anew.
  constexpr size_t kMostNames = 1 << 16;
  if (virtual_names_.insert_or_assign(id, std::move(name)).second) named_virtuals_.push_back(id);
  if (named_virtuals_.size() > kMostNames) {
    virtual_names_.erase(named_virtuals_.front());
    named_virtuals_.pop_front();
  }
  virtual_ids_.erase(id);
}

recording::ThreadId SampleEvents::virtual_thread(int64_t id) {
  const auto it = virtual_ids_.find(id);
  if (it != virtual_ids_.end()) return it->second;
  const auto name = virtual_names_.find(id);
  const std::string_view known = name != virtual_names_.end() ? std::string_view(name->second) : "";
  return virtual_ids_.emplace(id, context_.writer.thread({known, 0, known, id, true})).first->second;
}

void SampleEvents::write(const capture::SampleHeader& sample, const What& what) {
  const recording::ThreadId thread = thread_of(sample.thread);
  const bool is_virtual = what.virtual_id != 0;
  const bool is_wait = event_ == recording::Event::kWait;
  const recording::Value values[] = {
      is_virtual ? virtual_thread(what.virtual_id) : thread,
      what.stack,
      static_cast<int64_t>(sample.waits ? recording::ThreadState::kSleeping : recording::ThreadState::kRunnable),
      static_cast<int64_t>(sample.weight_ns),
      static_cast<int64_t>(what.imprecise),
      what.failure.empty() ? std::string_view() : what.failure,  // without data it is null, not ""
      is_virtual ? thread : recording::ThreadId(),
      is_wait ? recording::Value(what.wait) : recording::Value(static_cast<int64_t>(sample.repeated)),
      static_cast<int64_t>(sample.ongoing),
      static_cast<int64_t>(sample.from_before),
      what.woken.waker,
      what.woken.stack,
      what.woken.by,
      what.woken.process,
      what.woken.process_id,
  };
  // CPU samples have none from the eighth on, wall samples none behind it.
  const size_t fields = recording::event_type(event_).fields.size();
  context_.writer.event(event_, Nanos(static_cast<int64_t>(sample.time_ns)), std::span(values).first(fields));
  context_.threads.mark_seen(sample.thread);
  ++counts_.written;
  counts_.failed += what.failure.empty() ? 0 : 1;
  counts_.imprecise += what.imprecise ? 1 : 0;
  total_ns_ += sample.weight_ns;
}

std::pair<const void*, double> SampleEvents::hottest() const {
  std::pair<const void*, uint64_t> best;
  const auto consider = [&](const void* method, uint64_t ns) {
    if (ns > best.second) best = {method, ns};
  };
  for (const auto& [method, ns] : self_ns_) consider(method, ns);
  for (const auto& [method, ns] : recent_self_) {
    const auto before = self_ns_.find(method);
    consider(method, ns + (before != self_ns_.end() ? before->second : 0));
  }
  if (best.first == nullptr) return {};
  return {best.first, static_cast<double>(best.second) / static_cast<double>(total_ns_)};
}

}  // namespace tarsier::agent
