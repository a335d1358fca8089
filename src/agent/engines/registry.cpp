#include "agent/engines/registry.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "agent/engines/agct.h"
#include "agent/engines/alloc.h"
#include "agent/engines/clock_choice.h"
#include "agent/engines/counters.h"
#include "agent/engines/fragment.h"
#include "agent/engines/handshake.h"
#include "agent/engines/lock.h"
#include "agent/engines/safepoint.h"
#include "agent/engines/waits.h"

namespace tarsier::agent {
namespace {

struct CpuEngine {
  std::string_view name;
  std::unique_ptr<Engine> (*make)(EngineContext&);
  bool automatic;  // taken without being asked for, if none before it works
  bool restricts;  // to threads with certain names
};
// The best first: that is the default.
constexpr std::array<CpuEngine, 4> kCpuEngines = {{{"fragment", make_fragment_engine, true, false},
                                                   {"agct", make_agct_engine, true, false},
                                                   {"handshake", make_handshake_engine, false, true},
                                                   {"safepoint", make_safepoint_engine, false, true}}};

// What --threads needs.
Status check_restriction(const control::SessionOptions& options) {
  if (options.threads.empty()) return {};
  std::string able;
  for (const CpuEngine& engine : kCpuEngines) {
    if (!engine.restricts) continue;
    if (options.wants_cpu() && options.engine == engine.name) return {};
    able += (able.empty() ? "" : " and ") + std::string(engine.name);
  }
  return Error{Errc::kUsage, "only the CPU engines " + able +
                                 " can be restricted to some threads; any recording can be looked at for some threads "
                                 "only: report --thread"};
}

}  // namespace

Result<std::vector<std::unique_ptr<Engine>>> make_engines(EngineContext& context) {
  if (Status status = check_restriction(context.options); !status) return std::move(status).error();
  std::vector<std::unique_ptr<Engine>> engines;
  if (context.options.wants_cpu()) {
    std::string known;
    for (const CpuEngine& engine : kCpuEngines) {
      known += (known.empty() ? "" : ", ") + std::string(engine.name);
      if (!context.options.engine.empty() && context.options.engine != engine.name) continue;
      engines.push_back(engine.make(context));
      break;
    }
    if (engines.empty()) {
      return Error{Errc::kUsage, "there is no CPU engine '" + context.options.engine + "'; there is " + known};
    }
  }
  if (context.options.wants_alloc()) engines.push_back(make_alloc_engine(context));
  const bool fragments =
      std::any_of(engines.begin(), engines.end(), [](const auto& e) { return e->name() == "fragment"; });
  if (context.options.save_fragments > 0 && !fragments) {
    return Error{Errc::kUsage, "there are no fragments to save without the CPU engine 'fragment'"};
  }
  if (context.options.native && !fragments) {
    return Error{Errc::kUsage, "native frames are found by the CPU engine 'fragment' only"};
  }
  const bool by_kernel = context.options.clock == kKernelClock || context.options.clock == kRingClock;
  if (context.options.walks == "agct" && (!fragments || by_kernel)) {
    return Error{Errc::kUsage, "AsyncGetCallTrace is asked by the CPU engine 'fragment' with a clock that signals"};
  }
  if (context.options.native && context.options.save_fragments > 0) {
    return Error{Errc::kUsage, "fragments are saved with what their Java frames take: not together with native frames"};
  }
  if (context.options.waits) engines.push_back(make_waits_engine(context));
  if (!context.options.lock_level().empty()) engines.push_back(make_lock_engine(context));
  if (!context.options.counters.empty()) engines.push_back(make_counters_engine(context));
  if (engines.empty()) return Error{Errc::kUsage, "nothing to record: no engine was asked for"};
  return engines;
}

std::unique_ptr<Engine> make_next_best(EngineContext& context, const Engine& failed) {
  if (failed.name() == kCpuEngines[0].name && !implied_clock(context.options).empty() &&
      !std::exchange(context.implied_clock_failed, true)) {
    return make_fragment_engine(context);
  }
  if (!context.options.engine.empty() || context.options.save_fragments > 0 || context.options.native) return nullptr;
  for (size_t i = 0; i + 1 < kCpuEngines.size(); ++i) {
    if (kCpuEngines[i].name == failed.name() && kCpuEngines[i + 1].automatic) return kCpuEngines[i + 1].make(context);
  }
  return nullptr;
}

}  // namespace tarsier::agent
