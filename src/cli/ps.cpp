// tarsier ps
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "attach/java_command.h"
#include "attach/jvm.h"
#include "cli/command.h"
#include "cli/console.h"
#include "export/escape.h"

namespace tarsier::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "json", .help = "print JSON (schema: docs/ps.schema.json)"},
};
constexpr CommandSpec kSpec = {
    .name = "ps",
    .summary = "the JVMs on this machine, and whether we can attach to them",
    .options = kOptions,
    .notes =
        "A JVM that can't be attached to is listed with no; the reason goes to stderr (and into --json).\n"
        "An unknown version or main class is shown as ?.",
};

// 3d04h, 5h07m, 12m30s, 8s
std::string age(Nanos uptime) {
  const int64_t all = uptime / seconds(1);
  struct Pair {
    int64_t unit, part;
    const char* format;
  };
  constexpr Pair kPairs[] = {{86400, 3600, "%lldd%02lldh"}, {3600, 60, "%lldh%02lldm"}, {60, 1, "%lldm%02llds"}};
  char text[48];
  for (const Pair& pair : kPairs) {
    if (all < pair.unit) continue;
    std::snprintf(text, sizeof text, pair.format, static_cast<long long>(all / pair.unit),
                  static_cast<long long>(all % pair.unit / pair.part));
    return text;
  }
  return std::to_string(all) + "s";
}

std::string or_unknown(const std::string& text) {
  return text.empty() ? "?" : exporting::visible(text);
}

std::string table(std::span<const attach::Jvm> jvms) {
  std::vector<std::vector<std::string>> rows = {{"PID", "USER", "JAVA", "UPTIME", "ATTACH", "MAIN"}};
  for (const attach::Jvm& jvm : jvms) {
    rows.push_back({std::to_string(jvm.pid), exporting::visible(jvm.user), or_unknown(jvm.version), age(jvm.uptime),
                    jvm.obstacle ? "no" : "yes", or_unknown(attach::short_name(jvm.main))});
  }
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) text.append(row[i]).append(widths[i] + 2 - row[i].size(), ' ');
    text.append(row.back()).append("\n");
  }
  return text;
}

std::string json(std::span<const attach::Jvm> jvms) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const attach::Jvm& jvm : jvms) {
    const auto text_or_null = [](const std::string& text) {
      return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(exporting::visible(text));
    };
    list.push_back({{"pid", jvm.pid},
                    {"namespace_pid", jvm.namespace_pid},
                    {"user", exporting::visible(jvm.user)},
                    {"version", text_or_null(jvm.version)},
                    {"main", text_or_null(jvm.main)},
                    {"uptime_s", in_seconds(jvm.uptime)},
                    {"own_root", jvm.own_root},
                    {"can_attach", !jvm.obstacle},
                    {"why_not", jvm.obstacle ? text_or_null(jvm.obstacle->what) : nlohmann::ordered_json()}});
  }
  return nlohmann::ordered_json{{"jvms", list}}.dump(2) + "\n";
}

int run_ps(const Arguments& arguments) {
  const auto jvms = attach::list_jvms();
  if (arguments.has("json")) return print(json(jvms)) ? 0 : 1;
  if (jvms.empty()) {
    say("no JVM runs here (that you may see)");
    return 0;
  }
  if (!print(table(jvms))) return 1;
  for (const attach::Jvm& jvm : jvms) {
    if (jvm.obstacle) say(jvm.obstacle->what);
  }
  return 0;
}

}  // namespace

const Command kPs = {kSpec, run_ps};

}  // namespace tarsier::cli
