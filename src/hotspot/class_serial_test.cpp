#include "hotspot/class_serial.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tarsier::hotspot {
namespace {

constexpr Address kFirst = 0x10000;
constexpr size_t kWords = 8;  // of a class: the third is its loader, those behind may be its number

class Classes final : public Memory {
 public:
  bool copy(void* out, Address from, size_t size) const noexcept override {
    if (from < kFirst || from - kFirst + size > words.size() * 8) return false;
    std::memcpy(out, reinterpret_cast<const uint8_t*>(words.data()) + (from - kFirst), size);
    return true;
  }
  Address add(std::vector<uint64_t> behind_loader) {
    const Address at = kFirst + 8 * words.size();
    words.insert(words.end(), {1, 2, 3});
    words.insert(words.end(), behind_loader.begin(), behind_loader.end());
    words.resize((at - kFirst) / 8 + kWords);
    return at;
  }
  std::vector<uint64_t> words;
};

VmStructs structs() {
  return *VmStructs::from_text("Klass._class_loader_data\t+10\tClassLoaderData*\nKlass\t=40\n");
}

TEST(ClassSerial, is_the_word_in_which_classes_differ) {
  Classes classes;
  ClassSerial serial = ClassSerial::find(structs());
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(i > 47 || !serial.offset());
    // Flags that are the same, a pointer, the number with its flags, a count that repeats.
    serial.learn(classes, classes.add({0x2100001, 0xffff'1234'0000 + (i << 20), (i + 700) << 16 | i % 3, i / 2}));
  }
  EXPECT_EQ(serial.offset(), 5 * 8 + 2u);
}

TEST(ClassSerial, is_not_guessed) {
  Classes classes;
  ClassSerial two = ClassSerial::find(structs());
  ClassSerial none = ClassSerial::find(structs());
  ClassSerial same = ClassSerial::find(structs());
  const Address first = classes.add({1 << 16});
  for (uint64_t i = 1; i < 100; ++i) {
    two.learn(classes, classes.add({i << 16, i << 20}));
    none.learn(classes, classes.add({i, 7 << 16}));
    same.learn(classes, first);
  }
  EXPECT_FALSE(two.offset());
  EXPECT_FALSE(none.offset());
  EXPECT_FALSE(same.offset());
  ClassSerial unknown = ClassSerial::find(VmStructs());
  unknown.learn(classes, first);
  EXPECT_FALSE(unknown.offset());
}

}  // namespace
}  // namespace tarsier::hotspot
