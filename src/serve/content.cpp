#include "serve/content.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "export/gzip.h"

namespace tarsier::serve {

SharedBytes compressed(const std::string& bytes) {
  constexpr size_t kWorthIt = 1024;
  if (bytes.size() < kWorthIt) return nullptr;
  std::ostringstream out;
  exporting::GzipStream gzip(out);
  gzip.write(bytes);
  if (!gzip.finish()) return nullptr;
  return std::make_shared<const std::string>(std::move(out).str());
}

Content::Now Content::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

void Content::reading(double done) {
  const std::lock_guard lock(mutex_);
  now_.progress = {Progress::State::kReading, std::clamp(done, 0.0, 1.0), {}};
}

void Content::put(std::vector<exporting::PagePart> parts, Progress progress) {
  auto fresh = std::make_shared<Parts>();
  for (exporting::PagePart& part : parts) {
    fresh->by_name[part.name].plain = std::make_shared<const std::string>(std::move(part.bytes));
  }
  const std::lock_guard lock(mutex_);
  fresh->number = now_.parts->number + 1;
  now_ = {std::move(progress), std::move(fresh)};
}

void Content::renew(std::vector<exporting::PagePart> parts, double done) {
  put(std::move(parts), {Progress::State::kReading, std::clamp(done, 0.0, 1.0), {}});
}

void Content::ready(std::vector<exporting::PagePart> parts) {
  put(std::move(parts), {Progress::State::kReady, 1, {}});
}

void Content::fail(std::string message) {
  const std::lock_guard lock(mutex_);
  now_.progress = {Progress::State::kFailed, 0, std::move(message)};
}

void Content::compress() {
  auto both = std::make_shared<Parts>(*now().parts);
  for (auto& [name, part] : both->by_name) part.gzip = compressed(*part.plain);
  const std::lock_guard lock(mutex_);
  if (now_.parts->number == both->number) now_.parts = std::move(both);
}

}  // namespace tarsier::serve
