// What SharedLocks.java calls: the code of a class as the JVM has it now. Compiled by test_lock_detail.py.
#include <jvmti.h>
#include <stdint.h>

static uint64_t mixed(uint64_t hash, const unsigned char* bytes, long size) {
  for (long i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

// A number of all methods' names and bytes, in any order; 0: it can't be told.
JNIEXPORT jlong JNICALL Java_SharedLocks_codeOf(JNIEnv* env, jclass caller, jclass klass) {
  (void)caller;
  JavaVM* vm;
  jvmtiEnv* jvmti;
  if ((*env)->GetJavaVM(env, &vm) != 0 || (*vm)->GetEnv(vm, (void**)&jvmti, JVMTI_VERSION_1_2) != 0) return 0;
  const jvmtiCapabilities wanted = {.can_get_bytecodes = 1};
  jmethodID* methods;
  jint count;
  uint64_t sum = 0;
  if ((*jvmti)->AddCapabilities(jvmti, &wanted) == 0 &&
      (*jvmti)->GetClassMethods(jvmti, klass, &count, &methods) == 0) {
    for (jint i = 0; i < count; ++i) {
      char* name;
      unsigned char* bytes;
      jint size;
      if ((*jvmti)->GetMethodName(jvmti, methods[i], &name, 0, 0) != 0) return 0;
      uint64_t hash = 0xcbf29ce484222325;
      for (const char* c = name; *c != 0; ++c) hash = mixed(hash, (const unsigned char*)c, 1);
      if ((*jvmti)->GetBytecodes(jvmti, methods[i], &size, &bytes) == 0) hash = mixed(hash, bytes, size);  // else abstract
      sum += hash;
    }
  }
  (*jvmti)->DisposeEnvironment(jvmti);
  return (jlong)sum;
}
