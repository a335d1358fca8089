#include "analysis/machine.h"

#include <algorithm>

namespace tarsier::analysis {

void Resources::add(const Resources& other) {
  for (size_t i = 0; i < kResources; ++i) {
    if (other.values[i]) values[i] = values[i].value_or(0) + *other.values[i];
  }
}

Nanos Resources::stolen() const {
  const auto& scheduled = of(Resource::kStealScheduled);
  return Nanos(scheduled ? *scheduled : of(Resource::kSteal).value_or(0));
}

Nanos MachineCpu::corrected(Nanos cpu, const Resources& resources) const {
  if (!steal_in_cpu_time) return cpu;
  return std::max(cpu - resources.stolen(), Nanos(0));
}

}  // namespace tarsier::analysis
