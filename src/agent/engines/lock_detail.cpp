#include "agent/engines/lock_detail.h"

#include <atomic>
#include <cstring>
#include <span>

#include "agent/engines/embedded_classes.h"
#include "agent/redefinitions.h"
#include "base/clock.h"
#include "linux/thread_gate.h"

namespace tarsier::agent {
namespace {

// For ever: threads that wait in a method that was changed call us when they come back, whenever that is.
std::atomic<LockCapture*> g_capture{nullptr};
std::atomic<jvmtiEnv*> g_jvmti{nullptr};
linux::ThreadGate g_gate;
thread_local linux::ThreadGate::Place* t_place = nullptr;

template <class Work>
void visit(Work&& work) noexcept {
  if (t_place == nullptr) t_place = &g_gate.place_of(&t_place);
  t_place->enter();
  if (LockCapture* capture = g_capture.load(std::memory_order_seq_cst)) work(*capture);  // see ThreadGate
  t_place->leave();
}

void JNICALL on_acquire(JNIEnv*, jclass, jint identity, jint mode, jint times) {
  visit([&](LockCapture& capture) { capture.acquired(identity, static_cast<HoldMode>(mode), times); });
}
void JNICALL on_release(JNIEnv*, jclass, jint identity, jint mode, jint times) {
  visit([&](LockCapture& capture) { capture.releasing(identity, static_cast<HoldMode>(mode), times); });
}

void JNICALL on_parking(JNIEnv* jni, jclass, jlong nanos, jobject thread) {
  visit([&](LockCapture& capture) { capture.virtual_parking(g_jvmti, jni, nanos, thread); });
}
void JNICALL on_parked(JNIEnv* jni, jclass, jobject thread) {
  visit([&](LockCapture& capture) { capture.virtual_parked(jni, thread); });
}
void JNICALL on_unparking(JNIEnv* jni, jclass, jobject thread) {
  visit([&](LockCapture& capture) { capture.virtual_unparking(jni, thread); });
}

// By Registrar, so that it is a class of the boot loader that does it.
void JNICALL register_natives(JNIEnv* jni, jclass) {
  const auto method = [](const char* name, const char* type, auto* function) {
    return JNINativeMethod{const_cast<char*>(name), const_cast<char*>(type), reinterpret_cast<void*>(function)};
  };
  const JNINativeMethod methods[] = {method("acquire", "(III)V", on_acquire), method("release", "(III)V", on_release),
                                     method("parking", "(JLjava/lang/Object;)V", on_parking),
                                     method("parked", "(Ljava/lang/Object;)V", on_parked),
                                     method("unparking", "(Ljava/lang/Object;)V", on_unparking)};
  if (jclass holds = jni->FindClass(kHoldsClass)) {
    (void)jni->RegisterNatives(holds, methods, static_cast<jint>(std::size(methods)));
    jni->DeleteLocalRef(holds);
  }
}

// Null, and nothing pending: it can't be had.
jclass find_or_define(JNIEnv* jni, const char* name, std::span<const uint8_t> bytes) {
  jclass klass = jni->FindClass(name);
  jni->ExceptionClear();
  if (klass != nullptr) return klass;
  klass =
      jni->DefineClass(name, nullptr, reinterpret_cast<const jbyte*>(bytes.data()), static_cast<jsize>(bytes.size()));
  jni->ExceptionClear();
  return klass;
}

jvmtiCapabilities wanted_capabilities() {
  jvmtiCapabilities wanted{};
  wanted.can_retransform_classes = 1;
  return wanted;
}

std::string with_dots(std::string name) {
  for (char& c : name) c = c == '/' ? '.' : c;
  return name;
}

}  // namespace

Result<std::unique_ptr<LockDetail>> LockDetail::prepare(EngineContext& context, std::string_view words) {
  std::unique_ptr<LockDetail> detail(new LockDetail(context));
  if (Status status = detail->find_classes(words); !status) return std::move(status).error();
  if (Status status = detail->bring_class(); !status) return std::move(status).error();
  return detail;
}

Status LockDetail::find_classes(std::string_view words) {
  JNIEnv* jni = context_.jvm.jni();
  for (DetailedClass& what : detailed_classes(words)) {
    jclass klass = jni->FindClass(what.name.c_str());
    jni->ExceptionClear();
    if (klass == nullptr) return Error{Errc::kUnsupported, "this JVM has no class " + with_dots(what.name)};
    targets_.push_back({std::move(what), static_cast<jclass>(jni->NewGlobalRef(klass))});
    jni->DeleteLocalRef(klass);
  }
  return {};
}

LockDetail::~LockDetail() {
  for (const Target& target : targets_) context_.jvm.jni()->DeleteGlobalRef(target.klass);
}

Status LockDetail::bring_class() {
  JNIEnv* jni = context_.jvm.jni();
  jclass holds = find_or_define(jni, kHoldsClass, kTarsierHoldsClass);
  jclass registrar = find_or_define(jni, "tarsier/Registrar", kRegistrarClass);
  bool registered = false;
  if (holds != nullptr && registrar != nullptr) {
    JNINativeMethod method = {const_cast<char*>("register"), const_cast<char*>("()V"),
                              reinterpret_cast<void*>(register_natives)};
    jmethodID run = jni->GetStaticMethodID(registrar, "run", "()V");
    if (run != nullptr && jni->RegisterNatives(registrar, &method, 1) == JNI_OK) {
      jni->CallStaticVoidMethod(registrar, run);
      registered = jni->ExceptionCheck() == JNI_FALSE;
    }
  }
  jni->ExceptionClear();
  for (jclass klass : {holds, registrar}) {
    if (klass != nullptr) jni->DeleteLocalRef(klass);
  }
  if (!registered) return Error{Errc::kUnsupported, "this JVM does not take a class of ours"};
  return {};
}

Status LockDetail::put_on(LockCapture& capture) {
  jvmtiEnv* jvmti = context_.jvm.jvmti();
  const jvmtiCapabilities wanted = wanted_capabilities();
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return Error{Errc::kUnsupported, "this JVM does not let classes be changed"};
  }
  g_gate.open();
  g_jvmti = jvmti;
  g_capture.store(&capture, std::memory_order_seq_cst);
  is_on_ = true;
  Status status = change(0);
  if (!status) {
    silence();
    (void)take_off();
  }
  return status;
}

Status LockDetail::also(std::string_view words) {
  const size_t first = targets_.size();
  if (Status status = find_classes(words); !status) return status;
  Status status = change(first);
  if (!status) {
    while (targets_.size() > first) {
      context_.jvm.jni()->DeleteGlobalRef(targets_.back().klass);
      targets_.pop_back();
    }
  }
  return status;
}

Status LockDetail::change(size_t first) {
  jvmtiEnv* jvmti = context_.jvm.jvmti();
  // HotSpot shows files of all threads or of none; those of others, who load classes meanwhile, stay as they are.
  Status status = Error{Errc::kUnsupported, "this JVM does not show class files"};
  if (jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr) == JVMTI_ERROR_NONE) {
    status = retransform(first);
    (void)jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
  }
  for (size_t i = first; i < targets_.size(); ++i) {
    if (targets_[i].changed) names_ += (names_.empty() ? "" : ", ") + with_dots(targets_[i].what.name);
  }
  if (status && names_.empty()) status = Error{Errc::kUnsupported, "no class is as expected"};
  return status;
}

Status LockDetail::retransform(size_t first) {
  std::vector<jclass> classes;
  for (size_t i = first; i < targets_.size(); ++i) classes.push_back(targets_[i].klass);
  const Nanos begin = monotonic_now();
  const Redefinitions::Own own;
  const jvmtiError error = context_.jvm.jvmti()->RetransformClasses(static_cast<jint>(classes.size()), classes.data());
  time_taken_ = time_taken_ + (monotonic_now() - begin);
  if (error == JVMTI_ERROR_NONE) return {};
  return Error{Errc::kUnsupported, "this JVM does not take changed classes (" + std::to_string(error) + ")"};
}

void LockDetail::on_class_file(const ClassFile& file) {
  if (file.redefined == nullptr || file.name == nullptr || file.size <= 0) return;
  for (Target& target : targets_) {
    if (target.what.name != file.name) continue;
    const auto made = classfile::insert_calls({file.bytes, static_cast<size_t>(file.size)}, target.what.calls);
    std::string problem = made ? "" : made.error().what;
    for (size_t i = 0; made && i < made->methods.size(); ++i) {
      if (made->methods[i] == 0) problem = "it has no method " + target.what.calls[i].method;
    }
    unsigned char* bytes = nullptr;
    if (problem.empty() && file.jvmti->Allocate(static_cast<jlong>(made->bytes.size()), &bytes) != JVMTI_ERROR_NONE) {
      problem = "no memory";
    }
    if (!problem.empty()) {
      problems_.push_back(with_dots(target.what.name) + " is not as expected: " + problem + "; " +
                          (target.what.word == kVirtualWord ? "virtual threads that park are not seen"
                                                            : "who holds it is told as without --lock-detail"));
      return;
    }
    std::memcpy(bytes, made->bytes.data(), made->bytes.size());
    *file.new_size = static_cast<jint>(made->bytes.size());
    *file.new_bytes = bytes;
    target.changed = true;
  }
}

void LockDetail::silence() {
  g_capture.store(nullptr, std::memory_order_seq_cst);
  g_gate.wait_until_left();
}

Status LockDetail::take_off() {
  if (!is_on_) return {};
  is_on_ = false;
  // Nobody is asked now: the JVM takes the files as they were.
  Status status = retransform(0);
  const jvmtiCapabilities taken = wanted_capabilities();
  (void)context_.jvm.jvmti()->RelinquishCapabilities(&taken);
  return status;
}

}  // namespace tarsier::agent
