#include "analysis/stable_name.h"

#include <algorithm>

namespace tarsier::analysis {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A class whose name ends with this and then such characters was generated; those characters differ between runs.
struct NumberedName {
  std::string_view before;
  bool (*varies)(char);
  bool whole_name = false;  // the name without its package begins with it
};
constexpr NumberedName kNumbered[] = {
    {"$$Lambda$", is_digit},  // before 21; later ones have an address only
    {"LambdaForm$MH", is_digit},
    {"LambdaForm$DMH", is_digit},
    {"LambdaForm$BMH", is_digit},
    {"$Proxy", is_digit, true},
    {"GeneratedMethodAccessor", is_digit, true},
    {"GeneratedConstructorAccessor", is_digit, true},
    {"GeneratedSerializationConstructorAccessor", is_digit, true},
    {"CGLIB$$", is_hex},
    {"$ByteBuddy$", is_alphanumeric},
    {"$HibernateProxy$", is_alphanumeric},
    {"$MockitoMock$", is_alphanumeric},
};

// The address of a hidden class (15 and later), or the hash of an anonymous one (before), follows its name: after a
// slash as Java says it, a dot as JVMTI does, a plus sign as JFR does.
std::string_view without_address(std::string_view klass) {
  const size_t at = klass.find_last_of("/+.");
  if (at == std::string_view::npos) return klass;
  std::string_view id = klass.substr(at + 1);
  const std::string_view before = klass.substr(0, at);
  const bool address = id.starts_with("0x");
  if (address) id.remove_prefix(2);
  if (id.empty() || !std::all_of(id.begin(), id.end(), is_hex)) return klass;
  // No identifier begins with a digit, but parts of native symbols do.
  const bool generated =
      before.find("$$Lambda") != std::string_view::npos || before.find(".LambdaForm$") != std::string_view::npos;
  return address || (generated && is_digit(id.front())) ? before : klass;
}

std::string_view without_number(std::string_view klass) {
  for (const NumberedName& rule : kNumbered) {
    const size_t at = klass.rfind(rule.before);
    if (at == std::string_view::npos || (rule.whole_name && at > 0 && klass[at - 1] != '.')) continue;
    const std::string_view number = klass.substr(at + rule.before.size());
    if (number.empty() || !std::all_of(number.begin(), number.end(), rule.varies)) continue;
    klass.remove_suffix(number.size());
    while (klass.ends_with('$')) klass.remove_suffix(1);
    return klass;
  }
  return klass;
}

// Each loader has its own package for proxies: jdk.proxy2.
std::string without_package_number(std::string_view klass) {
  constexpr std::string_view kProxies = "jdk.proxy";
  std::string result(klass);
  if (!klass.starts_with(kProxies)) return result;
  size_t end = kProxies.size();
  while (end < klass.size() && is_digit(klass[end])) ++end;
  if (end < klass.size() && klass[end] == '.') result.erase(kProxies.size(), end - kProxies.size());
  return result;
}

}  // namespace

std::string stable_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.starts_with('[')) return std::string(name);
  const std::string_view klass = without_number(without_address(name.substr(0, dot)));
  return without_package_number(klass).append(name.substr(dot));
}

}  // namespace tarsier::analysis
