#include "export/html.h"

#include <cstdint>
#include <sstream>
#include <string_view>

#include "export/gzip.h"
#include "export/page_template.h"

namespace tarsier::exporting {
namespace {

// Where ui/src/page.html wants the data.
constexpr std::string_view kMarker = "<!--tarsier:data-->";

void write_base64(std::string_view bytes, std::ostream& out) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    const auto byte = [&](size_t k) -> uint32_t { return k < left ? static_cast<uint8_t>(bytes[i + k]) : 0; };
    const uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    text += kDigits[group >> 18];
    text += kDigits[group >> 12 & 63];
    text += left > 1 ? kDigits[group >> 6 & 63] : '=';
    text += left > 2 ? kDigits[group & 63] : '=';
  }
  out << text;
}

// A script of a type that browsers do not run: plain data.
void write_block(std::string_view id, std::string_view bytes, std::ostream& out) {
  out << "<script type=\"application/octet-stream\" id=\"" << id << "\">";
  write_base64(bytes, out);
  out << "</script>\n";
}

Result<std::string> packed(const PagePart& part) {
  std::ostringstream bytes;
  GzipStream gzip(bytes);
  gzip.write(part.bytes);
  if (!gzip.finish()) return Error{Errc::kFailed, "html: no memory for compressing"};
  return std::move(bytes).str();
}

Status write_page(const std::vector<PagePart>& parts, std::ostream& out) {
  const std::string_view page = page_template();
  const size_t marker = page.find(kMarker);
  if (marker == std::string_view::npos) return Error{Errc::kFailed, "html: the embedded page has no place for data"};

  out << page.substr(0, marker);
  for (const PagePart& part : parts) {
    const auto bytes = packed(part);
    if (!bytes) return bytes.error();
    write_block("tarsier-part-" + part.name, *bytes, out);
  }
  out << page.substr(marker + kMarker.size());
  out.flush();
  if (!out) return Error{Errc::kFailed, "html: writing failed; is the disk full?"};
  return {};
}

}  // namespace

Status export_html(const analysis::Model& model, const std::string& title, std::ostream& out, const PageParts& parts) {
  auto made = parts.make(model, title);
  return made ? write_page(*made, out) : Status(std::move(made).error().in("html"));
}

Status export_html_against(const analysis::Model& model, const analysis::Model& before, analysis::Per per,
                           const std::string& title, std::ostream& out) {
  const auto made = PageParts::make_against(model, before, per, title);
  return made ? write_page(*made, out) : Status(made.error());
}

}  // namespace tarsier::exporting
