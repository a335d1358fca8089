// What has to be known of a JVM to find the frames of its virtual threads.
#pragma once

#include <optional>

#include "base/memory.h"
#include "base/result.h"
#include "hotspot/sigsafe/virtual_thread.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

// Offsets of fields of Java classes, which only JNI tells.
struct JavaFields {
  uint64_t thread_id = 0, thread_name = 0;
  uint64_t virtual_thread_continuation = 0;
  uint64_t continuation_tail = 0;
  uint64_t chunk_parent = 0, chunk_size = 0, chunk_sp = 0, chunk_bottom = 0;
  bool chunk_bottom_is_argument_size = false;
  uint64_t chunk_words = 0;
  uint64_t string_value = 0, string_coder = 0;
};

// `entries_known`: find_continuation_entries() has found them.
Result<VirtualThreadLayout> find_virtual_threads(const Memory& memory, const VmStructs& structs, int major,
                                                 const JavaFields& fields, bool entries_known);

// Klass* of the class whose mirror a JNI reference leads to; 0 if that can't be told. The mirror may be moved
// meanwhile.
Address klass_of(const Memory& memory, const VmStructs& structs, Address reference);
// The size of an object of this class without what is special about it.
std::optional<uint64_t> instance_size(const Memory& memory, const VmStructs& structs, Address klass);

}  // namespace tarsier::hotspot
