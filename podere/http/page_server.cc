#include "podere/http/page_server.h"

#include <map>
#include <utility>

#include "podere/base/json.h"
#include "podere/base/secret.h"
#include "podere/base/sha256.h"

namespace podere::http {
namespace {

constexpr int kPagePorts = 50;  // tried, before any that is free

std::string value_of(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? "" : found->second;
}

}  // namespace

Answer failure(int status, const std::string& message) {
  return {.status = status, .body = to_text({{"error", message}}) + "\n", .type = kJsonType};
}

Answer tagged(const Request& request, Answer answer) {
  const std::string tag = '"' + sha256_of(answer.body).substr(0, 32) + '"';
  answer.headers.emplace_back("ETag", tag);
  if (request.if_none_match == tag) {
    answer.status = 304;
    answer.body.clear();
  }
  return answer;
}

PageServer::PageServer(Options options, Server::Handler api)
    : options_(std::move(options)),
      api_(std::move(api)),
      token_(random_token()),
      id_(random_token().substr(0, 16)),
      server_({.address = options_.address, .n_ports = kPagePorts, .n_threads = options_.n_threads},
              [this](const Request& request) { return answer(request); }) {}

bool PageServer::has_moved() const {
  return !options_.address.ends_with(":0") && !options_.address.ends_with(':' + std::to_string(server_.port()));
}

bool PageServer::gives_token(const Request& request) const {
  return is_same_secret(value_of(request.query, "token"), token_) || is_same_secret(request.bearer, token_);
}

bool PageServer::is_from_page(const Request& request) const {
  return gives_token(request) || request.fetch_site == "same-origin";
}

Answer PageServer::answer(const Request& request) const {
  const bool has_cookie = is_same_secret(value_of(request.cookies, cookie_name()), token_);
  if (!has_cookie && !gives_token(request)) return failure(403, options_.refusal);
  if (request.path != "/") return api_(request);
  if (request.query.contains("token")) {  // which is not to stay in the browser's history
    // Relative, and for the folder of this address: the page may be behind a proxy.
    return {.status = 302,
            .headers = {{"Location", "./"}, {"Set-Cookie", cookie_name() + "=" + token_ + "; HttpOnly; SameSite=Lax"}}};
  }
  return tagged(request, {.body = options_.html,
                          .type = "text/html; charset=utf-8",
                          .headers = {{"Content-Security-Policy", "frame-ancestors 'none'"}}});
}

}  // namespace podere::http
