#include "agent/attached_thread.h"

#include <unistd.h>

namespace tarsier::agent {

AttachedThread::AttachedThread(JavaVM* vm, ThreadRegistry& threads, const char* name) : vm_(vm), threads_(threads) {
  threads.exclude(::gettid());  // before the JVM tells of it
  JavaVMAttachArgs args{JNI_VERSION_1_6, const_cast<char*>(name), nullptr};
  if (vm->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&jni_), &args) != JNI_OK) jni_ = nullptr;
}

AttachedThread::~AttachedThread() {
  if (jni_ != nullptr) vm_->DetachCurrentThread();
  threads_.include_again(::gettid());  // the kernel may give its id to a thread of the application's
}

}  // namespace tarsier::agent
