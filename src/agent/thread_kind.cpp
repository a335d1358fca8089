#include "agent/thread_kind.h"

#include <span>

namespace tarsier::agent {
namespace {

struct Kind {
  std::string_view prefix;
  std::string_view kind;
};
// Names of HotSpot's own threads, 8 to 25. Prefixes, since the kernel keeps only 15 characters. (Builds of 8 that are
// some years old name no native thread: what they use is shown as "other".)
constexpr Kind kNative[] = {
    {"GC Thread", "gc"},       {"GC task thread", "gc"}, {"G1 ", "gc"},
    {"Gang worker", "gc"},     {"ParGC", "gc"},          {"Parallel GC", "gc"},
    {"Concurrent Mark", "gc"}, {"CMS ", "gc"},           {"Surrogate Locke", "gc"},
    {"Shenandoah", "gc"},      {"ShenUncommit", "gc"},   {"ZWorker", "gc"},
    {"ZDriver", "gc"},         {"ZDirector", "gc"},      {"ZStat", "gc"},
    {"ZUncommitter", "gc"},    {"ZUnmapper", "gc"},      {"XWorker", "gc"},
    {"XDriver", "gc"},         {"XDirector", "gc"},      {"XStat", "gc"},
    {"XUncommitter", "gc"},    {"XUnmapper", "gc"},      {"RuntimeWorker", "gc"},
    {"StrDedup", "gc"},        {"StringDedup", "gc"},    {"String Dedup", "gc"},
    {"C1 Compiler", "jit"},    {"C2 Compiler", "jit"},   {"JVMCI", "jit"},
    {"Sweeper thread", "jit"}, {"VM Thread", "vm"},      {"VM Periodic", "vm"},
    {"Service Thread", "vm"},  {"Monitor Deflat", "vm"}, {"Signal Dispatch", "vm"},
    {"Attach Listener", "vm"}, {"Cross-JVM Att", "vm"},  {"JFR ", "jfr"},
    {"tarsier", kOwnKind},
};

// Threads of the group "system" that serve the JVM or the JDK itself.
constexpr Kind kJava[] = {
    {"Reference Handler", "vm"},      {"Finalizer", "vm"},
    {"Secondary finalizer", "vm"},    {"Signal Dispatcher", "vm"},
    {"Attach Listener", "vm"},        {"Common-Cleaner", "vm"},
    {"Notification Thread", "vm"},    {"Service Thread", "vm"},
    {"Monitor Deflation", "vm"},      {"Surrogate Locker", "gc"},
    {"VirtualThread-unparker", "vm"}, {"JFR", "jfr"},
};

std::string_view find(std::span<const Kind> kinds, std::string_view name, std::string_view otherwise) {
  for (const Kind& kind : kinds) {
    if (name.starts_with(kind.prefix)) return kind.kind;
  }
  return otherwise;
}

}  // namespace

std::string_view kind_of_native_thread(std::string_view name) {
  return find(kNative, name, "other");
}

std::string_view kind_of_java_thread(std::string_view name, std::string_view group) {
  // The JDK's own helpers (cleaners, process reapers) are in a group below "system".
  const bool of_jdk = group == "system" || group == "InnocuousThreadGroup";
  return of_jdk ? find(kJava, name, "app") : "app";
}

}  // namespace tarsier::agent
