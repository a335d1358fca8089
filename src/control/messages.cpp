#include "control/messages.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace tarsier::control {
namespace {

using nlohmann::json;

// Missing or mistyped members keep their default: a peer can be older or hostile, and neither may make us throw.
template <class T>
void take(const json& object, const char* name, T& out) {
  const auto it = object.find(name);
  if (it == object.end()) return;
  if constexpr (std::is_same_v<T, std::string>) {
    if (it->is_string()) out = it->template get_ref<const std::string&>();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (it->is_boolean()) out = it->template get<bool>();
  } else if constexpr (std::is_same_v<T, Nanos> || std::is_same_v<T, Bytes>) {
    if (it->is_number_integer()) out = T(it->template get<int64_t>());
  } else if constexpr (std::is_floating_point_v<T>) {
    if (it->is_number()) out = it->template get<T>();
  } else {
    if (it->is_number_integer()) out = it->template get<T>();
  }
}

void take_strings(const json& object, const char* name, std::vector<std::string>& out) {
  const auto it = object.find(name);
  if (it == object.end() || !it->is_array()) return;
  for (const json& text : *it) {
    if (text.is_string()) out.push_back(text.get<std::string>());
  }
}

void take_numbers(const json& object, const char* name, std::vector<uint64_t>& out) {
  const auto it = object.find(name);
  if (it == object.end() || !it->is_array()) return;
  for (const json& number : *it) {
    if (number.is_number_integer()) out.push_back(number.get<uint64_t>());
  }
}

json counts_to_json(const std::map<std::string, uint64_t>& counts) {
  json object = json::object();
  for (const auto& [cause, count] : counts) object[cause] = count;
  return object;
}

json to_json(const Hello& m) {
  return {{"type", "hello"}, {"agent_version", m.agent_version}, {"jvm", m.jvm}, {"pid", m.pid}};
}
void from_json_object(const json& j, Hello& m) {
  take(j, "agent_version", m.agent_version);
  take(j, "jvm", m.jvm);
  take(j, "pid", m.pid);
}

json to_json(const Start& m) {
  return {{"type", "start"},
          {"options", to_agent_string(m.options)},
          {"file_name", m.file_name},
          {"most_on_disk", m.most_on_disk.count}};
}
json to_json(const Started& m) {
  json engines = json::array();
  for (const EngineReport& e : m.engines) {
    engines.push_back({{"name", e.name},
                       {"mechanism", e.mechanism},
                       {"why", e.why},
                       {"interval_ns", e.interval.count},
                       {"interval_bytes", e.interval_bytes.count},
                       {"runs", e.runs}});
  }
  return {{"type", "started"}, {"engines", engines}, {"warnings", m.warnings}};
}
void from_json_object(const json& j, Started& m) {
  if (const auto it = j.find("engines"); it != j.end() && it->is_array()) {
    for (const json& e : *it) {
      if (!e.is_object()) continue;
      EngineReport& report = m.engines.emplace_back();
      take(e, "name", report.name);
      take(e, "mechanism", report.mechanism);
      take(e, "why", report.why);
      take(e, "interval_ns", report.interval);
      take(e, "interval_bytes", report.interval_bytes);
      take(e, "runs", report.runs);
    }
  }
  take_strings(j, "warnings", m.warnings);
}

json to_json(const Progress& m) {
  return {{"type", "progress"},
          {"elapsed_ns", m.elapsed.count},
          {"taken", m.taken},
          {"written", m.written},
          {"dropped", m.dropped},
          {"failed", m.failed},
          {"overhead_app_ns", m.overhead_app.count},
          {"overhead_background_ns", m.overhead_background.count},
          {"file_size", m.file_size.count},
          {"hottest", m.hottest},
          {"hottest_share", m.hottest_share}};
}
void from_json_object(const json& j, Progress& m) {
  take(j, "elapsed_ns", m.elapsed);
  take(j, "taken", m.taken);
  take(j, "written", m.written);
  take(j, "dropped", m.dropped);
  take(j, "failed", m.failed);
  take(j, "overhead_app_ns", m.overhead_app);
  take(j, "overhead_background_ns", m.overhead_background);
  take(j, "file_size", m.file_size);
  take(j, "hottest", m.hottest);
  take(j, "hottest_share", m.hottest_share);
}

json to_json(const KernelWanted& m) {
  return {{"type", "kernel_wanted"}, {"layout", m.layout}, {"ring_bytes", m.ring.count}};
}
void from_json_object(const json& j, KernelWanted& m) {
  take_numbers(j, "layout", m.layout);
  take(j, "ring_bytes", m.ring);
}

json to_json(const KernelLent& m) {
  return {{"type", "kernel_lent"},
          {"refusal", m.refusal},
          {"scratch_bytes", m.scratch.count},
          {"sees_kernel", m.sees_kernel},
          {"hides_kernel", m.hides_kernel}};
}
void from_json_object(const json& j, KernelLent& m) {
  take(j, "refusal", m.refusal);
  take(j, "scratch_bytes", m.scratch);
  take(j, "sees_kernel", m.sees_kernel);
  take(j, "hides_kernel", m.hides_kernel);
}

json to_json(const WaitsWanted& m) {
  return {
      {"type", "waits_wanted"}, {"layout", m.layout}, {"ring_bytes", m.ring.count}, {"copies_bytes", m.copies.count}};
}
void from_json_object(const json& j, WaitsWanted& m) {
  take_numbers(j, "layout", m.layout);
  take(j, "ring_bytes", m.ring);
  take(j, "copies_bytes", m.copies);
}

json to_json(const WaitsLent& m) {
  return {{"type", "waits_lent"}, {"refusal", m.refusal}, {"maps_bytes", m.maps.count}};
}
void from_json_object(const json& j, WaitsLent& m) {
  take(j, "refusal", m.refusal);
  take(j, "maps_bytes", m.maps);
}

json to_json(const TurnsWanted&) {
  return {{"type", "turns_wanted"}};
}

json to_json(const TurnsLent& m) {
  return {{"type", "turns_lent"}, {"refusal", m.refusal}};
}
void from_json_object(const json& j, TurnsLent& m) {
  take(j, "refusal", m.refusal);
}

json to_json(const Stop&) {
  return {{"type", "stop"}};
}

json to_json(const Finished& m) {
  return {{"type", "finished"},
          {"complete", m.complete},
          {"missing", m.missing},
          {"warnings", m.warnings},
          {"taken", m.taken},
          {"written", m.written},
          {"dropped", counts_to_json(m.dropped)},
          {"file_size", m.file_size.count}};
}
void from_json_object(const json& j, Finished& m) {
  take(j, "complete", m.complete);
  take(j, "missing", m.missing);
  take_strings(j, "warnings", m.warnings);
  take(j, "taken", m.taken);
  take(j, "written", m.written);
  take(j, "file_size", m.file_size);
  if (const auto it = j.find("dropped"); it != j.end() && it->is_object()) {
    for (const auto& [cause, count] : it->items()) {
      if (count.is_number_integer()) m.dropped[cause] = count.get<uint64_t>();
    }
  }
}

constexpr std::array<std::pair<Errc, const char*>, 8> kCodes = {{{Errc::kFailed, "failed"},
                                                                 {Errc::kUsage, "usage"},
                                                                 {Errc::kNotFound, "not_found"},
                                                                 {Errc::kNotPermitted, "not_permitted"},
                                                                 {Errc::kBusy, "busy"},
                                                                 {Errc::kIncomplete, "incomplete"},
                                                                 {Errc::kCorrupt, "corrupt"},
                                                                 {Errc::kUnsupported, "unsupported"}}};

json to_json(const Failed& m) {
  const auto row = std::find_if(kCodes.begin(), kCodes.end(), [&](const auto& code) { return code.first == m.code; });
  return {{"type", "failed"}, {"code", row->second}, {"what", m.what}};
}
void from_json_object(const json& j, Failed& m) {
  take(j, "what", m.what);
  std::string code;
  take(j, "code", code);
  const auto row = std::find_if(kCodes.begin(), kCodes.end(), [&](const auto& known) { return known.second == code; });
  if (row != kCodes.end()) m.code = row->first;
}

template <class T>
Result<Message> read(const json& object) {
  T message;
  from_json_object(object, message);
  return Message(std::move(message));
}

Result<Message> read_start(const json& object) {
  Start start;
  take(object, "file_name", start.file_name);
  take(object, "most_on_disk", start.most_on_disk);
  std::string options;
  take(object, "options", options);
  Result<AgentString> parsed = parse_agent_string(options);
  if (!parsed) return std::move(parsed).error();
  start.options = parsed->session;
  return Message(std::move(start));
}

struct Type {
  std::string_view name;
  Result<Message> (*read)(const json&);
};
constexpr std::array<Type, 13> kTypes = {
    {{"hello", read<Hello>},
     {"start", read_start},
     {"kernel_wanted", read<KernelWanted>},
     {"kernel_lent", read<KernelLent>},
     {"waits_wanted", read<WaitsWanted>},
     {"waits_lent", read<WaitsLent>},
     {"turns_wanted", [](const json&) -> Result<Message> { return Message(TurnsWanted()); }},
     {"turns_lent", read<TurnsLent>},
     {"started", read<Started>},
     {"progress", read<Progress>},
     {"stop", [](const json&) -> Result<Message> { return Message(Stop()); }},
     {"finished", read<Finished>},
     {"failed", read<Failed>}}};

}  // namespace

std::string encode(const Message& message) {
  json object = std::visit([](const auto& m) { return to_json(m); }, message);
  object["tarsier"] = kProtocolVersion;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);  // names need not be UTF-8
}

Result<Message> decode(std::string_view text) {
  // A message is flat; a deep one is an attack on the parser's stack.
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' || c == '[' ? 1 : 0;
    if (depth > 1000) return Error{Errc::kCorrupt, "control message has too many brackets"};
  }
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return Error{Errc::kCorrupt, "control message is not a JSON object"};
  int version = 0;
  take(object, "tarsier", version);
  if (version != kProtocolVersion) {
    return Error{Errc::kUnsupported, "control protocol " + std::to_string(version) + " is not understood, only " +
                                         std::to_string(kProtocolVersion) +
                                         ": use the tarsier command and libtarsier.so of the same release"};
  }
  std::string type;
  take(object, "type", type);
  for (const Type& known : kTypes) {
    if (known.name == type) return known.read(object);
  }
  return Error{Errc::kUnsupported, "control message of unknown type '" + type + "'"};
}

}  // namespace tarsier::control
