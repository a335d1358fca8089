#include "agent/stub_names.h"

#include <algorithm>
#include <exception>

namespace tarsier::agent {
namespace {

// The JVM answers on the thread that asks; what it generates meanwhile on other threads is none of the answer.
thread_local StubNames* t_collecting = nullptr;

}  // namespace

StubNames StubNames::collect(const Jvm& jvm) {
  StubNames names;
  jvmtiEnv* jvmti = jvm.jvmti();
  constexpr jvmtiEvent kEvent = JVMTI_EVENT_DYNAMIC_CODE_GENERATED;
  if (jvmti->SetEventNotificationMode(JVMTI_ENABLE, kEvent, nullptr) != JVMTI_ERROR_NONE) return names;
  t_collecting = &names;
  (void)jvmti->GenerateEvents(kEvent);
  t_collecting = nullptr;
  (void)jvmti->SetEventNotificationMode(JVMTI_DISABLE, kEvent, nullptr);
  names.sort();
  return names;
}

void StubNames::sort() {
  std::sort(stubs_.begin(), stubs_.end(),
            [](const Stub& a, const Stub& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
}

std::string_view StubNames::at(Address pc) const {
  auto it = std::upper_bound(stubs_.begin(), stubs_.end(), pc,
                             [](Address wanted, const Stub& stub) { return wanted < stub.begin; });
  // What contains it begins at most a few pieces before: pieces of one stub do not overlap, the whole of it does.
  constexpr int kMostBefore = 4;
  for (int i = 0; i < kMostBefore && it != stubs_.begin(); ++i) {
    --it;
    if (pc < it->end) return it->name;
  }
  return {};
}

void StubNames::add(const char* name, const void* address, jint length) {
  const auto begin = reinterpret_cast<Address>(address);
  if (name != nullptr && length > 0) stubs_.push_back({begin, begin + static_cast<Address>(length), name});
}

void JNICALL on_dynamic_code(jvmtiEnv*, const char* name, const void* address, jint length) {
  if (t_collecting == nullptr) return;
  try {
    t_collecting->add(name, address, length);
  } catch (const std::exception&) {  // nothing may be thrown into the JVM
  }
}

}  // namespace tarsier::agent
