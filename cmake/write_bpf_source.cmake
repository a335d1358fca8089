# Writes OBJECT as a C++ source file SOURCE that defines FUNCTION, which HEADER declares in tarsier::linux.
set(bytes "")
if(PRESENT)
  file(READ ${OBJECT} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
endif()
if(bytes)
  set(data "static constexpr unsigned char kObject[] = {${bytes}};\n\n")
  set(answer "kObject")
else()
  set(answer "")
endif()
file(WRITE ${SOURCE} "#include \"${HEADER}\"

namespace tarsier::linux {

${data}std::span<const uint8_t> ${FUNCTION}() noexcept { return {${answer}}; }

}  // namespace tarsier::linux
")
