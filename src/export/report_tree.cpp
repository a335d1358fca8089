#include "export/report_tree.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/callers.h"
#include "analysis/wording.h"
#include "export/escape.h"
#include "export/report_view.h"
#include "export/text_table.h"

namespace tarsier::exporting {

using analysis::Cct;
using analysis::CctNode;

namespace {

// Recursion is one line with a count; longer chains than this lose their middle.
constexpr size_t kMaxChain = 60;
constexpr size_t kChainEnds = 20;
constexpr size_t kMaxIndent = 44;

int64_t min_weight(const Cct& cct, double min_share) {
  const double least = std::ceil(min_share * static_cast<double>(cct.nodes[0].total));
  return std::max<int64_t>(1, static_cast<int64_t>(least));
}

// Children are ordered by weight: the first one that is too light ends the list.
uint32_t if_heavy(const Cct& cct, uint32_t node, int64_t least) {
  return node != 0 && cct.nodes[node].total >= least ? node : 0;
}

class TextTree {
 public:
  TextTree(const Cct& cct, double min_share) : cct_(cct), least_(min_weight(cct, min_share)) {}

  std::string render() {
    const uint32_t first = if_heavy(cct_, cct_.nodes[0].first_child, least_);
    if (first == 0) return "  nothing to show\n";
    out_ = "    total     self\n";
    todo_.push_back({first, 0});
    while (!todo_.empty()) {
      const Branch branch = todo_.back();
      todo_.pop_back();
      if (const uint32_t sibling = if_heavy(cct_, cct_.nodes[branch.node].next_sibling, least_); sibling != 0) {
        todo_.push_back({sibling, branch.level});
      }
      chain(branch);
    }
    return out_;
  }

 private:
  struct Branch {
    uint32_t node;
    size_t level;
  };
  struct Line {
    uint32_t node;
    int64_t self;
    size_t times;
  };

  // The branch's node and, while there is just one callee to show, that one; then the branches below.
  void chain(const Branch& branch) {
    std::vector<Line> lines;
    uint32_t node = branch.node;
    for (;;) {
      const CctNode& current = cct_.nodes[node];
      if (!lines.empty() && cct_.nodes[lines.back().node].label == current.label) {
        lines.back().self += current.self;
        lines.back().times += 1;
      } else {
        lines.push_back({node, current.self, 1});
      }
      const uint32_t child = if_heavy(cct_, current.first_child, least_);
      if (child == 0) break;
      if (if_heavy(cct_, cct_.nodes[child].next_sibling, least_) != 0) {
        todo_.push_back({child, branch.level + 1});
        break;
      }
      node = child;
    }
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines.size() > kMaxChain && i == kChainEnds) {
        const size_t left_out = lines.size() - 2 * kChainEnds;
        out_ += std::string(21 + indent(branch.level), ' ') + "(" + analysis::words_of_count(left_out) +
                " frames left out here; --json has them)\n";
        i += left_out;
      }
      line(lines[i], branch.level, i == 0);
    }
  }

  static size_t indent(size_t level) { return std::min(level * 2, kMaxIndent); }

  void line(const Line& line, size_t level, bool first) {
    const CctNode& node = cct_.nodes[line.node];
    const auto all = static_cast<double>(cct_.nodes[0].total);
    std::string suffix;
    if (line.times > 1) {
      suffix = " (x" + analysis::words_of_count(line.times) + ")";
    } else if (node.line > 0) {
      suffix = ":" + std::to_string(node.line);
    }
    out_ += pad_left(analysis::words_of_share(static_cast<double>(node.total) / all), 9);
    out_ += pad_left(analysis::words_of_share(static_cast<double>(line.self) / all), 9);
    out_ += "  " + std::string(indent(level), ' ') + (first ? "+ " : "  ");
    const size_t used = 22 + indent(level) + suffix.size();
    out_ += cut_front(visible(cct_.name(node)), kColumns - std::min(used, kColumns - 10)) + suffix + "\n";
  }

  const Cct& cct_;
  const int64_t least_;
  std::vector<Branch> todo_;
  std::string out_;
};

void append_node_start(std::string& out, std::string_view name, std::string_view type, int32_t line, int64_t weight,
                       int64_t self) {
  out += "{\"method\":" + json_text(name);
  out += ",\"type\":" + json_text(type);
  out += ",\"line\":" + std::to_string(line);
  out += ",\"weight\":" + std::to_string(weight);
  out += ",\"self\":" + std::to_string(self);
  out += ",\"children\":[";
}

void append_node_start(std::string& out, const Cct& cct, const CctNode& node) {
  append_node_start(out, cct.name(node), recording::frame_type_name(node.type), node.line, node.total, node.self);
}

Cct whole_tree(const ReportContext& context) {
  if (!context.options.by_thread) return context.tree();
  return analysis::build_cct(context.model, analysis::weigh_stacks(context.model, context.selection, true),
                             context.labels(), true, context.unsampled());
}

Cct callers(const ReportContext& context) {
  return analysis::build_callers(context.model, context.weights, context.labels(),
                                 {.min_share = context.options.min_share, .max_depth = kMaxJsonDepth},
                                 context.unsampled());
}

std::string heading(const ReportContext& context, const std::string& what, const Cct& cct) {
  std::string text = what + " (shares of " + whole_of(context, cct.nodes[0].total);
  if (context.options.min_share > 0)
    text += "; without what has less than " + analysis::words_of_share(context.options.min_share);
  return text + ")\n";
}

}  // namespace

std::string tree_as_text(const Cct& cct, double min_share) {
  return TextTree(cct, min_share).render();
}

std::string tree_as_json(const Cct& cct, double min_share) {
  const int64_t least = min_weight(cct, min_share);
  const auto& nodes = cct.nodes;
  std::string out;
  append_node_start(out, cct, nodes[0]);
  uint32_t node = 0;
  uint32_t depth = 0;
  for (;;) {
    uint32_t next = if_heavy(cct, nodes[node].first_child, least);
    if (next != 0 && depth == kMaxJsonDepth) {
      const int64_t rest = nodes[node].total - nodes[node].self;
      append_node_start(out, "[deeper]", recording::frame_type_name(recording::FrameType::kMarker), 0, rest, rest);
      out += "]}";
      next = 0;
    }
    if (next != 0) {
      ++depth;
    } else {
      // Close this node, and every caller that has no further callee.
      while (node != 0 && (next = if_heavy(cct, nodes[node].next_sibling, least)) == 0) {
        out += "]}";
        node = nodes[node].parent;
        --depth;
      }
      out += "]}";
      if (node == 0) return out;
      out += ',';
    }
    node = next;
    append_node_start(out, cct, nodes[node]);
  }
}

std::string tree_text(const ReportContext& context) {
  const Cct cct = whole_tree(context);
  return heading(context, "Calling contexts", cct) + tree_as_text(cct, context.options.min_share);
}
std::string tree_json(const ReportContext& context) {
  return tree_as_json(whole_tree(context), context.options.min_share);
}

std::string callers_text(const ReportContext& context) {
  const Cct cct = callers(context);
  return heading(context, "Callers of the hottest methods", cct) + tree_as_text(cct, context.options.min_share);
}
std::string callers_json(const ReportContext& context) {
  return tree_as_json(callers(context), context.options.min_share);
}

}  // namespace tarsier::exporting
