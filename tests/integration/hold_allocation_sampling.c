// A JVMTI agent that takes the capability to sample allocation, says so, and keeps it.
#include <jvmti.h>
#include <stdio.h>

static jint hold(JavaVM* vm) {
  jvmtiEnv* jvmti = NULL;
  if ((*vm)->GetEnv(vm, (void**)&jvmti, JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
  jvmtiCapabilities wanted = {0};
  wanted.can_generate_sampled_object_alloc_events = 1;
  jvmtiError error = (*jvmti)->AddCapabilities(jvmti, &wanted);
  printf(error == JVMTI_ERROR_NONE ? "HELD\n" : "NOT HELD\n");
  fflush(stdout);
  return JNI_OK;
}
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* reserved) {
  return hold(vm);
}
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void* reserved) {
  return hold(vm);
}
