// What the JVM calls. Nothing throws across here, and nothing that goes wrong ends the application: except a wrong
// agent string at its start, which is better said at once than found out a day later.
#include <jni.h>

#include <cstdio>

#include "agent/launch.h"

namespace {

using tarsier::Result;
using tarsier::Status;
using tarsier::control::AgentString;

jint say(const char* what) {
  std::fprintf(stderr, "tarsier: %s\n", what);
  return JNI_ERR;
}

template <class Launch>
jint enter(const char* options, Launch&& launch) noexcept {
  try {
    Result<AgentString> parsed = tarsier::control::parse_agent_string(options == nullptr ? "" : options);
    if (!parsed) return say(parsed.error().what.c_str());
    if (Status status = launch(*parsed); !status) return say(status.error().what.c_str());
    return JNI_OK;
  } catch (const std::exception& e) {
    return say(e.what());
  }
}

}  // namespace

extern "C" {

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  return enter(options, [vm](const AgentString& parsed) { return tarsier::agent::launch_at_vm_init(vm, parsed); });
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  return enter(options, [vm](const AgentString& parsed) { return tarsier::agent::launch(vm, parsed); });
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM*) {}
}
