// HTTP on the loopback interface, by libevent, in the thread that calls run(). Each connection carries one request;
// none of them can hold up the others, however slow or half its request is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "base/units.h"
#include "serve/request.h"
#include "serve/routes.h"

namespace tarsier::serve {

struct ServerLimits {
  size_t connections = 256;       // more of them wait until one ends
  Nanos request = seconds(10);    // a connection that has not said by then what it wants is closed
  Nanos response = seconds(120);  // one that has not taken its answer by then, too
  size_t request_bytes = 16 << 10;
};

class Server {
 public:
  // Port 0: the system chooses one.
  static Result<std::unique_ptr<Server>> listen(uint16_t port, const ServerLimits& limits = {});
  virtual ~Server() = default;

  [[nodiscard]] virtual uint16_t port() const = 0;
  // Answers requests. Whenever `fd` is readable `go_on` is asked; ends when that says no.
  virtual Status run(const std::function<Response(const Request&)>& answer, int fd,
                     const std::function<bool()>& go_on) = 0;
};

}  // namespace tarsier::serve
