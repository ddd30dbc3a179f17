// The HTTP server of all of Podere: small answers that are made from memory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podere::http {

/// What a client asks for. Its texts are the client's: they may be anything.
struct Request {
  std::string path = {};  ///< "/api/session", decoded
  std::map<std::string, std::string> query = {};
  std::map<std::string, std::string> cookies = {};
  std::string bearer = {};  ///< the token of "Authorization: Bearer ..."
  std::string accept = {};
  std::string if_none_match = {};
  std::string fetch_site = {};  ///< "same-origin": a browser says that a page of this server asks
};

struct Answer {
  int status = 200;
  std::string body = {};
  std::string type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< that there are besides
};

/// Answers GET and HEAD, and no other method, on threads of its own. Every answer forbids browsers to guess its type,
/// to keep it without asking, to show it in a frame, and to give it to pages of other origins; one without a
/// Content-Security-Policy of its own may load nothing. A client that is slow delays no other.
class Server {
 public:
  struct Options {
    std::string address;  ///< "127.0.0.1:8650", "[::1]:8650"; port 0: any that is free
    int n_ports = 1;      ///< to try if ports are in use: this one and those after it, then any that is free
    int n_threads = 1;    ///< that call the handler; 0: one for each client, for answers that take long
  };
  /// What it throws is answered as 500, without its words.
  using Handler = std::function<Answer(const Request&)>;

  /// Throws InputError if it cannot listen there.
  Server(const Options& options, Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// "http://127.0.0.1:8650"
  const std::string& url() const { return url_; }
  int port() const { return port_; }

 private:
  struct Daemon;
  const Handler handler_;
  std::string url_;
  int port_ = 0;
  std::unique_ptr<Daemon> daemon_;  // goes first: its threads call the handler
};

}  // namespace podere::http
