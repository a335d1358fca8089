#include "agent/engines/wait_kind.h"

#include <algorithm>

namespace tarsier::agent {
namespace {

struct Known {
  std::string_view class_name, method;  // the method's name may have something behind it: sleep0, sleepNanos0, wait0
  std::string_view kind;
};
constexpr Known kKnown[] = {
    {"java/lang/Thread", "sleep", "sleeping"},
    {"jdk/internal/misc/Unsafe", "park", "parked"},
    {"sun/misc/Unsafe", "park", "parked"},  // 8
    {"java/lang/Object", "wait", "waiting"},
};
constexpr std::string_view kInputAndOutput[] = {"java/io/", "java/net/", "sun/nio/", "java/util/zip/", "jdk/net/"};

// Of those, classes that work on one kind of descriptor. What ends with a slash is a package.
struct Descriptor {
  std::string_view class_name, kind;
};
constexpr Descriptor kDescriptors[] = {
    // Before the dispatchers of sockets, by which they read and write since 12.
    {"sun/nio/ch/SourceChannelImpl", "pipe"},
    {"sun/nio/ch/SinkChannelImpl", "pipe"},
    // Before the dispatchers of files, by which they read and write until 11.
    {"sun/nio/ch/SocketChannelImpl", "socket"},
    {"sun/nio/ch/ServerSocketChannelImpl", "socket"},
    {"sun/nio/ch/DatagramChannelImpl", "socket"},
    {"sun/nio/ch/NioSocketImpl", "socket"},
    {"sun/nio/ch/SocketDispatcher", "socket"},
    {"sun/nio/ch/DatagramDispatcher", "socket"},
    {"sun/nio/ch/UnixDomainSockets", "socket"},
    {"sun/nio/ch/Net", "socket"},
    {"java/net/SocketInputStream", "socket"},  // until 12, as are the following
    {"java/net/SocketOutputStream", "socket"},
    {"java/net/PlainSocketImpl", "socket"},
    {"java/net/PlainDatagramSocketImpl", "socket"},
    {"sun/nio/ch/EPoll", "selector"},
    {"sun/nio/ch/EPollArrayWrapper", "selector"},  // until 10
    {"sun/nio/ch/PollSelectorImpl", "selector"},
    {"sun/nio/ch/PollArrayWrapper", "selector"},
    {"sun/nio/ch/FileChannelImpl", "file"},
    {"sun/nio/ch/SimpleAsynchronousFileChannelImpl", "file"},
    {"sun/nio/fs/", "file"},
    {"java/io/RandomAccessFile", "file"},
    {"java/io/UnixFileSystem", "file"},
    {"java/util/zip/ZipFile", "file"},  // 8
};

bool is_of(const Descriptor& descriptor, std::string_view class_name) {
  return descriptor.class_name.ends_with('/') ? class_name.starts_with(descriptor.class_name)
                                              : class_name == descriptor.class_name;
}

bool does_input_or_output(const hotspot::MethodInfo* method) {
  return method != nullptr &&
         std::any_of(std::begin(kInputAndOutput), std::end(kInputAndOutput),
                     [&](std::string_view package) { return method->class_name.starts_with(package); });
}

std::string_view kind_of_descriptor(std::span<const hotspot::MethodInfo* const> frames, const WaitState& state) {
  const std::string_view innermost = frames[0]->class_name, method = frames[0]->name;
  if (innermost == "java/io/FileInputStream" || innermost == "java/io/FileOutputStream") {
    return method.starts_with("open") || state.uninterruptible ? "file" : "io";
  }
  const auto jdk_end = std::find_if_not(frames.begin(), frames.end(), does_input_or_output);
  for (const Descriptor& descriptor : kDescriptors) {
    const bool found = std::any_of(frames.begin(), jdk_end, [&](const hotspot::MethodInfo* frame) {
      return is_of(descriptor, frame->class_name);
    });
    if (found) return descriptor.kind;
  }
  return "io";
}

}  // namespace

std::string_view kind_of_wait(std::span<const hotspot::MethodInfo* const> frames, const WaitState& state) {
  if (state.page_fault) return "page fault";
  if (state.wants_monitor) return "monitor";
  if (frames.empty() || frames[0] == nullptr) return "native";
  const std::string_view class_name = frames[0]->class_name, method = frames[0]->name;
  for (const Known& known : kKnown) {
    if (class_name == known.class_name && method.starts_with(known.method)) return known.kind;
  }
  if (!state.in_native) return "vm";
  return does_input_or_output(frames[0]) ? kind_of_descriptor(frames, state) : "native";
}

}  // namespace tarsier::agent
