#include "linux/readable_name.h"

#include <setjmp.h>

#include <algorithm>
#include <array>
#include <cstddef>

// Of libstdc++, and older than __cxa_demangle: takes no memory, and hands out the text piece by piece.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled, void (*callback)(const char*, size_t, void*),
                                             void* opaque);

namespace tarsier::linux {
namespace {

constexpr size_t kLongest = 512;
// The longer the name, the deeper the stack that is needed to read it.
constexpr size_t kLongestMangled = 512;

// A few characters can stand for a text of any size: whoever has seen enough of it jumps out. Nothing is held by the
// functions that are left so: they are C, and keep all they have on the stack.
struct Output {
  std::array<char, 4096> text;
  size_t size = 0;
  jmp_buf enough;
};

void append(const char* text, size_t size, void* opaque) {
  auto& output = *static_cast<Output*>(opaque);
  const size_t fits = std::min(size, output.text.size() - output.size);
  std::copy_n(text, fits, output.text.begin() + static_cast<ptrdiff_t>(output.size));
  output.size += fits;
  if (output.size == output.text.size()) ::longjmp(output.enough, 1);
}

bool demangle(const char* mangled, Output& output) {
  // Text that was cut is as good: what it is about comes first.
  if (::setjmp(output.enough) != 0) return true;
  return __gcclibcxx_demangle_callback(mangled, append, &output) == 0;
}

// "void Foo<(Kind)1>::bar<int>(int) const" -> "Foo<(Kind)1>::bar<int>"
std::string_view without_arguments(std::string_view text) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)", kOperator = "operator";
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with(kOperator) && depth == 0 && (i == 0 || text[i - 1] == ':' || text[i - 1] == ' ')) {
      // Operators have brackets in their names: the arguments begin at the first one behind "operator()" and its like.
      const size_t arguments = text.find('(', i + kOperator.size() + 1);
      return text.substr(begin, arguments == std::string_view::npos ? arguments : arguments - begin);
    }
    if (rest.starts_with(kUnnamed)) {
      i += kUnnamed.size() - 1;
    } else if (text[i] == '<' || text[i] == '{') {
      ++depth;
    } else if (text[i] == '>' || text[i] == '}') {
      depth -= depth > 0 ? 1 : 0;
    } else if (depth == 0 && text[i] == ' ') {
      begin = i + 1;  // the result came first
    } else if (depth == 0 && text[i] == '(') {
      return text.substr(begin, i - begin);
    }
  }
  return text.substr(begin);
}

std::string cut(std::string_view text) {
  return std::string(text.substr(0, kLongest));
}

}  // namespace

std::string readable_name(std::string_view name) {
  if (!name.starts_with("_Z") || name.size() > kLongestMangled) return cut(name);
  const std::string mangled(name);
  Output output;
  if (!demangle(mangled.c_str(), output)) return cut(name);
  const std::string_view plain = without_arguments({output.text.data(), output.size});
  return plain.empty() ? cut(name) : cut(plain);
}

}  // namespace tarsier::linux
