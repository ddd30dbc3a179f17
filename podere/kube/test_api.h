// What tests need of an API server that answers as scripted.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "podere/base/http_test_server.h"
#include "podere/kube/access.h"
#include "podere/kube/object.h"

namespace podere::kube {

inline Access access_to(const HttpTestServer& server, Credentials credentials = {.token = "secret"}) {
  return {.server = server.url("").substr(0, server.url("").size() - 1),
          .origin = "context 'test' of a test",
          .credentials = make_credentials(std::move(credentials))};
}

inline std::string json_answer(const Json& body, std::string_view status = "200 OK", std::string_view headers = "") {
  const std::string text = body.dump();
  return fmt::format("HTTP/1.1 {}\r\nContent-Type: application/json\r\n{}Content-Length: {}\r\n\r\n{}", status, headers,
                     text.size(), text);
}

inline Json status_object(int code, const std::string& reason, const std::string& message) {
  return {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"}, {"metadata", Json::object()},
          {"code", code},     {"reason", reason},   {"message", message}};
}

inline std::string error_answer(int code, const std::string& reason, const std::string& message = "no",
                                std::string_view headers = "") {
  return json_answer(status_object(code, reason, message), fmt::format("{} {}", code, reason), headers);
}

/// "GET /api/v1/pods?limit=1"
inline std::string request_line(const std::string& request) {
  const auto end = request.find(" HTTP/");
  return request.substr(0, end);
}

inline std::string body_of(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }

inline Json pod_object(const std::string& name, const std::string& version) {
  return {{"metadata", {{"namespace", "astro"}, {"name", name}, {"uid", "uid-" + name}, {"resourceVersion", version}}}};
}

inline Json pod_list(const Json& items, const std::string& version, const std::string& next_page = "") {
  Json list{{"kind", "PodList"}, {"apiVersion", "v1"}, {"metadata", {{"resourceVersion", version}}}, {"items", items}};
  if (!next_page.empty()) list["metadata"]["continue"] = next_page;
  return list;
}

inline constexpr std::string_view kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
inline constexpr std::string_view kStreamEnd = "0\r\n\r\n";

inline std::string chunk(std::string_view bytes) { return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes); }

inline std::string event_line(const std::string& type, const Json& object) {
  return Json{{"type", type}, {"object", object}}.dump() + "\n";
}

inline std::string bookmark_line(const std::string& version) {
  return event_line("BOOKMARK", {{"kind", "Pod"}, {"metadata", {{"resourceVersion", version}}}});
}

}  // namespace podere::kube
