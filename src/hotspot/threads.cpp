#include "hotspot/threads.h"

namespace tarsier::hotspot {

Result<ThreadLayout> ThreadLayout::find(const VmStructs& structs) {
  // The member belongs to Thread, but is listed for JavaThread in 11 to 21.
  auto os_thread = structs.offset("JavaThread", "_osthread");
  if (!os_thread) os_thread = structs.offset("Thread", "_osthread");
  const auto thread_id = structs.offset("OSThread", "_thread_id");
  if (!os_thread || !thread_id) {
    return Error{Errc::kUnsupported, "this JVM's vmStructs do not tell the native ids of its threads"};
  }
  ThreadLayout layout{*os_thread, *thread_id, std::nullopt};
  const auto anchor = structs.offset("JavaThread", "_anchor");
  const auto sp = structs.offset("JavaFrameAnchor", "_last_Java_sp");
  if (anchor && sp) layout.last_java_sp = *anchor + *sp;
  return layout;
}

std::optional<AllocatedBytesLayout> AllocatedBytesLayout::find(const VmStructs& structs) {
  const auto bytes = structs.offset("Thread", "_allocated_bytes");
  const auto tlab = structs.offset("Thread", "_tlab");
  const auto start = structs.offset("ThreadLocalAllocBuffer", "_start");
  const auto top = structs.offset("ThreadLocalAllocBuffer", "_top");
  if (!bytes || !tlab || !start || !top) return std::nullopt;
  return AllocatedBytesLayout{*bytes, *tlab + *start, *tlab + *top};
}

Result<ThreadFields> find_thread_fields(const VmStructs& structs) {
  std::string missing;
  const auto need = [&](std::string_view type, std::string_view field) -> uint64_t {
    const auto offset = structs.offset(type, field);
    if (!offset && missing.empty()) missing = std::string(type) + "." + std::string(field);
    return offset.value_or(0);
  };
  ThreadFields fields;
  const uint64_t anchor = need("JavaThread", "_anchor");
  fields.anchor_sp = anchor + need("JavaFrameAnchor", "_last_Java_sp");
  fields.anchor_pc = anchor + need("JavaFrameAnchor", "_last_Java_pc");
  fields.anchor_fp = anchor + need("JavaFrameAnchor", "_last_Java_fp");
  fields.thread_state = need("JavaThread", "_thread_state");
  fields.stack_base = need("JavaThread", "_stack_base");
  fields.stack_size = need("JavaThread", "_stack_size");
  // A field of Thread until 16.
  const auto monitor = structs.offset("JavaThread", "_current_pending_monitor");
  fields.pending_monitor = monitor ? *monitor : structs.offset("Thread", "_current_pending_monitor").value_or(0);
  if (!missing.empty()) return Error{Errc::kUnsupported, "this JVM's vmStructs lack " + missing};
  return fields;
}

std::optional<pid_t> native_id(const Memory& memory, const ThreadLayout& layout, Address java_thread) {
  const auto os_thread = memory.read<Address>(java_thread + layout.os_thread);
  if (!os_thread || *os_thread == 0) return std::nullopt;
  const auto id = memory.read<pid_t>(*os_thread + layout.thread_id);
  return id && *id > 0 ? id : std::nullopt;
}

}  // namespace tarsier::hotspot
