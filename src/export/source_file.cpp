#include "export/source_file.h"

#include <algorithm>
#include <string_view>

namespace tarsier::exporting {

std::string source_file_of(const analysis::Method& method) {
  std::string_view name = method.name;
  const size_t dot = name.rfind('.');
  if (method.descriptor.empty() || dot == std::string_view::npos) return {};
  name = name.substr(0, dot);
  // Hidden classes have their address behind the name: demo.Main$$Lambda.0x00007f80.
  if (const size_t address = name.rfind(".0x"); address != std::string_view::npos) name = name.substr(0, address);
  const size_t last = name.rfind('.');
  const size_t simple = last == std::string_view::npos ? 0 : last + 1;
  name = name.substr(0, name.find('$', simple + 1));  // a class may be called $Proxy12
  std::string file(name);
  std::replace(file.begin(), file.end(), '.', '/');
  return file + ".java";
}

}  // namespace tarsier::exporting
