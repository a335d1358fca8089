#include "export/report_wakers.h"

#include <algorithm>
#include <utility>

#include "analysis/wording.h"
#include "export/escape.h"
#include "export/text_table.h"

namespace tarsier::exporting {

using analysis::WakerRow;
using analysis::WokenBy;
using analysis::words_of_time;
using Json = nlohmann::ordered_json;

namespace {

// The thread that has ended most of it.
const analysis::Thread* main_waker(const analysis::Model& model, const WakerRow& row) {
  const auto most = std::max_element(row.time.begin(), row.time.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most != row.time.end() ? &model.threads[most->first.value] : nullptr;
}

std::string words_of_thread(const analysis::Model& model, const WakerRow& row) {
  const analysis::Thread* thread = main_waker(model, row);
  std::string words = thread != nullptr ? visible(thread->name) : "a thread";
  if (words.empty()) words = "a thread without a name";
  if (row.time.size() > 1) words += " (and " + std::to_string(row.time.size() - 1) + " others)";
  return words;
}

std::string words_of_waker(const analysis::Model& model, const WakerRow& row) {
  switch (row.by) {
    case WokenBy::kThread:
      return "woken by " + words_of_thread(model, row);
    case WokenBy::kJvm:
      return "woken by the JVM's " + words_of_thread(model, row);
    case WokenBy::kProcess:
      return "woken by the process " + visible(model.waker_processes[row.process]);
    case WokenBy::kInterrupt:
      return "woken by an interrupt (a timer or a device)";
    case WokenBy::kOngoing:
      return "not woken yet";
    case WokenBy::kUnknown:
    case WokenBy::kCount:
      break;
  }
  return "woken by nobody knows whom";
}

// Without packages: the first ones are the JDK's own, and whoever called those is of interest.
std::string short_chain(const std::vector<uint32_t>& chain, const analysis::Labels& labels, size_t columns) {
  std::string text;
  for (size_t i = 0; i < chain.size(); ++i) {
    const std::string name = (i == 0 ? "" : " < ") + visible(without_package(labels.names[chain[i]]));
    if (display_width(text) + display_width(name) > columns) return text.empty() ? cut_front(name, columns) : text;
    text += name;
  }
  return text;
}

Json labels_json(const std::vector<uint32_t>& chain, const analysis::Labels& labels) {
  if (chain.empty()) return nullptr;
  Json json = Json::array();
  for (const uint32_t label : chain) json.push_back(labels.names[label]);
  return json;
}

Json name_json(const analysis::Model& model, const WakerRow& row) {
  if (row.by == WokenBy::kProcess) return model.waker_processes[row.process];
  const analysis::Thread* thread = main_waker(model, row);
  return thread != nullptr ? Json(thread->name) : Json();
}

}  // namespace

bool wakers_recorded(const analysis::Model& model) {
  const auto& engines = model.engines;
  const bool told = std::any_of(engines.begin(), engines.end(), [](const analysis::Engine& engine) {
    return engine.is_waits() && engine.mechanism == "ebpf";
  });
  return told && std::any_of(model.waits.begin(), model.waits.end(), [](const analysis::WaitInfo& wait) {
           return wait.woken_by != WokenBy::kUnknown && wait.woken_by != WokenBy::kOngoing;
         });
}

std::string callers_text(const std::vector<uint32_t>& chain, size_t first, const analysis::Labels& labels,
                         size_t columns) {
  std::string text;
  for (size_t i = first; i < chain.size(); ++i) {
    const std::string name = (i == first ? "" : " < ") + visible(labels.names[chain[i]]);
    if (display_width(text) + display_width(name) > columns) return text.empty() ? cut_front(name, columns) : text;
    text += name;
  }
  return text;
}

std::string wakers_text(const analysis::Model& model, const analysis::WokenRow& row, const analysis::Labels& labels) {
  constexpr size_t kIndent = 14, kLeastChain = 20;
  std::string out;
  bool had_waited = false;
  for (const WakerRow& waker : row.hops) {
    std::string line = words_of_waker(model, waker);
    if (had_waited) line.insert(0, "and was ");
    if (!waker.chain.empty()) {
      line += " in ";
      // If the names are long, the chain has a line of its own.
      const size_t used = kIndent + display_width(line);
      const bool fits = used + kLeastChain <= kColumns;
      if (!fits) line += "\n" + std::string(kIndent + 2, ' ');
      line += short_chain(waker.chain, labels, kColumns - (fits ? used : kIndent + 2));
    }
    out += std::string(kIndent, ' ') + line + "\n";
    had_waited = waker.waited.has_value();
    if (!had_waited) continue;
    out += std::string(kIndent, ' ') + "who had waited " + words_of_time(Nanos(waker.waited_ns)) + " of it (" +
           visible(model.wait_kinds[*waker.waited]) + ")\n";
  }
  return out;
}

std::string missing_wakers_text(const analysis::Model& model) {
  if (wakers_recorded(model) || model.waits.empty()) return {};
  const auto& engines = model.engines;
  const bool by_ebpf = std::any_of(engines.begin(), engines.end(), [](const analysis::Engine& engine) {
    return engine.is_waits() && engine.mechanism == "ebpf";
  });
  if (by_ebpf) return "  Who has woken them is not known: all of them began before the recording or go on.\n";
  return "  Who has woken them is not known; record --waits --waits-by ebpf tells (root, or CAP_BPF and "
         "CAP_PERFMON).\n";
}

void add_wakers(Json& json, const analysis::Model& model, const analysis::WokenRow& row,
                const analysis::Labels& labels) {
  const WakerRow& first = row.hops.front();
  json["woken_by"] = analysis::woken_by_name(first.by);
  json["waker"] = name_json(model, first);
  json["waker_chain"] = labels_json(first.chain, labels);
  Json hops = Json::array();
  for (const WakerRow& hop : row.hops) {
    Json waited;
    if (hop.waited) waited = {{"kind", model.wait_kinds[*hop.waited]}, {"ns", hop.waited_ns}};
    hops.push_back({{"woken_by", analysis::woken_by_name(hop.by)},
                    {"waker", name_json(model, hop)},
                    {"wakers", hop.time.size()},
                    {"waker_chain", labels_json(hop.chain, labels)},
                    {"had_waited", std::move(waited)}});
  }
  json["hops"] = std::move(hops);
}

}  // namespace tarsier::exporting
