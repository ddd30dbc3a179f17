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
      server_({.address = options_.address, .n_threads = 2},
              [this](const http::Request& request) { return answer(request); }) {}

http::Answer HealthServer::answer(const http::Request& request) const {
  if (request.path == "/livez") return health(options_.fault_of_life());
  if (request.path == "/readyz") return health(options_.fault_of_readiness());
  if (request.path == "/metrics") return http::metrics_answer(options_.metrics(), request);
  return {.status = 404, .body = "there are /livez, /readyz and /metrics\n"};
}

}  // namespace podere::controller
