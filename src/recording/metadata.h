// The metadata event: describes to any reader the types of our files, made from the table of events.
#pragma once

#include <cstdint>
#include <vector>

namespace tarsier::recording {

// The event's content after its metadata id: pool of strings, then the tree of types. The same in every chunk.
std::vector<uint8_t> encode_metadata();

}  // namespace tarsier::recording
