// What NativeBurn.java calls; compiled by test_native.py, as C and, the last part, with a function that has no unwind
// information.
#define _GNU_SOURCE
#include <jni.h>
#include <stdint.h>
#include <time.h>

#define NOT_INLINE __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

static long cpu_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

// Visible, so that a stripped library still has their names.
NOT_INLINE void burnInner(long until) {
  do {
    for (volatile int i = 0; i < 20000; ++i) {
    }
  } while (cpu_time() < until);
}
NOT_INLINE long burnOuter(long nanos) {
  char room[3000];  // a frame of some size
  for (volatile unsigned i = 0; i < sizeof room; i += 100) ((volatile char*)room)[i] = 1;
  const long begin = cpu_time();
  burnInner(begin + nanos);
  return cpu_time() - begin;
}
JNIEXPORT jlong JNICALL Java_NativeBurn_burnInC(JNIEnv* env, jclass c, jlong nanos) {
  (void)env, (void)c;
  const jlong spent = burnOuter(nanos);
  return spent + (spent == 0 ? 1 : 0);  // so that it is no tail call
}
JNIEXPORT jlong JNICALL Java_NativeBurn_cpuTime(JNIEnv* env, jclass c) {
  (void)env, (void)c;
  return cpu_time();
}

NOT_INLINE long callBack(JNIEnv* env, jclass c, long nanos) {
  jmethodID method = (*env)->GetStaticMethodID(env, c, "burnInJava", "(J)V");
  const long begin = cpu_time();
  (*env)->CallStaticVoidMethod(env, c, method, (jlong)(begin + nanos));
  return cpu_time() - begin;
}
JNIEXPORT jlong JNICALL Java_NativeBurn_burnBehindC(JNIEnv* env, jclass c, jlong nanos) {
  const jlong spent = callBack(env, c, nanos);
  return spent + (spent == 0 ? 1 : 0);
}

// Written by hand, as in libraries for cryptography: nothing tells where its frame is.
void burnUnknown(long nanos);
__asm__(
    ".text\n.globl burnUnknown\n.type burnUnknown, %function\nburnUnknown:\n"
#if defined(__aarch64__)
    "sub sp, sp, #64\nstr x30, [sp, #40]\nbl burnKnown\nldr x30, [sp, #40]\nadd sp, sp, #64\nret\n"
#else
    "subq $72, %rsp\ncall burnKnown@PLT\naddq $72, %rsp\nret\n"
#endif
    ".size burnUnknown, . - burnUnknown\n");
NOT_INLINE void burnKnown(long nanos) { burnInner(cpu_time() + nanos); }
JNIEXPORT jlong JNICALL Java_NativeBurn_burnBehindUnknown(JNIEnv* env, jclass c, jlong nanos) {
  (void)env, (void)c;
  const long begin = cpu_time();
  burnUnknown(nanos);
  return cpu_time() - begin;
}
