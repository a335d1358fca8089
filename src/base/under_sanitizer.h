// For tests only: under a sanitizer signals are delayed and code runs several times slower, so nothing that depends on
// the moment of a signal can be expected. g++ and clang tell it in different ways.
#pragma once

namespace tarsier {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kUnderSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
constexpr bool kUnderSanitizer = true;
#else
constexpr bool kUnderSanitizer = false;
#endif
#else
constexpr bool kUnderSanitizer = false;
#endif

}  // namespace tarsier
