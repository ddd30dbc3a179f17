#include "podere/kube/api_error.h"

#include <fmt/format.h>

#include "podere/base/printable.h"

namespace podere::kube {
namespace {

constexpr std::size_t kMaxMessageBytes = 600;

std::string first_cause(const Json& status) {
  const auto details = status.find("details");
  if (details == status.end() || !details->is_object()) return "";
  const auto causes = details->find("causes");
  if (causes == details->end() || !causes->is_array() || causes->empty()) return "";
  return std::string(text_at(causes->front(), {"reason"}));
}

/// Status.details.retryAfterSeconds
std::optional<double> retry_after(const Json& status) {
  const auto details = status.find("details");
  if (details == status.end() || !details->is_object()) return std::nullopt;
  const auto seconds = details->find("retryAfterSeconds");
  if (seconds == details->end() || !seconds->is_number() || seconds->get<double>() <= 0) return std::nullopt;
  return seconds->get<double>();
}

ApiError from_status(const std::string& asked, int code, const Json& status, std::optional<double> retry_after_seconds,
                     const std::string& advice) {
  const std::string reason(text_at(status, {"reason"}));
  const std::string message = printable_line(text_at(status, {"message"}), kMaxMessageBytes);
  return {fmt::format("{}: {}{} (HTTP status {}{}{})", asked, message.empty() ? "refused" : message, advice, code,
                      reason.empty() ? "" : ", ", printable_line(reason, 60)),
          code, reason, retry_after_seconds, first_cause(status)};
}

}  // namespace

ApiError api_error(const std::string& asked, int http_status, std::string_view body,
                   std::optional<double> retry_after_seconds, const std::string& advice) {
  Json status = Json::object();
  try {
    status = parse_object(body);
  } catch (const Error&) {
    status["message"] = body.substr(0, body.find_first_of("\r\n"));  // of a proxy, or of a handler without Status
  }
  if (!retry_after_seconds) retry_after_seconds = retry_after(status);
  return from_status(asked, http_status, status, retry_after_seconds, advice);
}

ApiError api_error(const std::string& asked, const Json& status) {
  const auto code = status.find("code");
  const bool has_code = code != status.end() && code->is_number_integer();
  return from_status(asked, has_code ? code->get<int>() : 500, status, retry_after(status), "");
}

}  // namespace podere::kube
