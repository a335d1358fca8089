# Writes PAGE as a C++ source file SOURCE that defines page_template().
file(READ ${PAGE} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${SOURCE} "#include \"export/page_template.h\"

namespace tarsier::exporting {

static constexpr unsigned char kPage[] = {${bytes}};

std::string_view page_template() { return {reinterpret_cast<const char*>(kPage), sizeof(kPage)}; }

}  // namespace tarsier::exporting
")
