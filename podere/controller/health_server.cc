#include "podere/controller/health_server.h"

#include <civetweb.h>
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "podere/base/error.h"

namespace podere::controller {
namespace {

void answer(mg_connection* connection, std::string_view status, std::string_view type, std::string_view body) {
  const std::string head = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", status, type, body.size());
  mg_write(connection, head.data(), head.size());
  mg_write(connection, body.data(), body.size());
}

int answer_health(mg_connection* connection, void* fault_of) {
  const std::string fault = (*static_cast<const std::function<std::string()>*>(fault_of))();
  answer(connection, fault.empty() ? "200 OK" : "503 Service Unavailable", "text/plain; charset=utf-8",
         fault.empty() ? "ok\n" : fault + "\n");
  return 1;
}

int answer_metrics(mg_connection* connection, void* metrics) {
  answer(connection, "200 OK", "text/plain; version=0.0.4; charset=utf-8",
         (*static_cast<const std::function<std::string()>*>(metrics))());
  return 1;
}

int refuse(mg_connection* connection, void*) {
  answer(connection, "404 Not Found", "text/plain; charset=utf-8", "there are /livez, /readyz and /metrics\n");
  return 1;
}

}  // namespace

struct HealthServer::Server {
  explicit Server(const std::string& address) {
    const std::array options = {"listening_ports",
                                address.c_str(),
                                "num_threads",
                                "2",
                                "request_timeout_ms",
                                "5000",
                                static_cast<const char*>(nullptr)};
    const mg_callbacks callbacks = {};
    context = mg_start(&callbacks, nullptr, const_cast<const char**>(options.data()));
    if (context == nullptr) {
      throw_input_error("{} cannot be listened on: it is no address of this machine, or its port is in use", address);
    }
  }
  ~Server() { mg_stop(context); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  mg_context* context = nullptr;
};

HealthServer::HealthServer(Options options)
    : options_(std::move(options)), server_(std::make_unique<Server>(options_.address)) {
  mg_context* const context = server_->context;
  const auto argument = [](const auto& function) { return const_cast<void*>(static_cast<const void*>(&function)); };
  mg_set_request_handler(context, "/livez$", answer_health, argument(options_.fault_of_life));
  mg_set_request_handler(context, "/readyz$", answer_health, argument(options_.fault_of_readiness));
  mg_set_request_handler(context, "/metrics$", answer_metrics, argument(options_.metrics));
  mg_set_request_handler(context, "/", refuse, nullptr);
  std::array<mg_server_port, 1> ports = {};
  mg_get_server_ports(context, static_cast<int>(ports.size()), ports.data());
  url_ = fmt::format("http://{}:{}", options_.address.substr(0, options_.address.rfind(':')), ports[0].port);
}

HealthServer::~HealthServer() = default;

}  // namespace podere::controller
