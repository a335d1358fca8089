// What can be told from a JVM's command line: its main class or jar, and the flags that forbid attaching.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tarsier::attach {

// The main class, jar or module that a java launcher was asked to run; empty if the words do not say.
std::string main_of_command_line(std::span<const std::string> words);
// The first word of the counter sun.rt.javaCommand: "com.example.Main --port 1" -> com.example.Main
std::string main_of_java_command(std::string_view java_command);
// What a user calls it by: com.example.Main stays, /opt/app/server.jar becomes server.jar.
std::string short_name(std::string_view main);

struct AttachFlags {
  bool attach_disabled = false;         // -XX:+DisableAttachMechanism
  bool agent_loading_disabled = false;  // -XX:-EnableDynamicAgentLoading
  bool reduced_signals = false;         // -Xrs: the JVM leaves SIGQUIT alone, which then kills it
};
// `arguments` are blank-separated JVM arguments; the last of contradicting ones counts, as in the JVM.
void apply_arguments(std::string_view arguments, AttachFlags& flags);
// The JVM arguments of a command line (everything before the main class) joined by blanks, and of the variables that
// JVMs read, in the order in which they read them.
std::string jvm_arguments(std::span<const std::string> words, std::string_view environment);

}  // namespace tarsier::attach
