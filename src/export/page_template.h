// The built page of ui/, embedded into the command (cmake/embed_page.cmake writes the source file).
#pragma once

#include <string_view>

namespace tarsier::exporting {

std::string_view page_template();

}  // namespace tarsier::exporting
