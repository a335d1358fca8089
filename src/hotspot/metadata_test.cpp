// Methods, their names and what their bytecodes call, in memory laid out by hand as HotSpot does it.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "hotspot/edge_check.h"
#include "hotspot/image_for_test.h"
#include "hotspot/methods.h"
#include "hotspot/unload_epoch.h"

namespace tarsier::hotspot {
namespace {

// One class with methods; constants are symbols, name-and-types and method references.
class ClassImage {
 public:
  explicit ClassImage(bool modern) : modern_(modern) {
    Jvm& j = jvm;
    j.member("Method", "_constMethod", "ConstMethod*", 8);
    j.member("Method", "_access_flags", "AccessFlags", 16);
    j.member("ConstMethod", "_constants", "ConstantPool*", 0);
    j.member("ConstMethod", "_constMethod_size", "int", 8);
    j.member("ConstMethod", modern ? "_flags._flags" : "_flags", "u2", 12);
    j.member("ConstMethod", "_code_size", "u2", 16);
    j.member("ConstMethod", "_name_index", "u2", 18);
    j.member("ConstMethod", "_signature_index", "u2", 20);
    j.type("ConstMethod", 24);
    j.member("ConstantPool", "_cache", "ConstantPoolCache*", 0);
    j.member("ConstantPool", "_pool_holder", "InstanceKlass*", 8);
    j.member("ConstantPool", "_length", "int", 16);
    j.type("ConstantPool", 24);
    j.member("Klass", "_name", "Symbol*", 0);
    j.member("InstanceKlass", "_methods", "Array<Method*>*", 8);
    j.member("Symbol", "_length", "u2", 0);
    j.member("Symbol", "_body", "u1", 2);
    j.type("ConstantPoolCache", 32);
    if (modern) {
      j.member("ConstantPoolCache", "_resolved_method_entries", "Array<ResolvedMethodEntry>*", 8);
      j.member("ResolvedMethodEntry", "_cpool_index", "u2", 16);
      j.type("ResolvedMethodEntry", 24);
    } else {
      j.member("ConstantPoolCacheEntry", "_indices", "intx", 0);
      j.type("ConstantPoolCacheEntry", 32);
    }
    pool_ = j.image.reserve(24 + 8 * 32);
    j.image.put<int32_t>(pool_ + 16, 32);
    klass_ = j.image.reserve(16);
    j.image.put(pool_ + 8, klass_);
    methods_ = j.image.reserve(8 + 8 * 8);
    j.image.put(klass_ + 8, methods_);
    name("p/Example");
    cache_ = j.image.reserve(32 + 32 * 8);
    j.image.put(pool_, cache_);
    entries_ = modern ? j.image.reserve(8 + 24 * 8) : cache_ + 32;
    if (modern) {
      j.image.put(cache_ + 8, entries_);
      j.image.put<int32_t>(entries_, 8);
    }
  }
  void name(const std::string& class_name) { jvm.image.put(klass_, symbol(class_name)); }
  void version(int32_t redefinitions) { jvm.image.put(pool_ + 20, redefinitions); }
  Address method(const std::string& method_name, const std::vector<uint8_t>& code, const std::vector<uint8_t>& lines) {
    const Address method = jvm.image.reserve(24);
    fill(method, method_name, code, lines);
    const auto count = *jvm.image.read<int32_t>(methods_);
    jvm.image.put(methods_ + 8 + 8 * static_cast<Address>(count), method);
    jvm.image.put<int32_t>(methods_, count + 1);
    return method;
  }
  void fill(Address method, const std::string& method_name, const std::vector<uint8_t>& code,
            const std::vector<uint8_t>& lines) {
    const Address const_method = jvm.image.reserve(24 + code.size() + lines.size() + 16);
    jvm.image.put(method + 8, const_method);
    jvm.image.put(const_method, pool_);
    jvm.image.put<int32_t>(const_method + 8, static_cast<int32_t>((24 + code.size() + lines.size() + 7) / 8));
    jvm.image.put<uint16_t>(const_method + 12, lines.empty() ? 0 : 1);
    jvm.image.put<uint16_t>(const_method + 16, static_cast<uint16_t>(code.size()));
    jvm.image.put<uint16_t>(const_method + 18, constant(symbol(method_name)));
    jvm.image.put<uint16_t>(const_method + 20, constant(symbol("()V")));
    for (size_t i = 0; i < code.size(); ++i) jvm.image.put(const_method + 24 + i, code[i]);
    for (size_t i = 0; i < lines.size(); ++i) jvm.image.put(const_method + 24 + code.size() + i, lines[i]);
  }
  // The index that rewritten bytecodes use for a call of this name.
  uint8_t call(const std::string& called) {
    const uint16_t name_and_type = constant(constant(symbol(called)));
    const uint16_t reference = constant(static_cast<Address>(name_and_type) << 16);
    const Address entry = modern_ ? entries_ + 8 + 24 * next_entry_ + 16 : entries_ + 32 * next_entry_;
    jvm.image.put<uint16_t>(entry, reference);
    return static_cast<uint8_t>(next_entry_++);
  }
  Jvm jvm;

 private:
  // Each exists once.
  Address symbol(const std::string& text) {
    Address& at = symbols_[text];
    if (at != 0) return at;
    at = jvm.image.reserve(2 + text.size());
    jvm.image.put<uint16_t>(at, static_cast<uint16_t>(text.size()));
    for (size_t i = 0; i < text.size(); ++i) jvm.image.put(at + 2 + i, text[i]);
    return at;
  }
  uint16_t constant(Address value) {
    jvm.image.put(pool_ + 24 + 8 * static_cast<Address>(next_constant_), value);
    return next_constant_++;
  }
  const bool modern_;
  Address pool_ = 0, klass_ = 0, methods_ = 0, cache_ = 0, entries_ = 0;
  std::map<std::string, Address> symbols_;
  uint16_t next_constant_ = 1;
  uint64_t next_entry_ = 1;
};

TEST(Methods, may_have_lines_that_make_no_sense) {
  ClassImage image(false);
  // (bci, line) grow three times by a number of 31 bits: the sum is none.
  std::vector<uint8_t> lines;
  for (int i = 0; i < 3; ++i) {
    lines.push_back(0xff);
    for (int j = 0; j < 2; ++j) lines.insert(lines.end(), {0xc0, 0xc0, 0xc0, 0xc0, 0xf0});
  }
  lines.push_back(0);
  const Address method = image.method("work", {1}, lines);
  const auto structs = image.jvm.load();
  auto methods = Methods::find(image.jvm.image, *structs, 17);
  ASSERT_TRUE(methods);
  const MethodInfo* info = methods->at(method);
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->lines.size(), 3u);
}

TEST(Methods, have_names_bytecodes_and_lines) {
  ClassImage image(false);
  // (bci 0, line 10) by the escape, (bci 3, line 12) in one byte.
  const Address method = image.method("work", {1, 2, 3, 4}, {0xff, 0, 20, 3 << 3 | 2, 0});
  const auto structs = image.jvm.load();
  ASSERT_TRUE(structs);
  auto methods = Methods::find(image.jvm.image, *structs, 17);
  ASSERT_TRUE(methods) << methods.error().what;
  const MethodInfo* info = methods->at(method);
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->class_name, "p/Example");
  EXPECT_EQ(info->name, "work");
  EXPECT_EQ(info->signature, "()V");
  EXPECT_EQ(info->code_size, 4u);
  EXPECT_EQ(info->line(2), 10);
  EXPECT_EQ(info->line(3), 12);
  EXPECT_FALSE(info->is_native());
}

TEST(Methods, what_its_class_does_not_know_is_no_method) {
  ClassImage image(false);
  image.method("work", {1}, {});
  const Address stray = image.jvm.image.reserve(24);
  image.fill(stray, "stray", {1}, {});
  const auto structs = image.jvm.load();
  auto methods = Methods::find(image.jvm.image, *structs, 17);
  ASSERT_TRUE(methods);
  EXPECT_EQ(methods->at(stray), nullptr);
  EXPECT_EQ(methods->at(0), nullptr);
  EXPECT_EQ(methods->at(0xdeadbeef0), nullptr);
}

TEST(Methods, what_threads_are_still_in_when_its_class_is_redefined_has_its_name) {
  ClassImage image(true);
  const Address old = image.jvm.image.reserve(24), stranger = image.jvm.image.reserve(24);
  image.fill(old, "work", {1, 2, 3}, {});
  image.fill(stranger, "play", {1}, {});
  image.method("rest", {1}, {});
  const Address successor = image.method("work", {1}, {});
  const auto structs = image.jvm.load();
  auto methods = Methods::find(image.jvm.image, *structs, 25);
  ASSERT_TRUE(methods);
  const MethodInfo* info = methods->at(old);
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->name, "work");
  EXPECT_EQ(info->code_size, 3);
  EXPECT_EQ(methods->at(successor)->code_size, 1);
  EXPECT_EQ(methods->at(stranger), nullptr);
}

TEST(Methods, a_class_that_gets_another_ones_place_without_an_unloading_is_looked_at_again) {
  ClassImage image(true);
  const Address method = image.method("work", {1}, {});
  const auto structs = image.jvm.load();
  auto methods = Methods::find(image.jvm.image, *structs, 25);
  ASSERT_TRUE(methods);
  methods->set_epochs(5, 5);
  ASSERT_NE(methods->at(method), nullptr);
  const Address later = image.method("later", {1}, {});
  image.name("p/Another");
  const MethodInfo* found = methods->at(later);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "later");
  EXPECT_EQ(found->class_name, "p/Another");
}

TEST(Methods, a_place_means_what_it_meant_when_the_stack_was_copied_or_nothing) {
  ClassImage image(true);
  const Address method = image.method("before", {1}, {});
  const auto structs = image.jvm.load();
  auto methods = Methods::find(image.jvm.image, *structs, 25);
  ASSERT_TRUE(methods);
  methods->set_epochs(5, 5);
  const MethodInfo* before = methods->at(method);
  ASSERT_NE(before, nullptr);
  methods->confirm(*before);
  image.fill(method, "after", {1}, {});
  EXPECT_EQ(methods->at(method), before);  // nothing was unloaded, so nothing can have changed
  methods->set_epochs(6, 5);
  EXPECT_EQ(methods->at(method), before);  // copied in time, decoded late
  methods->set_epochs(7, 6);
  EXPECT_EQ(methods->at(method), nullptr);  // which of the two was it?
  methods->set_epochs(7, 7);
  const MethodInfo* after = methods->at(method);
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->name, "after");
  EXPECT_EQ(before->name, "before");  // whoever holds it may still read it
  methods->confirm(*after);
  methods->set_epochs(9, 8);
  EXPECT_EQ(methods->at(method), nullptr);  // what has changed once may have changed again, and back
  methods->set_epochs(9, 9);
  EXPECT_EQ(methods->at(method), after);
}

TEST(Methods, if_it_is_not_certain_when_the_stack_was_copied_what_is_answered_held_all_the_time) {
  ClassImage image(true);
  const Address method = image.method("before", {1}, {});
  const auto structs = image.jvm.load();
  auto methods = Methods::find(image.jvm.image, *structs, 25);
  ASSERT_TRUE(methods);
  methods->set_epochs(5, 4, 1);
  EXPECT_EQ(methods->at(method), nullptr);  // who knows what was there before?
  methods->set_epochs(5, 5);
  const MethodInfo* before = methods->at(method);
  ASSERT_NE(before, nullptr);
  methods->set_epochs(6, 5, 1);
  EXPECT_EQ(methods->settled_epoch(), std::nullopt);
  EXPECT_EQ(methods->at(method), before);  // it is still there
  methods->set_epochs(6, 5);
  methods->confirm(*before);
  image.fill(method, "after", {1}, {});
  EXPECT_EQ(methods->at(method), before);
  methods->set_epochs(6, 5, 1);
  EXPECT_EQ(methods->at(method), nullptr);  // which of the two was it?
}

TEST(Methods, what_is_first_seen_after_an_unloading_is_not_believed_for_older_stacks) {
  ClassImage image(false);
  const Address method = image.method("work", {1}, {});
  const auto structs = image.jvm.load();
  auto methods = Methods::find(image.jvm.image, *structs, 17);
  ASSERT_TRUE(methods);
  methods->set_epochs(2, 1);
  EXPECT_EQ(methods->at(method), nullptr);
  methods->set_epochs(2, 2);
  EXPECT_NE(methods->at(method), nullptr);
}

// Of classes that were unloaded the memory stays until it is used again, and stacks have old words on them.
TEST(Methods, what_no_stack_has_confirmed_is_looked_at_again) {
  ClassImage image(true);
  const Address method = image.method("gone", {1}, {});
  const auto structs = image.jvm.load();
  auto methods = Methods::find(image.jvm.image, *structs, 25);
  ASSERT_TRUE(methods);
  methods->set_epochs(5, 5);
  const MethodInfo* gone = methods->at(method);
  ASSERT_NE(gone, nullptr);
  image.fill(method, "loaded", {1}, {});
  const MethodInfo* loaded = methods->at(method);
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(loaded->name, "loaded");
  methods->confirm(*loaded);
  methods->confirm(*gone);  // nobody says so; nothing happens
  methods->set_epochs(6, 5);
  EXPECT_EQ(methods->at(method), loaded);
  // Also what was confirmed in an earlier epoch: this time its memory is that of the dead.
  methods->set_epochs(6, 6);
  EXPECT_EQ(methods->at(method), loaded);
  image.fill(method, "newer", {1}, {});
  ASSERT_NE(methods->at(method), nullptr);
  EXPECT_EQ(methods->at(method)->name, "newer");
}

TEST(Methods, what_was_read_while_classes_were_unloaded_is_not_believed) {
  ClassImage image(false);
  const Address method = image.method("work", {1}, {});
  const auto structs = image.jvm.load();
  auto methods = Methods::find(image.jvm.image, *structs, 17);
  ASSERT_TRUE(methods);
  uint64_t epoch = 2;
  methods->watch_epoch([&] { return epoch; });
  methods->set_epochs(1, 1);
  EXPECT_EQ(methods->at(method), nullptr);
  EXPECT_TRUE(methods->epoch_has_passed());
  methods->set_epochs(2, 2);
  const MethodInfo* work = methods->at(method);
  ASSERT_NE(work, nullptr);
  EXPECT_TRUE(methods->is_loaded(*work));
  methods->confirm(*work);
  image.fill(method, "another", {1}, {});
  methods->set_epochs(3, 2);
  EXPECT_EQ(methods->at(method), work);
  EXPECT_FALSE(methods->is_loaded(*work));
}

// The JVM frees the old methods of a redefined class without counting that, and lays out the new ones as it did before.
TEST(Methods, what_is_there_again_after_redefinitions_is_not_what_was_there_in_between) {
  ClassImage image(true);
  const Address method = image.method("never_runs", {1}, {});
  const Address layout = *image.jvm.image.read<Address>(method + 8);
  const auto structs = image.jvm.load();
  auto methods = Methods::find(image.jvm.image, *structs, 25);
  ASSERT_TRUE(methods);
  methods->set_redefined();
  image.version(1);
  methods->set_epochs(5, 4);
  EXPECT_EQ(methods->at(method), nullptr);  // met for the first time
  methods->set_epochs(6, 5);
  ASSERT_NE(methods->at(method), nullptr);  // still there, so it was
  // A stack is copied that has another method of version 2 there; when it is decoded there is version 3.
  image.fill(method, "runs", {1}, {});
  image.version(2);
  image.jvm.image.put(method + 8, layout);
  image.version(3);
  methods->set_epochs(8, 7);
  EXPECT_EQ(methods->at(method), nullptr);
  methods->set_epochs(9, 8);
  const MethodInfo* again = methods->at(method);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->class_version, 3u);
}

TEST(Methods, tell_of_a_class_that_has_been_redefined) {
  ClassImage image(true);
  const Address method = image.method("work", {1}, {}), another = image.method("play", {1}, {});
  const auto structs = image.jvm.load();
  auto methods = Methods::find(image.jvm.image, *structs, 25);
  ASSERT_TRUE(methods);
  int told = 0;
  methods->on_redefinition([&] { ++told; });
  image.version(7);  // as a class of the JVM's archive has, which nobody has redefined
  ASSERT_NE(methods->at(method), nullptr);
  methods->set_epochs(1, 1);
  ASSERT_NE(methods->at(another), nullptr);
  EXPECT_EQ(told, 0);
  image.version(8);
  methods->set_epochs(2, 2);
  ASSERT_NE(methods->at(method), nullptr);
  EXPECT_EQ(told, 1);
  image.version(7);  // an old one that a thread is still in
  methods->set_epochs(3, 3);
  ASSERT_NE(methods->at(method), nullptr);
  EXPECT_EQ(told, 1);
}

TEST(Edges, are_right_if_the_bytecode_calls_a_method_of_that_name) {
  for (const bool modern : {false, true}) {
    ClassImage image(modern);
    const uint8_t index = image.call("callee");
    const Address caller = image.method("caller", {0xb6, index, 0, 0x10, 1, 0xba, 0, 0, 0, 0, 0xe0, index, 0}, {});
    const Address callee = image.method("callee", {1}, {});
    const Address other = image.method("other", {1}, {});
    const auto structs = image.jvm.load();
    ASSERT_TRUE(structs);
    auto methods = Methods::find(image.jvm.image, *structs, modern ? 25 : 17);
    const auto edges = EdgeCheck::find(image.jvm.image, *structs);
    ASSERT_TRUE(methods);
    ASSERT_TRUE(edges);
    const MethodInfo &from = *methods->at(caller), &to = *methods->at(callee), &not_called = *methods->at(other);
    EXPECT_EQ(edges->check(from, 0, to), Edge::kRight);
    EXPECT_EQ(edges->check(from, 0, not_called), Edge::kWrong);
    EXPECT_EQ(edges->check(from, 3, to), Edge::kWrong);        // bipush
    EXPECT_EQ(edges->check(from, 5, to), Edge::kUncheckable);  // invokedynamic
    EXPECT_EQ(edges->check(from, 10, to), Edge::kRight);       // a quickened call
    EXPECT_EQ(edges->check(from, 10, not_called), Edge::kUncheckable);
    EXPECT_EQ(edges->check(from, -1, to), Edge::kUncheckable);
    EXPECT_EQ(edges->check(from, 100, to), Edge::kWrong);  // behind its end
  }
}

TEST(UnloadEpoch, is_the_sum_of_the_jvms_two_counters) {
  Jvm jvm;
  const Address data = jvm.image.reserve(512);
  jvm.image.put<int32_t>(data + 24, 32);
  jvm.image.put<int32_t>(data + 28, 3);
  Address at = data + 32;
  Address values[3];
  const char* names[] = {"java.cls.loadedClasses", "java.cls.unloadedClasses", "java.cls.sharedUnloadedClasses"};
  for (int i = 0; i < 3; ++i) {
    jvm.image.put<int32_t>(at, 96);
    jvm.image.put<int32_t>(at + 4, 20);
    jvm.image.put<int32_t>(at + 16, 64);
    for (size_t c = 0; names[i][c] != 0; ++c) jvm.image.put(at + 20 + c, names[i][c]);
    values[i] = at + 64;
    jvm.image.put<uint64_t>(values[i], 10 * (i + 1));
    at += 96;
  }
  const Address start = jvm.image.reserve(8);
  jvm.image.put(start, data);
  jvm.static_member("PerfMemory", "_start", start);
  auto structs = jvm.load();
  ASSERT_TRUE(structs);
  const auto epoch = UnloadEpoch::find(jvm.image, *structs);
  ASSERT_TRUE(epoch);
  EXPECT_EQ(epoch->now(jvm.image), 50u);
  jvm.image.put<uint64_t>(values[1], 21);
  EXPECT_EQ(epoch->now(jvm.image), 51u);
  jvm.image.put<Address>(start, 0);  // -XX:-UsePerfData
  EXPECT_FALSE(UnloadEpoch::find(jvm.image, *structs));
}

}  // namespace
}  // namespace tarsier::hotspot
