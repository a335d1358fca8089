#include "analysis/stable_name.h"

#include <gtest/gtest.h>

namespace tarsier::analysis {
namespace {

TEST(StableName, of_a_lambda_is_the_same_in_every_run_and_jdk) {
  for (const char* name :
       {"app.Main$$Lambda$12/0x0000000800c03000.run", "app.Main$$Lambda$7/1915910607.run", "app.Main$$Lambda$7.run",
        "app.Main$$Lambda$7.1915910607.run", "app.Main$$Lambda.0x00007f1a2c001000.run",
        "app.Main$$Lambda+0x00007f1a2c001000.run", "app.Main$$Lambda/0x00007f1a2c001000.run",
        "app.Main$$Lambda$12+0x0000000800c03000.run", "app.Main$$Lambda.run"}) {
    EXPECT_EQ(stable_name(name), "app.Main$$Lambda.run") << name;
  }
}

TEST(StableName, of_method_handles_and_other_hidden_classes_has_no_address) {
  EXPECT_EQ(stable_name("java.lang.invoke.LambdaForm$MH/0x0000000800066400.invoke"),
            "java.lang.invoke.LambdaForm$MH.invoke");
  EXPECT_EQ(stable_name("java.lang.invoke.LambdaForm$DMH.0x0000000800066400.invokeStatic"),
            "java.lang.invoke.LambdaForm$DMH.invokeStatic");
  EXPECT_EQ(stable_name("java.lang.invoke.LambdaForm$MH012/1879492184.invoke_MT"),
            "java.lang.invoke.LambdaForm$MH.invoke_MT");
  EXPECT_EQ(stable_name("app.Hidden+0x000001.call"), "app.Hidden.call");
}

TEST(StableName, of_proxies_and_accessors_has_no_number) {
  EXPECT_EQ(stable_name("jdk.proxy2.$Proxy7.get"), "jdk.proxy.$Proxy.get");
  EXPECT_EQ(stable_name("com.sun.proxy.$Proxy12.get"), "com.sun.proxy.$Proxy.get");
  EXPECT_EQ(stable_name("$Proxy12.get"), "$Proxy.get");
  EXPECT_EQ(stable_name("jdk.internal.reflect.GeneratedMethodAccessor12.invoke"),
            "jdk.internal.reflect.GeneratedMethodAccessor.invoke");
  EXPECT_EQ(stable_name("sun.reflect.GeneratedConstructorAccessor3.newInstance"),
            "sun.reflect.GeneratedConstructorAccessor.newInstance");
  EXPECT_EQ(stable_name("sun.reflect.GeneratedSerializationConstructorAccessor1.newInstance"),
            "sun.reflect.GeneratedSerializationConstructorAccessor.newInstance");
}

TEST(StableName, of_classes_that_libraries_generate_has_no_hash) {
  EXPECT_EQ(stable_name("app.Bean$$EnhancerBySpringCGLIB$$1a2b3c4d.get"), "app.Bean$$EnhancerBySpringCGLIB.get");
  EXPECT_EQ(stable_name("app.Bean$$FastClassByCGLIB$$e1.invoke"), "app.Bean$$FastClassByCGLIB.invoke");
  EXPECT_EQ(stable_name("app.Bean$HibernateProxy$Xy12.get"), "app.Bean$HibernateProxy.get");
  EXPECT_EQ(stable_name("app.Bean$MockitoMock$1234567.get"), "app.Bean$MockitoMock.get");
}

TEST(StableName, of_all_others_is_the_name) {
  for (const char* name :
       {"java.lang.invoke.DirectMethodHandle$Holder.invokeStatic", "java.lang.invoke.LambdaForm$Holder.invoke",
        "java.lang.invoke.BoundMethodHandle$Species_LLI.copyWith", "app.Main.lambda$main$0", "app.Main$1.run",
        "app.Version2.run", "app.My$Proxy.get", "app.My$Proxy2.get", "[failed: no frame]", "memcpy", "copy.part.0.cold",
        "foo.isra.0", "libjvm.so", "jdk.proxy.Maker.make", "jdk.proxying7.Maker.make", "app.CGLIB$$.x", "", ".",
        "a."}) {
    EXPECT_EQ(stable_name(name), name);
  }
}

}  // namespace
}  // namespace tarsier::analysis
