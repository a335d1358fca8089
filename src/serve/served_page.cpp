#include "serve/served_page.h"

#include <memory>

namespace tarsier::serve {
namespace {

// As ui/src/page.html has them.
constexpr std::string_view kPolicyBegin = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
constexpr std::string_view kToNobody = "connect-src 'none'", kToUs = "connect-src 'self'";
constexpr std::string_view kDataMarker = "<!--tarsier:data-->";
// By this the page knows that there is a server. A type that browsers do not run.
constexpr std::string_view kServed = "<script type=\"application/json\" id=\"tarsier-server\">{}</script>\n";

}  // namespace

Result<ServedPage> ServedPage::of(std::string_view page) {
  const size_t meta = page.find(kPolicyBegin);
  const size_t policy = meta + kPolicyBegin.size();
  const size_t end = meta == std::string_view::npos ? meta : page.find('"', policy);
  const size_t data = page.find(kDataMarker);
  if (end == std::string_view::npos || data == std::string_view::npos || data < end) {
    return Error{Errc::kFailed, "the embedded page has no place for its policy or for data"};
  }
  std::string allowed(page.substr(policy, end - policy));
  const size_t connect = allowed.find(kToNobody);
  if (connect == std::string::npos) return Error{Errc::kFailed, "the embedded page does not say to whom it may talk"};
  allowed.replace(connect, kToNobody.size(), kToUs);
  std::string html(page.substr(0, policy));
  html.append(allowed)
      .append(page.substr(end, data - end))
      .append(kServed)
      .append(page.substr(data + kDataMarker.size()));

  ServedPage served;
  served.policy = allowed + "; frame-ancestors 'none'";  // of which only the header may speak
  served.html.gzip = compressed(html);
  served.html.plain = std::make_shared<const std::string>(std::move(html));
  return served;
}

}  // namespace tarsier::serve
