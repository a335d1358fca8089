#include "agent/virtual_threads.h"

#include "hotspot/virtual_threads.h"

namespace tarsier::agent {
namespace {

// Classes and offsets of their fields, asked for in Java, since JNI's FindClass and GetFieldID initialise classes. An
// exception means "there is no such thing".
class Fields {
 public:
  explicit Fields(JNIEnv* jni) : jni_(jni) { find_tools(); }

  jclass find_class(const char* name) {
    if (!missing_.empty()) return nullptr;
    jobject found = jni_->CallStaticObjectMethod(class_, for_name_, jni_->NewStringUTF(name), false, nullptr);
    if (jni_->ExceptionCheck()) fail(name);
    return static_cast<jclass>(found);
  }
  std::optional<uint64_t> offset(jclass holder, const char* name) {
    if (!missing_.empty() || holder == nullptr) return std::nullopt;
    const jlong found = jni_->CallLongMethod(unsafe_, offset_, holder, jni_->NewStringUTF(name));
    if (!jni_->ExceptionCheck()) return static_cast<uint64_t>(found);
    jni_->ExceptionClear();
    return std::nullopt;
  }
  uint64_t need(jclass holder, const char* name) {
    const auto found = offset(holder, name);
    if (!found) fail(name);
    return found.value_or(0);
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void find_tools() {
    jclass java_class = jni_->FindClass("java/lang/Class");
    jclass unsafe_class = jni_->FindClass("jdk/internal/misc/Unsafe");
    if (java_class == nullptr || unsafe_class == nullptr) return fail("jdk.internal.misc.Unsafe");
    class_ = java_class;
    for_name_ =
        jni_->GetStaticMethodID(java_class, "forName", "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
    jmethodID get_unsafe = jni_->GetStaticMethodID(unsafe_class, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
    offset_ = jni_->GetMethodID(unsafe_class, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
    if (for_name_ == nullptr || get_unsafe == nullptr || offset_ == nullptr) return fail("Unsafe.objectFieldOffset");
    unsafe_ = jni_->CallStaticObjectMethod(unsafe_class, get_unsafe);
    if (jni_->ExceptionCheck() || unsafe_ == nullptr) fail("Unsafe.getUnsafe");
  }
  void fail(const char* what) {
    jni_->ExceptionClear();
    if (missing_.empty()) missing_ = what;
  }

  JNIEnv* jni_;
  std::string missing_;
  jclass class_ = nullptr;
  jobject unsafe_ = nullptr;
  jmethodID for_name_ = nullptr, offset_ = nullptr;
};

}  // namespace

Result<std::optional<hotspot::VirtualThreadLayout>> find_virtual_threads(const Jvm& jvm, bool entries_known) {
  constexpr int kFirst = 21;
  using Nothing = std::optional<hotspot::VirtualThreadLayout>;
  if (jvm.major() < kFirst || !jvm.lib().structs()) return Nothing();
  JNIEnv* jni = jvm.jni();
  const hotspot::VmStructs& structs = *jvm.lib().structs();
  constexpr jint kReferences = 32;
  if (jni->PushLocalFrame(kReferences) != 0) {
    jni->ExceptionClear();
    return Error{Errc::kFailed, "the JVM has no memory for local references"};
  }
  Fields java(jni);
  jclass thread = java.find_class("java.lang.Thread");
  jclass virtual_thread = java.find_class("java.lang.VirtualThread");
  jclass continuation = java.find_class("jdk.internal.vm.Continuation");
  jclass chunk = java.find_class("jdk.internal.vm.StackChunk");
  jclass string = java.find_class("java.lang.String");
  hotspot::JavaFields fields;
  fields.thread_id = java.need(thread, "tid");
  fields.thread_name = java.need(thread, "name");
  fields.virtual_thread_continuation = java.need(virtual_thread, "cont");
  fields.continuation_tail = java.need(continuation, "tail");
  fields.chunk_parent = java.need(chunk, "parent");
  fields.chunk_size = java.need(chunk, "size");
  fields.chunk_sp = java.need(chunk, "sp");
  const auto bottom = java.offset(chunk, "bottom");
  fields.chunk_bottom = bottom ? *bottom : java.need(chunk, "argsize");
  fields.chunk_bottom_is_argument_size = !bottom;
  fields.string_value = java.need(string, "value");
  fields.string_coder = java.need(string, "coder");
  const Address klass =
      chunk == nullptr ? 0 : hotspot::klass_of(jvm.memory(), structs, reinterpret_cast<Address>(chunk));
  fields.chunk_words = hotspot::instance_size(jvm.memory(), structs, klass).value_or(0);
  jni->PopLocalFrame(nullptr);
  if (!java.missing().empty()) return Error{Errc::kUnsupported, "this JVM lacks " + java.missing()};
  auto layout = hotspot::find_virtual_threads(jvm.memory(), structs, jvm.major(), fields, entries_known);
  if (!layout) return std::move(layout).error();
  return Nothing(*layout);
}

}  // namespace tarsier::agent
