// Who may ask. Any page that is open in the browser can send requests to this machine, and a name of an attacker may
// be made to mean 127.0.0.1 (DNS rebinding): so a request has to name us as we are, come from our own page, and know
// the token. docs/page.md, "The server".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "serve/request.h"

namespace tarsier::serve {

struct Identity {
  uint16_t port = 0;
  std::string token;

  [[nodiscard]] std::string address() const;  // http://127.0.0.1:PORT/TOKEN/
};

struct Refusal {
  int code;
  std::string why;  // never anything of the request
};

// What is asked for below the token is not its matter: see routes.h.
std::optional<Refusal> refuse(const Request& request, const Identity& identity);

// Of the target of a request that was not refused: what follows /TOKEN. Nothing if the token is not ours.
std::optional<std::string_view> behind_token(std::string_view target, const Identity& identity);

}  // namespace tarsier::serve
