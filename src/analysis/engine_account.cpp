#include "analysis/engine_account.h"

#include <algorithm>

namespace tarsier::analysis {
namespace {

uint64_t accounted(const Engine& engine) {
  uint64_t sum = engine.written;
  for (const auto& [cause, count] : engine.dropped) sum += count;
  return sum;
}

}  // namespace

std::string settle_account(Engine& engine, std::optional<uint64_t> loaded) {
  if (loaded && *loaded < engine.written) {
    engine.dropped[kNotInFile] += engine.written - *loaded;
    engine.written = *loaded;
  } else if (loaded && *loaded > engine.written) {
    // Samples that came after the last account: at most those that were in flight then, or more that nobody counted.
    engine.written = *loaded;
    engine.taken = std::max(engine.taken, accounted(engine));
  }
  const uint64_t known = accounted(engine);
  if (engine.taken > known) engine.dropped[kInFlight] += engine.taken - known;
  if (engine.taken >= known) return {};
  const std::string taken = std::to_string(engine.taken);
  engine.taken = known;
  return "engine " + engine.name + " counted " + taken + " samples taken, but " + std::to_string(known) +
         " written or dropped; the larger number is shown";
}

bool tells_its_period(const Model& model) {
  if (model.profile != Profile::kCpu) return true;
  return std::none_of(model.engines.begin(), model.engines.end(), [](const Engine& engine) {
    return engine.name.starts_with("jdk.") && engine.written > 0 && engine.interval.count == 0;
  });
}

}  // namespace tarsier::analysis
