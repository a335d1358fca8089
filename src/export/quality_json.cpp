#include "export/quality_json.h"

namespace tarsier::exporting {

using Json = nlohmann::ordered_json;

Json json_of_quality(const analysis::Quality& quality) {
  const Json native = quality.has_native ? Json{{"samples", quality.native},
                                                {"complete", quality.native_complete},
                                                {"between", quality.native_between},
                                                {"between_complete", quality.native_between_complete}}
                                         : Json();
  const Json latency = quality.latency ? Json{{"p50_ns", quality.latency->p50.count},
                                              {"p90_ns", quality.latency->p90.count},
                                              {"p99_ns", quality.latency->p99.count},
                                              {"max_ns", quality.latency->max.count}}
                                       : Json();
  return {
      {"samples", quality.samples},
      {"complete", quality.complete},
      {"incomplete", quality.incomplete},
      {"failed", object_of(quality.failed)},
      {"imprecise", quality.imprecise},
      {"by_mechanism", object_of(quality.by_mechanism)},
      {"edges", quality.edges},
      {"edges_checked", quality.edges_checked},
      {"bad_edges", quality.bad_edges},
      {"native", native},
      {"latency", latency},
  };
}

}  // namespace tarsier::exporting
