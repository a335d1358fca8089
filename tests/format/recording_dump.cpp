// Prints a recording's events as lines: type, start in nanoseconds since the epoch, then name=value, all separated by
// tabs. Stacks are written innermost frame first. Problems go to stderr. For tests and for debugging.
//
//   recording_dump FILE [TYPE...]
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "recording/reader.h"

namespace {

using namespace tarsier;
using namespace tarsier::recording;

class Dump final : public Visitor {
 public:
  explicit Dump(std::vector<std::string> wanted) : wanted_(std::move(wanted)) {}

  void chunk(Chunk& chunk) override {
    fields_.clear();
    if (wanted_.empty()) {
      for (const TypeIndex type : chunk.event_types()) add(chunk, type);
    }
    for (const std::string& name : wanted_) {
      if (const TypeIndex type = chunk.type(name)) add(chunk, type);
    }
  }

  void event(const Chunk& chunk, const EventView& event) override {
    line_.assign(chunk.type_name(event.type()));
    line_ += '\t' + std::to_string(event.start().count);
    const std::vector<FieldInfo>& fields = fields_[static_cast<size_t>(event.type().index)];
    for (int32_t i = 0; i < static_cast<int32_t>(fields.size()); ++i) {
      const FieldInfo& field = fields[static_cast<size_t>(i)];
      if (field.name == "startTime") continue;
      line_.append("\t").append(field.name).append("=");
      add_value(chunk, event, field, {i});
    }
    puts(line_.c_str());
  }

 private:
  void add(Chunk& chunk, TypeIndex type) {
    chunk.select(type);
    const auto i = static_cast<size_t>(type.index);
    if (fields_.size() <= i) fields_.resize(i + 1);
    fields_[i] = chunk.fields(type);
  }

  void add_value(const Chunk& chunk, const EventView& event, const FieldInfo& field, FieldIndex index) {
    switch (field.kind) {
      case FieldKind::kNumber:
        line_ += std::to_string(event.number(index));
        return;
      case FieldKind::kReal:
        line_ += std::to_string(event.real(index));
        return;
      case FieldKind::kString:
        add_text(event.string(index));
        return;
      case FieldKind::kConstant:
        return add_constant(chunk, event, field, index);
      case FieldKind::kBinary:
        line_ += std::to_string(event.binary(index).size()) + " bytes";
        return;
      case FieldKind::kOther:
        line_ += '?';
    }
  }

  void add_constant(const Chunk& chunk, const EventView& event, const FieldInfo& field, FieldIndex index) {
    const ConstantKey key = event.constant(index);
    if (field.type == "jdk.types.StackTrace" && chunk.stack(key, stack_)) {
      for (const FrameView& frame : stack_.frames) {
        MethodView method;
        chunk.method(frame.method, method);
        if (&frame != stack_.frames.data()) line_ += ';';
        if (!method.class_name.empty()) {
          add_text(method.class_name);
          line_ += '.';
        }
        add_text(method.name);
        add_text(method.descriptor);
        line_.append(":").append(std::to_string(frame.line)).append("@").append(std::to_string(frame.bci));
        line_.append("/").append(frame_type_name(frame.type));
      }
      if (stack_.truncated) line_ += ";...";
      return;
    }
    ThreadInfo thread;
    if (field.type == "java.lang.Thread" && chunk.thread(key, thread)) {
      add_text(thread.java_name.empty() ? thread.os_name : thread.java_name);
      line_ += '(' + std::to_string(thread.os_id) + ',' + std::to_string(thread.java_id) + ')';
      return;
    }
    std::string_view name;
    if (field.type == "java.lang.Class" && chunk.class_name(key, name)) return add_text(name);
    add_text(event.string(index));
  }

  // One event is one line, whatever its strings hold.
  void add_text(std::string_view text) {
    for (const char c : text) line_ += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }

  std::vector<std::string> wanted_;
  std::vector<std::vector<FieldInfo>> fields_;  // by type
  StackView stack_;
  std::string line_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fprintf(stderr, "usage: recording_dump FILE [TYPE...]\n"), 2;
  auto recording = Recording::open(argv[1]);
  if (!recording.ok()) return fprintf(stderr, "%s\n", recording.error().what.c_str()), 1;
  Dump dump(std::vector<std::string>(argv + 2, argv + argc));
  auto summary = (*recording)->read(dump);
  if (!summary.ok()) return fprintf(stderr, "%s\n", summary.error().what.c_str()), 1;
  for (const std::string& problem : summary->problems) fprintf(stderr, "%s\n", problem.c_str());
  fprintf(stderr, "%" PRIu64 " chunks, %" PRIu64 " damaged, %" PRIu64 " events, %" PRIu64 " shown\n", summary->chunks,
          summary->damaged_chunks, summary->events, summary->events_visited);
  return 0;
}
