#include "agent/virtual_threads.h"

#include "hotspot/virtual_threads.h"

namespace tarsier::agent {
namespace {

// JNI on the session's thread; an exception means "there is no such thing".
class Fields {
 public:
  explicit Fields(JNIEnv* jni) : jni_(jni) {}

  // FindClass would initialise it.
  jclass find_class_as_it_is(const char* name) {
    jclass java_class = find_class("java/lang/Class");
    if (java_class == nullptr) return nullptr;
    jmethodID for_name =
        jni_->GetStaticMethodID(java_class, "forName", "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
    jstring text = for_name == nullptr ? nullptr : jni_->NewStringUTF(name);
    jobject found =
        text == nullptr ? nullptr : jni_->CallStaticObjectMethod(java_class, for_name, text, false, nullptr);
    jni_->ExceptionClear();
    if (text != nullptr) jni_->DeleteLocalRef(text);
    jni_->DeleteLocalRef(java_class);
    return static_cast<jclass>(found);
  }
  jclass find_class(const char* name) {
    jclass found = jni_->FindClass(name);
    jni_->ExceptionClear();
    return found;
  }
  // HotSpot's field ids of instance fields are their offsets, above two bits of tags.
  std::optional<uint64_t> offset(jclass holder, const char* name, const char* type) {
    if (holder == nullptr) return std::nullopt;
    jfieldID field = jni_->GetFieldID(holder, name, type);
    jni_->ExceptionClear();
    if (field == nullptr) return std::nullopt;
    return reinterpret_cast<uint64_t>(field) >> 2;
  }
  uint64_t need(jclass holder, const char* name, const char* type) {
    const auto found = offset(holder, name, type);
    if (!found && missing_.empty()) missing_ = name;
    return found.value_or(0);
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  JNIEnv* jni_;
  std::string missing_;
};

}  // namespace

VirtualThreads::VirtualThreads(Jvm& jvm) : jvm_(jvm) {
  constexpr int kFirst = 21;
  if (jvm.major() < kFirst || !jvm.lib().structs()) return;
  JNIEnv* jni = jvm.jni();
  if (jclass found = Fields(jni).find_class_as_it_is("java.lang.VirtualThread")) {
    virtual_thread_ = static_cast<jclass>(jni->NewGlobalRef(found));
    jni->DeleteLocalRef(found);
  }
}

VirtualThreads::~VirtualThreads() {
  if (virtual_thread_ != nullptr) jvm_.jni()->DeleteGlobalRef(virtual_thread_);
}

const hotspot::VirtualThreadLayout* VirtualThreads::layout() {
  if (layout_) return &*layout_;
  if (virtual_thread_ == nullptr || !problem_.empty()) return nullptr;
  // Asking for a field initialises its class, which for this one makes a scheduler: not by us.
  jint status = 0;
  if (jvm_.jvmti()->GetClassStatus(virtual_thread_, &status) != JVMTI_ERROR_NONE) return nullptr;
  if ((status & JVMTI_CLASS_STATUS_INITIALIZED) == 0) return nullptr;
  look();
  return layout_ ? &*layout_ : nullptr;
}

void VirtualThreads::look() {
  JNIEnv* jni = jvm_.jni();
  const hotspot::VmStructs& structs = *jvm_.lib().structs();
  if (jni->PushLocalFrame(8) != 0) return jni->ExceptionClear();
  Fields java(jni);
  jclass thread = java.find_class("java/lang/Thread");
  jclass continuation = java.find_class("jdk/internal/vm/Continuation");
  jclass chunk = java.find_class("jdk/internal/vm/StackChunk");
  jclass string = java.find_class("java/lang/String");
  const char* kChunk = "Ljdk/internal/vm/StackChunk;";
  hotspot::JavaFields fields;
  fields.thread_id = java.need(thread, "tid", "J");
  fields.thread_name = java.need(thread, "name", "Ljava/lang/String;");
  fields.virtual_thread_continuation = java.need(virtual_thread_, "cont", "Ljdk/internal/vm/Continuation;");
  fields.continuation_tail = java.need(continuation, "tail", kChunk);
  fields.chunk_parent = java.need(chunk, "parent", kChunk);
  fields.chunk_size = java.need(chunk, "size", "I");
  fields.chunk_sp = java.need(chunk, "sp", "I");
  const auto bottom = java.offset(chunk, "bottom", "I");
  fields.chunk_bottom = bottom ? *bottom : java.need(chunk, "argsize", "I");
  fields.chunk_bottom_is_argument_size = !bottom;
  fields.string_value = java.need(string, "value", "[B");
  fields.string_coder = java.need(string, "coder", "B");
  const Address klass =
      chunk == nullptr ? 0 : hotspot::klass_of(jvm_.memory(), structs, reinterpret_cast<Address>(chunk));
  fields.chunk_words = hotspot::instance_size(jvm_.memory(), structs, klass).value_or(0);
  jni->PopLocalFrame(nullptr);
  if (!java.missing().empty()) {
    problem_ = "this JVM's classes lack the field " + java.missing();
    return;
  }
  auto layout = hotspot::find_virtual_threads(jvm_.memory(), structs, jvm_.major(), fields);
  if (layout) {
    layout_ = *layout;
  } else {
    problem_ = layout.error().what;
  }
}

}  // namespace tarsier::agent
