// Whether the operator lives and is ready, and its metrics, by HTTP.
#pragma once

#include <functional>
#include <memory>
#include <string>

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
    std::function<std::string()> metrics;  ///< in Prometheus' text format
  };

  /// Throws InputError if it cannot listen there.
  explicit HealthServer(Options options);
  ~HealthServer();
  HealthServer(const HealthServer&) = delete;
  HealthServer& operator=(const HealthServer&) = delete;

  /// "http://127.0.0.1:8080"
  const std::string& url() const { return url_; }

 private:
  struct Server;
  const Options options_;
  std::string url_;
  std::unique_ptr<Server> server_;
};

}  // namespace podere::controller
