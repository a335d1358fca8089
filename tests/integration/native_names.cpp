// The C++ part of what NativeBurn.java calls; compiled by test_native.py.
#include <jni.h>
#include <time.h>

namespace {

long cpu_time() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

template <class T>
struct Burner {
  __attribute__((noinline)) long burn(T nanos) {
    const long begin = cpu_time();
    do {
      for (volatile int i = 0; i < 20000; i = i + 1) {
      }
    } while (cpu_time() < begin + nanos);
    return cpu_time() - begin;
  }
};

}  // namespace

extern "C" JNIEXPORT jlong JNICALL Java_NativeBurn_burnInCpp(JNIEnv*, jclass, jlong nanos) {
  Burner<jlong> burner;
  const jlong spent = burner.burn(nanos);
  return spent + (spent == 0 ? 1 : 0);  // so that it is no tail call
}
