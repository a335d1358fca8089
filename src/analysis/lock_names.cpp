#include "analysis/lock_names.h"

#include <string_view>

namespace tarsier::analysis {

std::string short_lock_name(std::string name) {
  for (const std::string_view inside : {"$NonfairSync@", "$FairSync@", "$Sync@"}) {
    if (const size_t at = name.rfind(inside); at != std::string::npos) name.erase(at, inside.size() - 1);
  }
  const size_t package = name.rfind('.', name.rfind('@'));
  return package == std::string::npos ? name : name.substr(package + 1);
}

}  // namespace tarsier::analysis
