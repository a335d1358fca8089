// The handlers of allocation events, ours and those of others.
#include <utility>

#include "analysis/alloc.h"
#include "analysis/loader.h"

namespace tarsier::analysis {

using recording::Chunk;
using recording::ConstantKey;
using recording::EventView;

void Loader::object_allocation(const Chunk& chunk, const EventView& event, const Fields& fields) {
  const auto& [thread, stack, klass, weight, size, failure, unused] = fields;
  if (size) ++own_allocations_;  // JFR itself does not tell
  const int64_t bytes = event.number(weight);
  const int64_t of_one = event.number(size);
  const double objects = of_one > 0 ? static_cast<double>(bytes) / static_cast<double>(of_one) : 0;
  add_allocation(chunk, event, fields, bytes, objects, model_.others[static_cast<size_t>(Profile::kAlloc)],
                 model_.alloc_objects);
}

// JFR's events of old, also written by async-profiler: an object that made a new TLAB necessary stands for the TLAB.
void Loader::tlab_allocation(const Chunk& chunk, const EventView& event, const Fields& fields) {
  const auto& [thread, stack, klass, weight, size, unused1, unused2] = fields;
  const int64_t bytes = event.number(weight);
  const int64_t of_one = event.number(size);
  const double objects = of_one > 0 ? static_cast<double>(bytes) / static_cast<double>(of_one) : 0;
  add_allocation(chunk, event, fields, bytes, objects, by_tlab_, by_tlab_objects_);
}

void Loader::add_allocation(const Chunk& chunk, const EventView& event, const Fields& fields, int64_t weight,
                            double objects, Samples& samples, std::vector<float>& counts) {
  Sample sample = this->sample(chunk, event, fields[0], fields[1]);
  const std::string_view cause = event.string(fields[5]);
  if (!cause.empty() || sample.stack == StackIndex(0)) fail(sample, cause);
  sample.stack = stacks_.with_class(sample.stack, resolve_class(chunk, event.constant(fields[2])));
  sample.weight = within_bounds(weight);
  samples.push_back(sample);
  counts.push_back(static_cast<float>(objects));
}

void Loader::add_class(const Chunk& chunk, ConstantKey key, uint32_t& known) {
  std::string_view name;
  const bool found = chunk.class_name(key, name) && !name.empty();
  known = stacks_.marker(found ? readable_class(name) : "[unknown class]").value;
}

void Loader::choose_allocations() {
  Samples& chosen = model_.others[static_cast<size_t>(Profile::kAlloc)];
  if (!chosen.empty() || by_tlab_.empty()) return;
  chosen = std::move(by_tlab_);
  model_.alloc_objects = std::move(by_tlab_objects_);
}

}  // namespace tarsier::analysis
