#include "podere/controller/health_server.h"

#include <utility>

namespace podere::controller {
namespace {

http::Answer health(const std::string& fault) {
  if (fault.empty()) return {.body = "ok\n"};
  return {.status = 503, .body = fault + "\n"};
}

}  // namespace

HealthServer::HealthServer(Options options)
    : options_(std::move(options)),
      server_({.address = options_.address}, [this](const http::Request& request) { return answer(request.path); }) {}

http::Answer HealthServer::answer(const std::string& path) const {
  if (path == "/livez") return health(options_.fault_of_life());
  if (path == "/readyz") return health(options_.fault_of_readiness());
  if (path == "/metrics") return {.body = options_.metrics(), .type = "text/plain; version=0.0.4; charset=utf-8"};
  return {.status = 404, .body = "there are /livez, /readyz and /metrics\n"};
}

}  // namespace podere::controller
