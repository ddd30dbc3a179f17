// One connection to an API server.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "podere/base/curl.h"
#include "podere/kube/access.h"

namespace podere::kube {

struct HttpRequest {
  std::string method = "GET";
  std::string target;             ///< path and query
  std::string content_type = {};  ///< of the body
  std::string body = {};
  double timeout_seconds = 30;  ///< for all of it; 0: none
  double silence_seconds = 0;   ///< longest time without a byte of the answer; 0: any
};

/// What is known when the first byte of the body comes.
struct HttpHead {
  int status = 0;
  std::optional<double> retry_after_seconds;
  std::string content_type;
};

/// Asks over a connection that stays, with TLS as the access says. For one thread at a time.
class HttpConnection {
 public:
  HttpConnection(const Access& access, const std::string& user_agent);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Passes each piece of the answer's body to `take`, as it comes. Returns when the answer has ended. Throws
  /// ConnectionError if there is none or it is cut (SilenceError if it stays out), Interrupted as soon as `stop` is
  /// requested, what `take` throws, and InputError where a certificate, the server's name or the like cannot be right.
  HttpHead perform(const HttpRequest& request, const Credentials& credentials,
                   const std::function<void(const HttpHead& head, std::string_view bytes)>& take,
                   const std::stop_token& stop);

 private:
  struct Transfer;
  void prepare(const HttpRequest& request, const Credentials& credentials);
  void run(Transfer& transfer, const HttpRequest& request, const std::stop_token& stop);
  [[noreturn]] void fail(const HttpRequest& request, CURLcode code);

  const Access access_;
  const std::string user_agent_;
  std::string url_;  // of the server, with the name that TLS expects
  Credentials presented_;
  std::string connect_to_;
  std::unique_ptr<CURLM, void (*)(CURLM*)> multi_;
  CurlHandle handle_;  // goes before multi_
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> connect_to_list_;
};

}  // namespace podere::kube
