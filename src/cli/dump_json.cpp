#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/dump_view.h"
#include "export/escape.h"

namespace tarsier::cli {
namespace {

using Json = nlohmann::ordered_json;
using exporting::visible;

Json or_null(const std::string& text) {
  return text.empty() ? Json() : Json(visible(text));
}
template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

std::string address(uint64_t value) {
  char digits[17] = {};
  (void)std::to_chars(digits, digits + sizeof digits - 1, value, 16);
  return std::string("0x") + digits;
}

std::string_view name_of(dump::Wait how) {
  switch (how) {
    case dump::Wait::kMonitor:
      return "monitor";
    case dump::Wait::kNotify:
      return "notification";
    case dump::Wait::kParked:
      return "synchronizer";
    case dump::Wait::kClassInit:
      return "class initialization";
  }
  return "";
}

Json lock_json(const dump::Lock& lock) {
  return {{"class", or_null(lock.klass)}, {"address", lock.address != 0 ? Json(address(lock.address)) : Json()}};
}

// Main.java:12
Json frame_json(const dump::Frame& frame) {
  const size_t colon = frame.location.rfind(':');
  int line = 0;
  const char* end = frame.location.data() + frame.location.size();
  const bool has_line = colon != std::string::npos &&
                        std::from_chars(frame.location.data() + colon + 1, end, line).ptr == end && line > 0;
  return {{"method", visible(frame.method)},
          {"location", or_null(has_line ? frame.location.substr(0, colon) : frame.location)},
          {"line", has_line ? Json(line) : Json()}};
}

Json or_null(const dump::Frame* frame) {
  return frame != nullptr ? frame_json(*frame) : Json();
}

class Writer {
 public:
  explicit Writer(const DumpView& view) : view_(view) {}

  Json deadlocks() const {
    Json list = Json::array();
    for (const dump::Deadlock& deadlock : view_.deadlocks) {
      Json edges = Json::array();
      for (const size_t member : deadlock) {
        const dump::Thread& thread = thread_at(member);
        edges.push_back({{"thread", visible(thread.name)},
                         {"thread_id", thread.id},
                         {"waits_in", or_null(DumpView::waits_in(thread))},
                         {"lock", awaited(member)}});
      }
      list.push_back({{"edges", std::move(edges)}});
    }
    return list;
  }

  Json threads() const {
    Json list = Json::array();
    for (size_t i = 0; i < view_.threads.threads.size(); ++i) list.push_back(json_of_thread(i));
    return list;
  }

 private:
  const dump::Thread& thread_at(size_t index) const { return view_.threads.threads[index]; }

  Json awaited(size_t index) const {
    const dump::Thread& thread = thread_at(index);
    if (!thread.awaits) return {};
    const auto& holder = view_.holders[index];
    Json json = {{"kind", name_of(thread.awaits->how)}};
    json.update(lock_json(thread.awaits->lock));
    json["timed"] = thread.is_timed();
    json["held_by"] = holder ? Json(visible(thread_at(holder->thread).name)) : Json();
    json["held_by_id"] = holder ? Json(thread_at(holder->thread).id) : Json();
    json["held_in"] = or_null(view_.held_in(index));
    return json;
  }

  Json held(const dump::Thread& thread) const {
    Json list = Json::array();
    for (const dump::HeldLock& lock : thread.holds) {
      Json json = {{"kind", lock.kind == dump::LockKind::kMonitor ? "monitor" : "synchronizer"}};
      json.update(lock_json(lock.lock));
      json["frame"] = or_null(lock.frame);
      list.push_back(std::move(json));
    }
    return list;
  }

  Json json_of_thread(size_t index) const {
    const dump::Thread& thread = thread_at(index);
    Json stack = Json::array();
    for (const dump::Frame& frame : thread.frames) stack.push_back(frame_json(frame));
    return {{"id", thread.id},
            {"name", visible(thread.name)},
            {"native_id", thread.native_id},
            {"daemon", thread.daemon},
            {"priority", thread.priority != 0 ? Json(thread.priority) : Json()},
            {"cpu_ms", or_null(thread.cpu_ms)},
            {"elapsed_s", or_null(thread.elapsed_s)},
            {"state", or_null(thread.state)},
            {"state_detail", or_null(thread.state_detail)},
            {"carries_virtual_thread", or_null(thread.carries)},
            {"stack", std::move(stack)},
            {"holds", held(thread)},
            {"awaits", awaited(index)}};
  }

  const DumpView& view_;
};

}  // namespace

std::string json_of(const DumpView& view, const attach::Jvm& jvm) {
  const Writer writer(view);
  const Json document = {{"jvm",
                          {{"pid", jvm.pid},
                           {"version", or_null(jvm.version)},
                           {"main", or_null(jvm.main)},
                           {"vm", visible(view.threads.vm)}}},
                         {"time", or_null(view.threads.time)},
                         {"missing_threads", view.threads.missing},
                         {"deadlocks", writer.deadlocks()},
                         {"threads", writer.threads()}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tarsier::cli
