// A page and what it asks for, for browsers that know a token.
#pragma once

#include <memory>
#include <string>

#include "podere/http/server.h"

namespace podere::http {

inline constexpr const char* kJsonType = "application/json; charset=utf-8";

/// {"error": message}
Answer failure(int status, const std::string& message);

/// `answer` with a tag: a browser that has it already gets it no second time.
Answer tagged(const Request& request, Answer answer);

/// Serves "/" and its API. Without the token, as part of the link, as bearer or as cookie, every answer is 403.
class PageServer {
 public:
  struct Options {
    std::string address;  ///< as Server's; if the port is in use, the next one that is free
    std::string html;     ///< the page
    std::string refusal;  ///< what 403 says: how to get the link
    int n_threads = 1;    ///< that call `api`, as Server's
  };

  /// `api` answers what is not "/". Throws InputError if it cannot listen there.
  PageServer(Options options, Server::Handler api);

  /// Of this server: another one has another.
  const std::string& id() const { return id_; }
  /// "http://127.0.0.1:8650/?token=..."
  std::string link() const { return server_.url() + "/?token=" + token_; }
  /// Whether the page itself asks, or a program that gives the token: for what has effects. Browsers send the cookie
  /// also for pages of other ports of this machine. They say which page asks (Sec-Fetch-Site) by https and on this
  /// machine.
  bool is_from_page(const Request& request) const;
  /// Whether another port than that of the address was taken.
  bool has_moved() const;

 private:
  Answer answer(const Request& request) const;
  bool gives_token(const Request& request) const;
  std::string cookie_name() const { return "podere-" + id_; }

  const Options options_;
  const Server::Handler api_;
  const std::string token_;
  const std::string id_;
  Server server_;  // goes first: its threads call answer()
};

}  // namespace podere::http
