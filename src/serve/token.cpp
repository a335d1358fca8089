#include "serve/token.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace tarsier::serve {

Result<std::string> random_token() {
  std::array<uint8_t, 16> bytes{};
  // So few bytes come whole, or not at all.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return errno_error("no random bytes for the address", errno);
  }
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string token;
  for (const uint8_t byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

bool same_token(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  unsigned different = 0;
  for (size_t i = 0; i < token.size(); ++i) {
    // Volatile: no compiler may end the loop at the first difference.
    const volatile auto bits = static_cast<unsigned>(static_cast<uint8_t>(given[i]) ^ static_cast<uint8_t>(token[i]));
    different |= bits;
  }
  return different == 0;
}

}  // namespace tarsier::serve
