#include "export/speedscope.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/cct.h"
#include "analysis/engine_account.h"
#include "analysis/stack_builder.h"
#include "export/escape.h"
#include "export/report_view.h"
#include "export/source_file.h"

namespace tarsier::exporting {
namespace {

using analysis::Cct;
using analysis::CctNode;

constexpr std::string_view kSchema = "https://www.speedscope.app/file-format-schema.json";
constexpr std::string_view kSmaller = "[smaller calls]";

// Nodes of at most this weight must go, so that no more than `limit` are left.
int64_t folded_weight(const Cct& cct, size_t limit) {
  if (cct.nodes.size() <= limit) return 0;
  std::vector<int64_t> totals;
  for (const CctNode& node : cct.nodes) totals.push_back(node.total);
  const auto last = totals.begin() + static_cast<ptrdiff_t>(limit);
  std::nth_element(totals.begin(), last, totals.end(), std::greater<>());
  return *last;
}

// The frames of all profiles, each name once.
class FrameTable {
 public:
  explicit FrameTable(const analysis::Model& model) {
    for (const analysis::Method& method : model.methods) file_of_.try_emplace(method.name, source_file_of(method));
  }

  uint32_t id(const std::string& name) {
    const auto [entry, fresh] = ids_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (fresh) names_.push_back(&entry->first);
    return entry->second;
  }
  void write(std::ostream& out) const {
    const char* comma = "";
    for (const std::string* name : names_) {
      out << comma << R"({"name":)" << json_text(visible(*name));
      const auto file = file_of_.find(*name);
      if (file != file_of_.end() && !file->second.empty()) out << R"(,"file":)" << json_text(visible(file->second));
      out << '}';
      comma = ",\n";
    }
  }

 private:
  std::unordered_map<std::string, uint32_t> ids_;  // its keys stay where they are
  std::vector<const std::string*> names_;
  std::unordered_map<std::string, std::string> file_of_;
};

// Writes the profiles of a tree: for every node with time of its own the path to it.
class ProfileWriter {
 public:
  ProfileWriter(const Cct& cct, std::string_view unit, FrameTable& frames, const SpeedscopeBounds& bounds,
                std::ostream& out)
      : cct_(cct),
        unit_(unit),
        frames_(frames),
        bounds_(bounds),
        folded_(folded_weight(cct, bounds.calls)),
        out_(out) {}

  // The part below `top`, which is no frame itself.
  void write(std::string_view name, uint32_t top) {
    weights_.clear();
    path_.clear();
    out_ << R"({"type":"sampled","name":)" << json_text(visible(name)) << R"(,"unit":")" << unit_
         << R"(","startValue":0,"endValue":)" << cct_.nodes[top].total << R"(,"samples":[)";
    walk(top);
    out_ << R"(],"weights":[)";
    for (size_t i = 0; i < weights_.size(); ++i) out_ << (i == 0 ? "" : ",") << weights_[i];
    out_ << "]}";
  }

 private:
  void walk(uint32_t top) {
    uint32_t node = visit(top);
    while (node != 0 && out_.good()) {
      path_.push_back(frames_.id(cct_.name(cct_.nodes[node])));
      uint32_t next = visit(node);
      while (next == 0 && node != top) {
        path_.pop_back();
        next = kept(cct_.nodes[node].next_sibling);
        node = cct_.nodes[node].parent;
      }
      node = next;
    }
  }

  // Writes what a node has of its own and of the calls that are folded; the first call to go on with, or 0.
  uint32_t visit(uint32_t index) {
    const CctNode& node = cct_.nodes[index];
    stack(node.self);
    const bool deep = path_.size() >= bounds_.depth;
    const uint32_t first = deep ? 0 : kept(node.first_child);
    int64_t folded = 0;
    for (uint32_t i = node.first_child; i != 0; i = cct_.nodes[i].next_sibling) {
      if (deep || kept(i) == 0) folded += cct_.nodes[i].total;
    }
    if (folded > 0) {
      path_.push_back(frames_.id(std::string(deep ? analysis::StackBuilder::kDeeper : kSmaller)));
      stack(folded);
      path_.pop_back();
    }
    return first;
  }

  // Siblings come by falling weight: the first one that is too light ends the row.
  [[nodiscard]] uint32_t kept(uint32_t node) const { return cct_.nodes[node].total > folded_ ? node : 0; }

  void stack(int64_t weight) {
    if (weight <= 0) return;
    out_ << (weights_.empty() ? "[" : ",[");
    for (size_t i = 0; i < path_.size(); ++i) out_ << (i == 0 ? "" : ",") << path_[i];
    out_ << ']';
    weights_.push_back(weight);
  }

  const Cct& cct_;
  std::string_view unit_;
  FrameTable& frames_;
  const SpeedscopeBounds& bounds_;
  int64_t folded_;
  std::ostream& out_;
  std::vector<uint32_t> path_;
  std::vector<int64_t> weights_;
};

}  // namespace

Status export_speedscope(const analysis::Model& model, std::ostream& out, const SpeedscopeBounds& bounds) {
  const analysis::Selection all;
  const std::string_view unit = model.profile == analysis::Profile::kAlloc ? "bytes"
                                : analysis::tells_its_period(model)        ? "nanoseconds"
                                                                           : "none";
  FrameTable frames(model);
  out << R"({"$schema":)" << json_text(kSchema) << R"(,"exporter":"tarsier","name":)"
      << json_text(visible(model.file.substr(model.file.rfind('/') + 1))) << R"(,"activeProfileIndex":0,"profiles":[)";
  {
    const Cct together = build_cct(model, weigh_stacks(model, all), label_methods(model, false), /*by_thread=*/false,
                                   unsampled_cpu(model, all));
    ProfileWriter(together, unit, frames, bounds, out).write("all threads", 0);
  }
  const Cct apart = build_cct(model, weigh_stacks(model, all, /*by_thread=*/true), label_methods(model, false),
                              /*by_thread=*/true, {});
  ProfileWriter writer(apart, unit, frames, bounds, out);
  size_t threads = 0;
  for (uint32_t top = apart.nodes[0].first_child; top != 0 && threads < bounds.threads; ++threads) {
    out << ",\n";
    writer.write(apart.name(apart.nodes[top]), top);
    top = apart.nodes[top].next_sibling;
  }
  out << R"(],"shared":{"frames":[)";
  frames.write(out);
  out << "]}}\n";
  out.flush();
  if (!out.good()) return Error{Errc::kFailed, "speedscope: writing failed; is the disk full?"};
  return {};
}

}  // namespace tarsier::exporting
