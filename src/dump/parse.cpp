#include "dump/parse.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "dump/header.h"
#include "recording/utf8.h"

namespace tarsier::dump {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool skip(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// " <0x000000069f41de88> (a java.lang.Object)"; no address where it says in words that there is none.
Lock parse_lock(std::string_view text) {
  Lock lock;
  if (const size_t address = text.find("<0x"); address != kNone) {
    const std::string_view digits = text.substr(address + 3);
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), lock.address, 16);
  }
  constexpr std::string_view kClass = " (a ";
  const size_t klass = text.find(kClass);
  if (klass == kNone) return lock;
  const size_t begin = klass + kClass.size();
  const size_t end = text.rfind(')');
  lock.klass = text.substr(begin, end == kNone || end < begin ? kNone : end - begin);
  return lock;
}

// at package.Class.method(module@version/File.java:12)
Frame parse_frame(std::string_view text) {
  Frame frame;
  const size_t open = text.rfind('(');
  frame.method = text.substr(0, open);
  if (open == kNone) return frame;
  std::string_view location = text.substr(open + 1);
  location = location.substr(0, location.rfind(')'));
  if (const size_t module = location.rfind('/'); module != kNone) location.remove_prefix(module + 1);
  frame.location = location;
  return frame;
}

// What the lines below a frame say about it. The first that fits counts.
struct LockLine {
  std::string_view words;
  std::optional<Wait> wait;  // none: it holds the lock
};
constexpr LockLine kLockLines[] = {
    {"locked", std::nullopt},
    {"waiting to lock", Wait::kMonitor},
    {"waiting to re-lock in wait()", Wait::kNotify},  // 9 to 16: also long before it is notified
    {"waiting on the Class initialization monitor for ", Wait::kClassInit},
    {"waiting on", Wait::kNotify},
    {"parking to wait for", Wait::kParked},
};

void parse_lock_line(std::string_view text, Thread& thread) {
  const auto* line = std::find_if(std::begin(kLockLines), std::end(kLockLines),
                                  [&](const LockLine& known) { return text.starts_with(known.words); });
  if (line == std::end(kLockLines) || thread.frames.empty()) return;
  text.remove_prefix(line->words.size());
  if (!line->wait) {
    Lock lock = parse_lock(text);
    if (lock.address != 0) thread.holds.push_back({LockKind::kMonitor, std::move(lock), thread.frames.size() - 1});
  } else if (*line->wait == Wait::kClassInit) {
    thread.awaits = {Wait::kClassInit, {0, std::string(text)}};
  } else if (!thread.awaits ||
             thread.awaits->lock.address == 0) {  // said of an outer frame where the inner has no words
    thread.awaits = {*line->wait, parse_lock(text)};
  }
}

// BLOCKED (on object monitor)
void parse_state(std::string_view text, Thread& thread) {
  const std::string_view state = text.substr(0, text.find(' '));
  thread.state = state;
  const size_t open = text.find('(', state.size());
  if (open != kNone) thread.state_detail = text.substr(open + 1, text.rfind(')') - open - 1);
}

constexpr std::string_view kSynchronizers = "   Locked ownable synchronizers:";

// Takes the lines of one thread, up to the empty one behind its synchronizers; `text` ends somewhere behind that, in
// the name of the next thread, maybe.
void parse_body(std::string_view& text, Thread& thread) {
  // Where they are listed, the rest is before: a class or method may be named like the beginning of a thread.
  const bool has_list = text.find(kSynchronizers) != kNone;
  bool in_list = false;
  while (!text.empty()) {
    if (!has_list && text.starts_with('"')) return;
    std::string_view line = take_line(text);
    if (in_list) {
      if (line.empty()) return;
      if (!skip(line, "\t- ") || line == "None") continue;
      if (Lock lock = parse_lock(line); lock.address != 0) {
        thread.holds.push_back({LockKind::kSynchronizer, std::move(lock), std::nullopt});
      }
    } else if (line == kSynchronizers) {
      in_list = true;
    } else if (skip(line, "\tat ")) {
      thread.frames.push_back(parse_frame(line));
    } else if (skip(line, "\t- ")) {
      parse_lock_line(line, thread);
    } else if (skip(line, "   java.lang.Thread.State: ")) {
      parse_state(line, thread);
    } else if (skip(line, "   Carrying virtual thread #")) {
      int64_t id = 0;
      if (std::from_chars(line.data(), line.data() + line.size(), id).ec == std::errc()) thread.carries = id;
    }
  }
}

void settle_locks(Thread& thread) {
  if (!thread.awaits) return;
  // Notified, and wants the monitor back: only the state tells.
  if (thread.awaits->how == Wait::kNotify && thread.state == "BLOCKED") thread.awaits->how = Wait::kMonitor;
  if (thread.awaits->how == Wait::kParked) return;
  // Object.wait has released what the frames that called it still list as locked.
  std::erase_if(thread.holds, [&](const HeldLock& held) {
    return held.kind == LockKind::kMonitor && held.lock.address == thread.awaits->lock.address;
  });
}

}  // namespace

Result<ThreadDump> parse(std::string_view as_written) {
  std::string text_as_utf8;  // names are written as they are in class files
  recording::append_as_utf8(text_as_utf8, as_written);
  const std::string_view text = text_as_utf8;
  ThreadDump dump;
  constexpr std::string_view kTitle = "Full thread dump ";
  const size_t title = text.find(kTitle);
  if (title == kNone) return Error{Errc::kFailed, "the JVM answered something else than a thread dump"};
  std::string_view before = text.substr(0, title);
  dump.time = take_line(before);
  std::string_view vm = text.substr(title + kTitle.size());
  vm = vm.substr(0, vm.find('\n'));
  if (vm.ends_with(':')) vm.remove_suffix(1);
  dump.vm = vm;

  const Headers headers = find_headers(text);
  dump.missing = headers.missing;
  size_t after_last = title, quote = title;
  for (size_t i = 0; i < headers.found.size(); ++i) {
    const Header& header = headers.found[i];
    if (quote <= after_last) quote = text.find("\n\"", after_last);
    if (quote == kNone || quote + 1 >= header.name_end) {
      ++dump.missing;
      continue;
    }
    Thread& thread = dump.threads.emplace_back();
    thread.name = text.substr(quote + 2, header.name_end - quote - 2);
    parse_attributes(text.substr(header.name_end + 1, header.end - header.name_end - 1), thread);
    const size_t body = std::min(header.end + 1, text.size());
    const size_t limit = i + 1 < headers.found.size() ? headers.found[i + 1].name_end : text.size();
    std::string_view rest = text.substr(body, limit - body);
    parse_body(rest, thread);
    settle_locks(thread);
    // The line end before what follows is part of the next thread's beginning.
    after_last = limit - rest.size() - 1;
  }
  return dump;
}

}  // namespace tarsier::dump
