#include "serve/server.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace tarsier::serve {
namespace {

constexpr int kBacklog = 1024;
constexpr timeval kSweepPause = {0, 500'000};

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* thing) const {
    free(thing);
  }
};

Result<unique_fd> loopback_socket(uint16_t port) {
  unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return errno_error("socket", errno);
  const int on = 1;
  // Else a port that is asked for by number is taken for a minute after one of us has used it.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    const std::string where = port == 0 ? "a port of 127.0.0.1" : "port " + std::to_string(port) + " of 127.0.0.1";
    return errno_error("can't listen on " + where, errno);
  }
  return fd;
}

Result<uint16_t> port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return errno_error("getsockname", errno);
  return ntohs(address.sin_port);
}

const char* method_name(evhttp_cmd_type type) {
  switch (type) {
    case EVHTTP_REQ_GET:
      return "GET";
    case EVHTTP_REQ_HEAD:
      return "HEAD";
    default:
      return "";
  }
}

Request request_of(evhttp_request* from) {
  Request request;
  request.method = method_name(evhttp_request_get_command(from));
  if (const char* const target = evhttp_request_get_uri(from); target != nullptr) request.target = target;
  const evkeyvalq* const headers = evhttp_request_get_input_headers(from);
  for (const evkeyval* header = headers->tqh_first; header != nullptr; header = header->next.tqe_next) {
    request.headers.emplace_back(header->key, header->value);
  }
  return request;
}

// The bytes are sent from where they lie: the buffer shares them until they are gone.
void add_shared(evbuffer* to, const SharedBytes& bytes) {
  auto held = std::make_unique<SharedBytes>(bytes);
  const auto drop = [](const void*, size_t, void* holder) { delete static_cast<SharedBytes*>(holder); };
  if (evbuffer_add_reference(to, bytes->data(), bytes->size(), drop, held.get()) == 0)
    static_cast<void>(held.release());
}

void send(evhttp_request* to, const Response& response) {
  evkeyvalq* const headers = evhttp_request_get_output_headers(to);
  for (const auto& [name, value] : response.headers) evhttp_add_header(headers, name.c_str(), value.c_str());
  evhttp_add_header(headers, "Content-Length", std::to_string(response.body->size()).c_str());
  evhttp_add_header(headers, "Connection", "close");
  if (response.body_asked && !response.body->empty()) {
    add_shared(evhttp_request_get_output_buffer(to), response.body);
  }
  evhttp_send_reply(to, response.code, nullptr, nullptr);
}

class EventServer final : public Server {
 public:
  explicit EventServer(const ServerLimits& limits) : limits_(limits) {}
  ~EventServer() override {
    http_.reset();  // closes the connections, of which we hold the buffers
    for (const auto& [connection, life] : lives_) bufferevent_decref(connection);
  }

  Status open(uint16_t port) {
    auto fd = loopback_socket(port);
    if (!fd) return std::move(fd).error();
    const auto chosen = port_of(fd->get());
    if (!chosen) return chosen.error();
    port_ = *chosen;

    base_.reset(event_base_new());
    http_.reset(base_ ? evhttp_new(base_.get()) : nullptr);
    sweeper_.reset(base_ ? event_new(base_.get(), -1, EV_PERSIST, &EventServer::on_sweep, this) : nullptr);
    if (!http_ || !sweeper_ || event_add(sweeper_.get(), &kSweepPause) != 0)
      return Error{Errc::kFailed, "no memory for the server"};
    // Whom the guard refuses with a clear answer. Not CONNECT, whose connections libevent would leave open.
    evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_PUT |
                                                EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |
                                                EVHTTP_REQ_PATCH);
    evhttp_set_max_headers_size(http_.get(), static_cast<ev_ssize_t>(limits_.request_bytes));
    evhttp_set_max_body_size(http_.get(), 0);
    evhttp_set_default_content_type(http_.get(), nullptr);
    evhttp_set_gencb(http_.get(), &EventServer::on_request, this);
    evhttp_set_bevcb(http_.get(), &EventServer::on_connection, this);

    listener_ =
        evconnlistener_new(base_.get(), nullptr, nullptr, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd->get());
    if (listener_ == nullptr) return Error{Errc::kFailed, "no memory for the server"};
    static_cast<void>(fd->release());
    evconnlistener_set_error_cb(listener_, &EventServer::on_accept_error);
    if (evhttp_bind_listener(http_.get(), listener_) == nullptr) {
      evconnlistener_free(listener_);
      return Error{Errc::kFailed, "no memory for the server"};
    }
    return {};
  }

  [[nodiscard]] uint16_t port() const override { return port_; }

  Status run(const std::function<Response(const Request&)>& answer, int fd,
             const std::function<bool()>& go_on) override {
    answer_ = answer;
    go_on_ = go_on;
    const std::unique_ptr<event, Freed<event_free>> asked(
        event_new(base_.get(), fd, EV_READ | EV_PERSIST, &EventServer::on_readable, this));
    if (!asked || event_add(asked.get(), nullptr) != 0)
      return Error{Errc::kFailed, "the server can't watch for its end"};
    if (event_base_dispatch(base_.get()) < 0) return Error{Errc::kFailed, "the server failed"};
    return {};
  }

 private:
  struct Life {
    Nanos began;
    bool asked = false;
  };

  static EventServer& self(void* server) { return *static_cast<EventServer*>(server); }

  static void on_readable(evutil_socket_t, short, void* server) {
    if (!self(server).go_on_()) event_base_loopbreak(self(server).base_.get());
  }

  // We hold a reference to each connection's buffer: by that we see when libevent has let go of it.
  static bufferevent* on_connection(event_base* base, void* server) {
    EventServer& us = self(server);
    bufferevent* const connection = bufferevent_socket_new(base, -1, 0);
    if (connection == nullptr) return nullptr;
    bufferevent_incref(connection);
    us.lives_[connection].began = monotonic_now();
    if (us.lives_.size() >= us.limits_.connections) us.sweep();
    return connection;
  }

  // No descriptors left, as it seems. Those that wait are still there when the next sweep looks again.
  static void on_accept_error(evconnlistener* listener, void* /*of evhttp*/) { evconnlistener_disable(listener); }

  static void on_request(evhttp_request* request, void* server) {
    EventServer& us = self(server);
    bufferevent* const connection = evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
    if (const auto life = us.lives_.find(connection); life != us.lives_.end()) life->second.asked = true;
    send(request, us.answer_(request_of(request)));
  }

  static void on_sweep(evutil_socket_t, short, void* server) { self(server).sweep(); }

  // Forgets connections that are gone, ends those that are too old, and listens if there is room for more.
  void sweep() {
    const Nanos now = monotonic_now();
    for (auto life = lives_.begin(); life != lives_.end();) {
      bufferevent* const connection = life->first;
      if (bufferevent_decref(connection) != 0) {  // ours was the last
        life = lives_.erase(life);
        continue;
      }
      bufferevent_incref(connection);
      const Nanos age = now - life->second.began;
      if (age > (life->second.asked ? limits_.response : limits_.request)) {
        bufferevent_trigger_event(connection, BEV_EVENT_TIMEOUT | BEV_EVENT_READING, 0);
      }
      ++life;
    }
    if (lives_.size() < limits_.connections) {
      evconnlistener_enable(listener_);
    } else {
      evconnlistener_disable(listener_);
    }
  }

  const ServerLimits limits_;
  uint16_t port_ = 0;
  std::unique_ptr<event_base, Freed<event_base_free>> base_;
  std::unique_ptr<event, Freed<event_free>> sweeper_;
  std::unique_ptr<evhttp, Freed<evhttp_free>> http_;
  evconnlistener* listener_ = nullptr;  // of http_
  std::unordered_map<bufferevent*, Life> lives_;
  std::function<Response(const Request&)> answer_;
  std::function<bool()> go_on_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(uint16_t port, const ServerLimits& limits) {
  auto server = std::make_unique<EventServer>(limits);
  if (Status opened = server->open(port); !opened) return std::move(opened).error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace tarsier::serve
