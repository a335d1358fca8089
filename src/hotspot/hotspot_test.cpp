// HotSpot's tables and code cache, laid out by hand in an image: no JVM needed, and every damage can be tried.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "hotspot/code_cache.h"
#include "hotspot/flags.h"
#include "hotspot/image_for_test.h"
#include "hotspot/threads.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {
namespace {

TEST(VmStructs, members_statics_sizes_and_types_are_found_by_name) {
  Jvm jvm;
  jvm.member("nmethod", "_compile_id", "int", 304);
  jvm.static_member("CodeCache", "_heaps", 0x1234);
  jvm.type("HeapBlock", 16);
  const auto structs = jvm.load();
  ASSERT_TRUE(structs) << structs.error().what;
  EXPECT_EQ(structs->offset("nmethod", "_compile_id"), 304u);
  EXPECT_EQ(structs->address("CodeCache", "_heaps"), 0x1234u);
  EXPECT_EQ(structs->size_of("HeapBlock"), 16u);
  EXPECT_EQ(structs->type_of("nmethod", "_compile_id"), "int");
  EXPECT_EQ(structs->offset("CodeCache", "_heaps"), std::nullopt);  // is a static
  EXPECT_EQ(structs->address("nmethod", "_compile_id"), std::nullopt);
  EXPECT_EQ(structs->offset("nmethod", "_none"), std::nullopt);
}

TEST(VmStructs, a_jvm_without_them_is_named_as_such) {
  Jvm jvm;
  jvm.member("a", "b", "c", 0);
  jvm.forget("gHotSpotVMStructEntryArrayStride");
  const auto structs = jvm.load();
  ASSERT_FALSE(structs);
  EXPECT_EQ(structs.error().code, Errc::kUnsupported);
  EXPECT_NE(structs.error().what.find("gHotSpotVMStructEntryArrayStride"), std::string::npos);
}

TEST(Flags, are_found_under_the_names_of_old_and_new_jvms) {
  for (const char* type : {"JVMFlag", "Flag"}) {
    Jvm jvm;
    const Address value = jvm.image.reserve(8);
    const Address table = jvm.image.reserve(3 * 24);
    const char* names[] = {"UseSerialGC", "DebugNonSafepoints"};
    for (int i = 0; i < 2; ++i) {
      jvm.image.put(table + i * 24, value + i);
      jvm.image.put(table + i * 24 + 8, jvm.image.text(names[i]));
    }
    const Address table_pointer = jvm.image.reserve(8);
    jvm.image.put(table_pointer, table);
    const Address count = jvm.image.reserve(8);
    jvm.image.put<uint64_t>(count, 3);  // the last row is empty
    jvm.static_member(type, "flags", table_pointer);
    jvm.static_member(type, "numFlags", count);
    jvm.member(type, "_name", "const char*", 8);
    jvm.member(type, "_addr", "void*", 0);
    jvm.type(type, 24);
    const auto structs = jvm.load();
    ASSERT_TRUE(structs);
    EXPECT_EQ(find_flag(jvm.image, *structs, "DebugNonSafepoints"), value + 1) << type;
    EXPECT_EQ(find_flag(jvm.image, *structs, "NoSuchFlag"), std::nullopt);
  }
}

TEST(Threads, native_ids_come_through_the_os_thread) {
  Jvm jvm;
  jvm.member("Thread", "_osthread", "OSThread*", 32);
  jvm.member("OSThread", "_thread_id", "pid_t", 12);
  const Address os_thread = jvm.image.reserve(64);
  jvm.image.put<int32_t>(os_thread + 12, 4711);
  const Address thread = jvm.image.reserve(64);
  jvm.image.put(thread + 32, os_thread);
  const auto structs = jvm.load();
  ASSERT_TRUE(structs);
  const auto layout = ThreadLayout::find(*structs);
  ASSERT_TRUE(layout);
  EXPECT_EQ(native_id(jvm.image, *layout, thread), 4711);
  EXPECT_EQ(native_id(jvm.image, *layout, 0x5), std::nullopt);  // gone
}

TEST(Threads, allocated_bytes_are_those_counted_and_those_of_the_buffer) {
  Jvm jvm;
  jvm.member("Thread", "_allocated_bytes", "jlong", 8);
  jvm.member("Thread", "_tlab", "ThreadLocalAllocBuffer", 16);
  jvm.member("ThreadLocalAllocBuffer", "_start", "HeapWord*", 0);
  jvm.member("ThreadLocalAllocBuffer", "_top", "HeapWord*", 8);
  const auto structs = jvm.load();
  ASSERT_TRUE(structs);
  const auto layout = AllocatedBytesLayout::find(*structs);
  ASSERT_TRUE(layout);
  const int64_t thread[] = {0, 5000, 0x10000, 0x10040};
  EXPECT_EQ(layout->of_current(reinterpret_cast<const char*>(thread)), 5064);
  Jvm other;
  other.member("Thread", "_tlab", "ThreadLocalAllocBuffer", 16);
  const auto fewer = other.load();
  ASSERT_TRUE(fewer);
  EXPECT_FALSE(AllocatedBytesLayout::find(*fewer));
}

// A code heap of 64 segments of 128 bytes: [stub][nmethod c2][free][native wrapper].
struct CodeHeapImage {
  explicit CodeHeapImage(bool modern) {
    const uint64_t header = modern ? 8 : 16;
    memory = jvm.image.reserve(kSegments * 128, 128);
    segmap = jvm.image.reserve(kSegments);
    for (int i = 0; i < kSegments; ++i) jvm.image.put<uint8_t>(segmap + i, 0xff);
    block(modern, 0, 4, "RuntimeStub", 0, 0, 0);
    block(modern, 4, 40, "nmethod", 77, 4, 0xAAAA);
    block(modern, 44, 4, nullptr, 0, 0, 0);
    block(modern, 48, 16, "native nmethod", 78, 0, 0xBBBB);

    const Address heap = jvm.image.reserve(256);
    jvm.image.put(heap + 0, memory);
    jvm.image.put(heap + 8, memory + kSegments * 128);
    jvm.image.put(heap + 64, segmap);
    jvm.image.put<int32_t>(heap + 128, 7);
    const Address data = jvm.image.reserve(8);
    jvm.image.put(data, heap);
    const Address array = jvm.image.reserve(16);
    jvm.image.put<int32_t>(array, 1);
    jvm.image.put(array + 8, data);
    const Address heaps = jvm.image.reserve(8);
    jvm.image.put(heaps, array);

    jvm.static_member("CodeCache", "_heaps", heaps);
    jvm.member("GrowableArrayBase", "_len", "int", 0);
    jvm.member("GrowableArray<int>", "_data", "int*", 8);
    jvm.member("CodeHeap", "_memory", "VirtualSpace", 0);
    jvm.member("CodeHeap", "_segmap", "VirtualSpace", 64);
    jvm.member("CodeHeap", "_log2_segment_size", "int", 128);
    jvm.member("VirtualSpace", "_low", "char*", 0);
    jvm.member("VirtualSpace", "_high", "char*", 8);
    jvm.member("HeapBlock::Header", "_length", modern ? "uint32_t" : "size_t", 0);
    jvm.member("HeapBlock::Header", "_used", "bool", modern ? 4 : 8);
    jvm.type("HeapBlock", header);
    jvm.member("CodeBlob", "_name", "const char*", 8);
    jvm.member(modern ? "nmethod" : "CompiledMethod", "_method", "Method*", 16);
    jvm.member("nmethod", "_compile_id", "int", 24);
    jvm.member("nmethod", "_comp_level", modern ? "CompLevel" : "int", 28);
  }
  void block(bool modern, int segment, int length, const char* name, int id, int level, Address method) {
    const Address at = memory + segment * 128;
    if (modern) {
      jvm.image.put<uint32_t>(at, length);
    } else {
      jvm.image.put<uint64_t>(at, length);
    }
    jvm.image.put<uint8_t>(at + (modern ? 4 : 8), name != nullptr);
    if (name == nullptr) return;
    for (int i = 0; i < length; ++i) jvm.image.put<uint8_t>(segmap + segment + i, std::min(i, 0xfe));
    const Address blob = at + (modern ? 8 : 16);
    jvm.image.put(blob + 8, jvm.image.text(name));
    jvm.image.put(blob + 16, method);
    jvm.image.put<int32_t>(blob + 24, id);
    if (modern) {
      jvm.image.put<int8_t>(blob + 28, level);
    } else {
      jvm.image.put<int32_t>(blob + 28, level);
    }
  }
  static constexpr int kSegments = 64;
  Jvm jvm;
  Address memory = 0, segmap = 0;
};

TEST(CodeCache, tells_what_lies_at_a_pc_on_old_and_new_layouts) {
  for (const bool modern : {false, true}) {
    CodeHeapImage code(modern);
    const auto structs = code.jvm.load();
    ASSERT_TRUE(structs);
    const auto cache = CodeCache::find(code.jvm.image, *structs);
    ASSERT_TRUE(cache) << cache.error().what;
    const Code compiled = cache->code_at(code.memory + 30 * 128 + 5);
    EXPECT_EQ(compiled.kind, CodeKind::kC2);
    EXPECT_EQ(compiled.compile_id, 77);
    EXPECT_EQ(compiled.method, 0xAAAAu);
    EXPECT_EQ(cache->code_at(code.memory + 3 * 128).kind, CodeKind::kStub);
    EXPECT_EQ(cache->stub_name(code.memory + 3 * 128), "RuntimeStub");
    EXPECT_EQ(cache->code_at(code.memory + 45 * 128).kind, CodeKind::kStub);  // a free block: nothing is known
    EXPECT_EQ(cache->code_at(code.memory + 60 * 128).kind, CodeKind::kNativeWrapper);
    EXPECT_EQ(cache->code_at(code.memory - 1).kind, CodeKind::kNotInCache);
    EXPECT_EQ(cache->code_at(code.memory + 64 * 128).kind, CodeKind::kNotInCache);
    EXPECT_EQ(cache->highest_compile_id(), 78);
    const auto stubs = cache->blobs_named("RuntimeSt");
    ASSERT_EQ(stubs.size(), 1u);
    EXPECT_EQ(cache->blob_at(code.memory + 3 * 128), stubs[0].first);
    EXPECT_EQ(stubs[0].second % 128, code.memory % 128);
    EXPECT_TRUE(cache->blobs_named("RuntimeStubs").empty());
  }
}

TEST(CodeCache, a_damaged_segment_map_or_block_ends_the_search_not_the_process) {
  CodeHeapImage code(true);
  const auto structs = code.jvm.load();
  ASSERT_TRUE(structs);
  const auto cache = CodeCache::find(code.jvm.image, *structs);
  ASSERT_TRUE(cache);
  code.jvm.image.put<uint8_t>(code.segmap + 2, 200);  // leads out of the heap
  EXPECT_EQ(cache->code_at(code.memory + 2 * 128).kind, CodeKind::kStub);
  code.jvm.image.put<uint32_t>(code.memory, 0);  // a block without a length
  EXPECT_EQ(cache->highest_compile_id(), 0);
}

}  // namespace
}  // namespace tarsier::hotspot
