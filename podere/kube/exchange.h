// Requests of many threads to one API server.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "podere/base/clock.h"
#include "podere/kube/client.h"
#include "podere/kube/http_connection.h"
#include "podere/kube/token_bucket.h"

namespace podere::kube {

/// What all requests of a client have in common: connections, turns, credentials, patience, errors. Thread-safe.
class Client::Exchange {
 public:
  enum class Patience {
    kNone,
    kAsAsked,  ///< a request that shall come again later does, ClientOptions::max_retries times
  };

  Exchange(Access access, ClientOptions options);

  const Access& access() const { return access_; }
  const ClientOptions& options() const { return options_; }
  /// For messages: "GET https://host:port/path".
  std::string asked(const std::string& method, const std::string& target) const;

  /// The answer as a whole, an object. Throws as Client.
  Json ask(HttpRequest request, Patience patience = Patience::kAsAsked);
  /// Gives the answer's bytes as they come, if it is none that refuses.
  void stream(const HttpRequest& request, const std::function<void(std::string_view bytes)>& take,
              const std::stop_token& stop = {}, Patience patience = Patience::kAsAsked);
  void stop() { stop_.request_stop(); }

 private:
  /// A connection for as long as a request needs it.
  class Borrowed;
  void wait_for_turn(const std::stop_token& stop);
  [[noreturn]] void refuse(const HttpRequest& request, const HttpHead& head, const std::string& body,
                           const Credentials& credentials) const;

  const Access access_;
  const ClientOptions options_;
  const Stopwatch clock_;
  std::stop_source stop_;
  std::mutex mutex_;  // guards what follows
  TokenBucket turns_;
  std::vector<std::unique_ptr<HttpConnection>> idle_;
};

}  // namespace podere::kube
