#include "agent/engines/wait_kind.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tarsier::agent {
namespace {

constexpr WaitState kNative{.in_native = true};

// Class and method, innermost first.
std::string_view kind(std::initializer_list<std::pair<const char*, const char*>> frames, WaitState state = kNative) {
  std::vector<std::unique_ptr<hotspot::MethodInfo>> made;
  std::vector<const hotspot::MethodInfo*> methods;
  for (const auto& [class_name, method] : frames) {
    made.push_back(std::make_unique<hotspot::MethodInfo>());
    made.back()->class_name = class_name;
    made.back()->name = method;
    methods.push_back(made.back().get());
  }
  return kind_of_wait(methods, state);
}

TEST(WaitKind, is_by_the_method_that_waits) {
  EXPECT_EQ(kind({{"java/lang/Thread", "sleep0"}}), "sleeping");
  EXPECT_EQ(kind({{"jdk/internal/misc/Unsafe", "park"}}), "parked");
  EXPECT_EQ(kind({{"java/lang/Object", "wait0"}}), "waiting");
  EXPECT_EQ(kind({{"Mine", "native"}}), "native");
  EXPECT_EQ(kind({{"Mine", "work"}}, {}), "vm");
  EXPECT_EQ(kind({}), "native");
}

TEST(WaitKind, is_by_what_the_kernel_and_the_jvm_know_before_that) {
  EXPECT_EQ(kind({{"Mine", "work"}}, {.wants_monitor = true}), "monitor");
  EXPECT_EQ(kind({{"Mine", "work"}}, {.uninterruptible = true, .page_fault = true}), "page fault");
  EXPECT_EQ(kind({{"Mine", "work"}}, {.uninterruptible = true}), "vm");
}

TEST(WaitKind, tells_what_is_read_and_written_where_the_methods_tell) {
  EXPECT_EQ(kind({{"sun/nio/ch/SocketDispatcher", "read0"}, {"sun/nio/ch/NioSocketImpl", "tryRead"}}), "socket");
  EXPECT_EQ(kind({{"sun/nio/ch/Net", "accept"}}), "socket");
  EXPECT_EQ(kind({{"java/net/SocketInputStream", "socketRead0"}}), "socket");
  EXPECT_EQ(kind({{"sun/nio/ch/FileDispatcherImpl", "read0"},
                  {"sun/nio/ch/SocketDispatcher", "read"},
                  {"sun/nio/ch/IOUtil", "read"},
                  {"sun/nio/ch/SocketChannelImpl", "read"}}),
            "socket");
  EXPECT_EQ(kind({{"sun/nio/ch/UnixFileDispatcherImpl", "pread0"}, {"sun/nio/ch/FileChannelImpl", "read"}}), "file");
  EXPECT_EQ(kind({{"sun/nio/fs/UnixNativeDispatcher", "open0"}}), "file");
  EXPECT_EQ(kind({{"java/io/RandomAccessFile", "readBytes0"}}), "file");
  EXPECT_EQ(kind({{"sun/nio/ch/SocketDispatcher", "read0"}, {"sun/nio/ch/SourceChannelImpl", "read"}}), "pipe");
  EXPECT_EQ(kind({{"sun/nio/ch/EPoll", "wait"}, {"sun/nio/ch/EPollSelectorImpl", "doSelect"}}), "selector");
}

TEST(WaitKind, is_io_where_they_do_not) {
  // A file, a pipe or a terminal.
  EXPECT_EQ(kind({{"java/io/FileInputStream", "readBytes"}}), "io");
  EXPECT_EQ(kind({{"java/io/FileInputStream", "readBytes"}, {"java/util/zip/ZipFile", "read"}}), "io");
  EXPECT_EQ(kind({{"java/io/FileInputStream", "open0"}}), "file");
  EXPECT_EQ(kind({{"java/io/FileInputStream", "readBytes"}}, {.in_native = true, .uninterruptible = true}), "file");
  EXPECT_EQ(kind({{"java/net/Inet6AddressImpl", "lookupAllHostAddr"}}), "io");
  EXPECT_EQ(kind({{"sun/nio/ch/IOUtil", "read"}, {"Mine", "x"}, {"sun/nio/ch/FileChannelImpl", "x"}}), "io")
      << "what calls the application's code says nothing";
}

}  // namespace
}  // namespace tarsier::agent
