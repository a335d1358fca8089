#include "export/page_threads.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/machine_stack.h"
#include "export/columns.h"

namespace tarsier::exporting {
namespace {

using analysis::Model;
using analysis::Resource;
using analysis::Thread;
using recording::TimePart;

std::string label_of(const Thread& thread) {
  if (!thread.name.empty()) return thread.name;
  return thread.is_virtual ? "[virtual threads]" : "thread " + std::to_string(thread.os_id);
}

// Of a hostile file the sum may be more than fits.
void add(int64_t& sum, int64_t value) {
  sum = std::min(sum + std::clamp<int64_t>(value, 0, kMaxColumnNumber), kMaxColumnNumber);
}

void add_account(PageThread& row, const Model& model, size_t index, const std::vector<int64_t>& blocked) {
  const Thread& thread = model.threads[index];
  const auto resource = [&](Resource which) { return thread.resources.of(which).value_or(0); };
  if (thread.cpu) add(row.cpu, thread.cpu->count - std::min(thread.cpu->count, thread.carried.count));
  add(row.system, resource(Resource::kSystem));
  add(row.steal, resource(Resource::kSteal));
  add(row.voluntary, resource(Resource::kVoluntarySwitches));
  add(row.involuntary, resource(Resource::kInvoluntarySwitches));
  add(row.faults, resource(Resource::kMinorFaults));
  add(row.faults, resource(Resource::kMajorFaults));
  add(row.migrations, resource(Resource::kMigrations));
  if (index < blocked.size()) add(row.blocked, blocked[index]);
  const auto times = model.thread_times.find(analysis::ThreadIndex(static_cast<uint32_t>(index)));
  const bool timed = times != model.thread_times.end();
  if (timed) add(row.waiting, times->second.waiting().count);
  const auto queued = thread.resources.of(Resource::kRunQueue);
  add(row.queue, queued ? *queued : timed ? times->second.of(TimePart::kQueue).time.count : 0);
}

// Names that several rows share are one text.
class Texts {
 public:
  int64_t intern(const std::string& text) {
    const auto [found, fresh] = ids_.try_emplace(text, static_cast<int64_t>(texts_.size()));
    if (fresh) texts_.push_back(text);
    return found->second;
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, int64_t> ids_;
};

struct Column {
  const char* name;
  int64_t PageThread::*value;
};
constexpr Column kAccount[] = {
    {"cpu", &PageThread::cpu},
    {"system", &PageThread::system},
    {"steal", &PageThread::steal},
    {"queue", &PageThread::queue},
    {"waiting", &PageThread::waiting},
    {"blocked", &PageThread::blocked},
    {"voluntary", &PageThread::voluntary},
    {"involuntary", &PageThread::involuntary},
    {"faults", &PageThread::faults},
    {"migrations", &PageThread::migrations},
};

}  // namespace

PageThreads::PageThreads(const Model& model, const std::vector<int64_t>& blocked) {
  std::unordered_map<std::string, uint32_t> virtual_row;
  of_thread_.reserve(model.threads.size());
  for (size_t i = 0; i < model.threads.size(); ++i) {
    const Thread& thread = model.threads[i];
    const std::string label = label_of(thread);
    auto row = static_cast<uint32_t>(rows_.size());
    if (thread.is_virtual) row = virtual_row.try_emplace(label, row).first->second;
    of_thread_.push_back(row);
    if (row == rows_.size()) {
      rows_.push_back({label, thread.group, thread.kind, thread.os_id, thread.java_id, thread.is_virtual});
    } else {
      ++rows_[row].merged;
    }
    add_account(rows_[row], model, i, blocked);
  }
  // Who held a lock may not be known.
  const analysis::Samples& owners = samples_of(model, analysis::Profile::kOwners);
  if (std::any_of(owners.begin(), owners.end(), [&](const analysis::Sample& sample) { return !has(sample.thread); })) {
    nobody_ = static_cast<uint32_t>(rows_.size());
    rows_.push_back({.name = "[no owner known]", .group = {}, .kind = analysis::ThreadKind::kOther});
  }
  const auto& unsampled = model.unsampled_cpu;
  if (std::none_of(unsampled.begin(), unsampled.end(), [](const auto& kind) { return kind.second.count > 0; })) return;
  not_sampled_ = static_cast<uint32_t>(rows_.size());
  rows_.push_back({.name = "[not sampled]", .group = {}, .kind = analysis::ThreadKind::kOther});
}

uint32_t PageThreads::row_of_name(const PageThread& thread) {
  if (by_name_.empty()) {
    for (uint32_t i = 0; i < rows_.size(); ++i) by_name_.try_emplace(rows_[i].name, i);
  }
  const auto [found, fresh] = by_name_.try_emplace(thread.name, static_cast<uint32_t>(rows_.size()));
  if (fresh) rows_.push_back({thread.name, thread.group, thread.kind, thread.os_id, thread.java_id, thread.is_virtual});
  return found->second;
}

std::string PageThreads::encode() const {
  Texts texts;
  texts.intern("");
  std::vector<int64_t> name, pool, group, kind, os_id, java_id, is_virtual, merged;
  for (const PageThread& row : rows_) {
    name.push_back(texts.intern(row.name));
    pool.push_back(texts.intern(analysis::pool_of_thread(row.name)));
    group.push_back(texts.intern(row.group));
    kind.push_back(static_cast<int64_t>(row.kind));
    os_id.push_back(row.os_id);
    java_id.push_back(row.java_id);
    is_virtual.push_back(row.is_virtual ? 1 : 0);
    merged.push_back(row.merged);
  }
  ColumnWriter out;
  out.texts("names", texts.all());
  out.numbers("name", name);
  out.numbers("pool", pool);
  out.sparse("group", group);
  out.numbers("kind", kind);
  out.numbers("os_id", os_id);
  out.numbers("java_id", java_id);
  out.numbers("virtual", is_virtual);
  out.numbers("merged", merged);
  for (const Column& column : kAccount) {
    std::vector<int64_t> values;
    values.reserve(rows_.size());
    for (const PageThread& row : rows_) values.push_back(row.*column.value);
    if (std::any_of(values.begin(), values.end(), [](int64_t value) { return value != 0; })) {
      out.sparse(column.name, values);
    }
  }
  return std::move(out).finish();
}

}  // namespace tarsier::exporting
