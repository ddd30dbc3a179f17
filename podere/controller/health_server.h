// Whether the operator lives and is ready, and its metrics, by HTTP.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "podere/http/metrics.h"
#include "podere/http/server.h"

namespace podere::controller {

/// Answers GET /livez, /readyz and /metrics on threads of its own, two at a time. Nothing of it asks the API server:
/// who cannot reach that is alive.
class HealthServer {
 public:
  struct Options {
    std::string address;  ///< "127.0.0.1:8080"; port 0: any that is free
    /// What is wrong; empty: nothing. Called on the server's threads, as what follows.
    std::function<std::string()> fault_of_life;
    std::function<std::string()> fault_of_readiness;
    std::function<std::vector<prometheus::MetricFamily>()> metrics;
  };

  /// Throws InputError if it cannot listen there.
  explicit HealthServer(Options options);

  /// "http://127.0.0.1:8080"
  const std::string& url() const { return server_.url(); }

 private:
  http::Answer answer(const http::Request& request) const;

  const Options options_;
  const http::Server server_;
};

}  // namespace podere::controller
