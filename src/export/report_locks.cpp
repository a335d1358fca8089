// The view `locks`, as text and as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/contentions.h"
#include "analysis/deadlock.h"
#include "analysis/lock_profile.h"
#include "analysis/wording.h"
#include "base/share.h"
#include "export/escape.h"
#include "export/report_lock_causes.h"
#include "export/report_view.h"
#include "export/text_table.h"

namespace tarsier::exporting {

using analysis::LockAspect;
using analysis::LockNode;
using analysis::LockProfile;
using analysis::Owner;
using analysis::words_of_count;
using analysis::words_of_share;
using analysis::words_of_time;
using Json = nlohmann::ordered_json;

namespace {

// What a view is made of.
struct LockView {
  explicit LockView(const ReportContext& report)
      : context(report),
        code(report.model),
        keys(report.model, code, report.labels()),
        answer(report.locks ? report.locks
                            : std::make_shared<const LockProfile>(analysis::lock_profile(
                                  report.model, code, report.selection, keys, report.lock_aspects))),
        profile(*answer),
        times(profile.times ? profile.times
                            : std::make_shared<const analysis::BlockedTimes>(
                                  analysis::blocked_times(report.model, code, report.selection))) {}

  // Of the node's children, those that --top and --min-share leave.
  [[nodiscard]] std::vector<uint32_t> shown(const LockNode& node) const {
    std::vector<uint32_t> rows;
    for (const uint32_t child : node.children) {
      const double part = share(profile.nodes[child].blocked_ns, profile.total());
      if (rows.size() == static_cast<size_t>(context.options.top) || part < context.options.min_share) break;
      rows.push_back(child);
    }
    return rows;
  }
  [[nodiscard]] LockAspect aspect_of(const LockNode& node) const { return profile.by[node.level - 1]; }
  [[nodiscard]] int64_t of_owner(Owner::Kind kind) const { return profile.by_owner[static_cast<size_t>(kind)]; }

  const ReportContext& context;
  analysis::LockCode code;
  analysis::AspectKeys keys;
  LockAnswer answer;
  const LockProfile& profile;
  std::shared_ptr<const analysis::BlockedTimes> times;
};

// As many frames as fit, then how many there are more: a < b < c [+12].
std::string short_chain(const analysis::AspectKeys& keys, uint32_t key, size_t columns) {
  const auto chain = keys.chain(key, columns);
  constexpr size_t kRest = 8;  // " [+1234]"
  std::string text;
  size_t used = 0;
  for (; used < chain.frames.size(); ++used) {
    const std::string frame = visible(without_package(chain.frames[used]));
    const bool last = used + 1 == chain.frames.size() && chain.left_out == 0;
    const size_t room = last ? columns : columns - std::min(columns, kRest);
    if (!text.empty() && display_width(text) + 3 + display_width(frame) > room) break;
    text += text.empty() ? cut_front(frame, std::max<size_t>(room, 1)) : " < " + frame;
  }
  const size_t rest = chain.frames.size() - used + chain.left_out;
  return rest == 0 ? text : text + " [+" + std::to_string(rest) + "]";
}

std::string label_within(const LockView& view, const LockNode& node, size_t columns) {
  const LockAspect aspect = view.aspect_of(node);
  if (aspect == LockAspect::kBlockedChain || aspect == LockAspect::kOwnerChain) {
    return short_chain(view.keys, node.key, columns);
  }
  return cut_front(visible(view.keys.label(aspect, node.key)), columns);
}

std::string heading(const LockView& view) {
  const LockProfile& profile = view.profile;
  std::string by;
  for (const LockAspect aspect : profile.by) (by += by.empty() ? "" : ", ") += analysis::lock_aspect_name(aspect);
  std::string out = "Locks (shares of " + words_of_time(Nanos(profile.total())) + " that threads were blocked, in " +
                    words_of_count(profile.nodes[0].contentions.count()) + " contentions)\n";
  std::string owners =
      "Who held the lock: known with the call chain " +
      words_of_share(share(view.of_owner(Owner::Kind::kChain), profile.total())) + ", only the thread is known " +
      words_of_share(share(view.of_owner(Owner::Kind::kThread), profile.total())) + ", [hand-off] " +
      words_of_share(share(view.of_owner(Owner::Kind::kHandOff), profile.total())) + ", [unknown owner] " +
      words_of_share(share(view.of_owner(Owner::Kind::kUnknown), profile.total())) + ".";
  append_wrapped(out, owners);
  return out + "By " + by + ":\n";
}

// Where bounds made the answer worse: that has to be said.
std::vector<std::string> words_of_limits(const LockProfile& profile) {
  const analysis::LockAccount& account = profile.account;
  std::vector<std::string> words;
  if (account.uncut > 0) {
    words.push_back("There are more changes of owners than are looked at: " + words_of_count(account.uncut) +
                    " contentions have an [unknown owner] because of that; --from and --to choose a part of the time.");
  }
  if (account.forgotten > 0) {
    words.push_back("The recording is larger than what is kept in mind of it: " + words_of_count(account.forgotten) +
                    " contentions began before that, and have an [unknown owner] until there.");
  }
  if (account.late > 0) {
    words.push_back(words_of_count(account.late) +
                    " events came too late to tell others who held a lock, or came twice: the recording's order is "
                    "unusual, or it has more events than are kept in mind.");
  }
  if (profile.merged > 0) words.push_back("Of so many rows the last ones are shown together, as [more].");
  return words;
}

// What the numbers don't contain.
void append_remarks(std::string& out, const LockView& view) {
  for (const std::string& words : words_of_limits(view.profile)) append_wrapped(out, words);
  const std::string missing = missing_owners_text(view.context.model);
  if (!missing.empty()) append_wrapped(out, missing);
  const bool all_groups =
      std::find(view.profile.by.begin(), view.profile.by.end(), LockAspect::kGroup) != view.profile.by.end();
  int64_t rest = 0;
  for (size_t i = 0; i < view.profile.by_group.size(); ++i) {
    if (!analysis::is_lock(static_cast<analysis::LockGroup>(i))) rest += view.profile.by_group[i];
  }
  if (!all_groups && rest > 0) {
    append_wrapped(out, "Not in there: " + words_of_time(Nanos(rest)) +
                            " in which threads were parked for conditions, queues, joins and the like; --by group "
                            "shows them, too.");
  }
}

void append_row(std::string& out, const LockView& view, const LockNode& node) {
  std::string line = pad_left(words_of_time(Nanos(node.blocked_ns)), 12);
  line += pad_left(words_of_share(share(node.blocked_ns, view.profile.total())), 8);
  line += pad_left(words_of_count(node.contentions.count()), 10);
  for (const int64_t ns : {node.contentions.mean(), node.contentions.percentile(0.95), node.contentions.max()}) {
    line += pad_left(words_of_time(Nanos(ns)), 9);
  }
  line += std::string(2 + 2 * (node.level - 1), ' ');
  out += line + label_within(view, node, kColumns - line.size()) + "\n";
}

Json deadlocks_json(const analysis::Model& model) {
  const auto name_of = [&](analysis::ThreadIndex thread) {
    return thread == analysis::kNobody ? Json() : Json(model.threads[thread.value].name);
  };
  Json deadlocks = Json::array();
  for (const analysis::Deadlock& deadlock : model.deadlocks) {
    Json edges = Json::array();
    for (const analysis::DeadlockEdge& edge : deadlock.edges) {
      const std::string lock = analysis::lock_name(model, edge.lock);
      edges.push_back({{"thread", name_of(edge.thread)},
                       {"waits_in", analysis::waits_in(model, edge)},
                       {"lock",
                        {{"kind", edge.is_monitor ? "monitor" : "synchronizer"},
                         {"class", analysis::lock_class_name(model, edge.lock)},
                         {"identity", lock.substr(lock.rfind('@') + 1)},
                         {"held_by", name_of(edge.owner)}}}});
    }
    deadlocks.push_back(
        {{"noticed_s", in_seconds(Nanos(deadlock.noticed_ns - model.start_ns))}, {"edges", std::move(edges)}});
  }
  return deadlocks;
}

void append_deadlocks(std::string& out, const analysis::Model& model) {
  for (const analysis::Deadlock& deadlock : model.deadlocks) {
    append_wrapped(out, visible(analysis::words_of_deadlock(model, deadlock, deadlock.edges.size())));
  }
}

Json row_json(const LockView& view, const LockNode& node) {
  const LockAspect aspect = view.aspect_of(node);
  Json children = Json::array();
  // As deep as there are aspects.
  for (const uint32_t child : view.shown(node)) children.push_back(row_json(view, view.profile.nodes[child]));
  return {{"key", view.keys.id(aspect, node.key)},
          {"label", view.keys.label(aspect, node.key)},
          {"blocked_ns", node.blocked_ns},
          {"share", share(node.blocked_ns, view.profile.total())},
          {"count", node.contentions.count()},
          {"mean_ns", node.contentions.mean()},
          {"p50_ns", node.contentions.percentile(0.5)},
          {"p95_ns", node.contentions.percentile(0.95)},
          {"max_ns", node.contentions.max()},
          {"children", std::move(children)}};
}

}  // namespace

std::string missing_owners_text(const analysis::Model& model) {
  if (model.locks.empty() || analysis::owners_recorded(model)) return {};
  return std::string("Only who was blocked is recorded") + (model.locks.has_parks() ? "" : ", and by monitors only") +
         ": call chains of those who held the locks are not, record --lock records them.";
}

std::string locks_text(const ReportContext& context) {
  const LockView view(context);
  std::string out;
  append_deadlocks(out, context.model);
  out += heading(view);
  const std::vector<uint32_t> first = view.shown(view.profile.nodes[0]);
  if (first.empty()) {
    out += "  none\n";
    append_remarks(out, view);
    return out + lock_causes_text(context, view.code, view.keys, *view.times);
  }
  out += "     blocked   share     times     mean   95th %      max\n";
  std::vector<uint32_t> todo(first.rbegin(), first.rend());
  while (!todo.empty()) {
    const LockNode& node = view.profile.nodes[todo.back()];
    todo.pop_back();
    append_row(out, view, node);
    const std::vector<uint32_t> children = view.shown(node);
    todo.insert(todo.end(), children.rbegin(), children.rend());
  }
  append_left_out(out, first.size(), view.profile.nodes[0].children.size());
  append_remarks(out, view);
  return out + lock_causes_text(context, view.code, view.keys, *view.times);
}

std::string locks_json(const ReportContext& context) {
  const LockView view(context);
  const LockProfile& profile = view.profile;
  Json by = Json::array();
  for (const LockAspect aspect : profile.by) by.push_back(analysis::lock_aspect_name(aspect));
  Json rows = Json::array();
  for (const uint32_t row : view.shown(profile.nodes[0])) rows.push_back(row_json(view, profile.nodes[row]));
  Json groups = Json::object();
  for (size_t i = 0; i < profile.by_group.size(); ++i) {
    groups[std::string(analysis::lock_group_name(static_cast<analysis::LockGroup>(i)))] = profile.by_group[i];
  }
  Json json = {{"by", std::move(by)},
               {"total_ns", profile.total()},
               {"count", profile.nodes[0].contentions.count()},
               {"owners_recorded", analysis::owners_recorded(context.model)},
               {"owners",
                {{"chain_ns", view.of_owner(Owner::Kind::kChain)},
                 {"thread_ns", view.of_owner(Owner::Kind::kThread)},
                 {"hand_off_ns", view.of_owner(Owner::Kind::kHandOff)},
                 {"unknown_ns", view.of_owner(Owner::Kind::kUnknown)}}},
               {"groups", std::move(groups)},
               {"deadlocks", deadlocks_json(context.model)},
               {"remarks", words_of_limits(profile)},
               {"rows", std::move(rows)}};
  add_lock_causes(json, context, view.code, view.keys, *view.times);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tarsier::exporting
