#include "linux/readable_name.h"

#include <gtest/gtest.h>
#include <pthread.h>

namespace tarsier::linux {
namespace {

TEST(ReadableName, leaves_what_is_not_mangled_as_it_is) {
  EXPECT_EQ(readable_name("memcpy"), "memcpy");
  EXPECT_EQ(readable_name(""), "");
  EXPECT_EQ(readable_name("_Z"), "_Z");
  EXPECT_EQ(readable_name("_Zebra"), "_Zebra");
  EXPECT_EQ(readable_name("foo.part.0"), "foo.part.0");
}

TEST(ReadableName, says_who_it_is_without_arguments_and_result) {
  EXPECT_EQ(readable_name("_ZN9JavaCalls11call_helperEP9JavaValueRK12methodHandleP17JavaCallArgumentsP10JavaThread"),
            "JavaCalls::call_helper");
  EXPECT_EQ(readable_name("_Z3fooi"), "foo");
  EXPECT_EQ(readable_name("_ZNK3Foo3barEv"), "Foo::bar");
  EXPECT_EQ(readable_name("_Z3addIiET_S0_S0_"), "add<int>");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_16BurnerIlE4burnEl"), "(anonymous namespace)::Burner<long>::burn");
  EXPECT_EQ(readable_name("_ZN3FoocvbEv"), "Foo::operator bool");
  EXPECT_EQ(readable_name("_ZN3FooclEi"), "Foo::operator()");
  EXPECT_EQ(readable_name("_ZN3FooltERKS_"), "Foo::operator<");
  EXPECT_EQ(readable_name("_Znwm"), "operator new");
  EXPECT_EQ(readable_name("_ZN3FooD1Ev"), "Foo::~Foo");
  EXPECT_EQ(readable_name("_ZThn16_N3Foo3barEv"), "Foo::bar");
  EXPECT_EQ(readable_name("_ZN3Foo3barEv.part.0"), "Foo::bar");
  EXPECT_EQ(readable_name("_Z3fooIXadL_Z3barvEEEvv"), "foo<&(bar())>");
}

TEST(ReadableName, is_never_longer_than_its_bound) {
  EXPECT_EQ(readable_name(std::string(10'000, 'x')).size(), 512U);
  EXPECT_EQ(readable_name("_Z" + std::string(10'000, 'x')).size(), 512U);
}

// Each level says the one before twice: 2^30 times "i", if anybody wrote it down.
TEST(ReadableName, takes_no_time_for_text_that_has_no_end) {
  std::string name = "_Z1fSt4pairIiiE";
  name += "S_IS0_S0_E";
  const char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (int i = 0; i < 30; ++i) {
    const std::string last = std::string("S") + kDigits[i + 1] + "_";
    name += "S_I" + last + last + "E";
  }
  EXPECT_LE(readable_name(name).size(), 512U);
}

void* read_deep_names(void*) {
  for (const char c : {'P', 'K', 'R', 'N', 'I', 'F'}) (void)readable_name("_Z1f" + std::string(500, c) + "i");
  std::string nested = "_Z1f";
  for (int i = 0; i < 80; ++i) nested += "1aI";
  nested += "i" + std::string(80, 'E');
  EXPECT_LE(readable_name(nested).size(), 512U);
  return nullptr;
}

TEST(ReadableName, needs_no_large_stack) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, 1 << 20);  // the session's
  pthread_t thread;
  ASSERT_EQ(::pthread_create(&thread, &attributes, read_deep_names, nullptr), 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
}

}  // namespace
}  // namespace tarsier::linux
