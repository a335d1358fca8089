// Where the threads of a JVM's thread dump begin.
//
// A thread's name may contain line ends, quotes and whole headers. What it can't contain is the address of its own
// JavaThread: from 11 on a dump begins with the list of these, and a header is where one of them stands.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "dump/thread_dump.h"

namespace tarsier::dump {

// "NAME" #21 [21029] daemon prio=5 os_prio=0 cpu=4.75ms elapsed=0.12s tid=0x0000ffffb40decd0 nid=21029 runnable  [0x..]
struct Header {
  size_t name_end = 0;  // the quote behind the name
  size_t end = 0;       // of its line
};

struct Headers {
  std::vector<Header> found;  // of Java threads, in the order of the text
  size_t missing = 0;         // announced, and not found
};
Headers find_headers(std::string_view text);

// What stands behind the name.
void parse_attributes(std::string_view attributes, Thread& thread);

}  // namespace tarsier::dump
