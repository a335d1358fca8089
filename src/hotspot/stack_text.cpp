#include "hotspot/stack_text.h"

#include <charconv>
#include <string_view>

namespace tarsier::hotspot {
namespace {

std::string_view name_of(FrameKind kind) {
  constexpr std::string_view kNames[] = {"interpreted", "c1", "c2", "inlined", "native", "stub", "library"};
  return kNames[static_cast<size_t>(kind)];
}

char letter_of(Edge edge) {
  constexpr char kLetters[] = {'r', 'W', '-'};
  return kLetters[static_cast<size_t>(edge)];
}

std::string hex(Address value) {
  char digits[16];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value, 16).ptr};
}

// Names are whatever a class file says.
void append_name(std::string& out, std::string_view name) {
  for (const char c : name) {
    if (c > ' ' && c < 0x7f && c != '\\') {
      out += c;
    } else {
      out += "\\" + hex(static_cast<uint8_t>(c)) + ";";
    }
  }
}

void append(std::string& out, const WalkedFrame& frame) {
  out += '\n';
  out += name_of(frame.kind);
  if (frame.kind == FrameKind::kStub) {
    out += ' ';
    append_name(out, frame.blob != nullptr ? frame.blob->name : "");
    out += " at " + hex(frame.method);
  } else if (frame.kind == FrameKind::kLibrary) {
    out += " at " + hex(frame.method);
  } else {
    out += ' ';
    if (frame.info != nullptr) {
      append_name(out, frame.info->class_name);
      out += '.';
      append_name(out, frame.info->name);
      append_name(out, frame.info->signature);
    } else {
      out += "[unloaded]";
    }
    out += " @" + std::to_string(frame.bci);
    if (frame.info != nullptr) {
      out += " line " + std::to_string(frame.info->line(frame.bci)) + " access " + hex(frame.info->access);
    }
    out += " method " + hex(frame.method);
  }
  if (frame.called_by_vm) out += ", called by the JVM";
}

}  // namespace

std::string text_of(const WalkedStack& stack) {
  std::string out(name_of(stack.end));
  out += ", started by: ";
  out += name_of(stack.start);
  if (stack.is_virtual) out += ", virtual thread";
  out += ", read up to " + hex(stack.highest);
  if (stack.stopped_at != 0) out += ", stopped at " + hex(stack.stopped_at);
  for (const WalkedFrame& frame : stack.frames) append(out, frame);
  return out;
}

std::string code_text(const WalkedStack& stack) {
  std::string out = "code:";
  for (const WalkedFrame& frame : stack.frames) {
    out += frame.blob != nullptr ? " #" + std::to_string(frame.blob->compile_id) : " -";
  }
  return out;
}

std::string calls_text(const WalkedStack& stack, const std::optional<EdgeCheck>& check) {
  std::string out = "calls: ";
  for (size_t i = 0; i + 1 < stack.frames.size(); ++i) {
    const WalkedFrame &callee = stack.frames[i], &caller = stack.frames[i + 1];
    const bool checkable = check && !callee.called_by_vm && callee.info != nullptr && caller.info != nullptr;
    out += letter_of(checkable ? check->check(*caller.info, caller.bci, *callee.info) : Edge::kUncheckable);
  }
  return out;
}

}  // namespace tarsier::hotspot
