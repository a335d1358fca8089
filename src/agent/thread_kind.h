// Whose thread is it? By its name, and by its group if it is one of Java's: an application's thread may have any name,
// but only the JVM and the JDK start threads in the group "system".
#pragma once

#include <string_view>

namespace tarsier::agent {

constexpr std::string_view kOwnKind = "tarsier";

// gc, jit, vm, jfr, tarsier or other, from the first 15 characters of a native thread's name.
std::string_view kind_of_native_thread(std::string_view name);

// app, vm or jfr.
std::string_view kind_of_java_thread(std::string_view name, std::string_view group);

}  // namespace tarsier::agent
