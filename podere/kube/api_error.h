// What the API server refuses, and what does not get to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "podere/base/error.h"
#include "podere/kube/object.h"

namespace podere::kube {

/// The server's answer is an error: metav1.Status. The message is one line that says what was asked of whom.
class ApiError : public Error {
 public:
  ApiError(const std::string& message, int status, std::string reason, std::optional<double> retry_after_seconds,
           std::string cause = "")
      : Error(message),
        status_(status),
        reason_(std::move(reason)),
        retry_after_seconds_(retry_after_seconds),
        cause_(std::move(cause)) {}

  int status() const { return status_; }                 ///< of HTTP, or the code in a watch's ERROR event
  const std::string& reason() const { return reason_; }  ///< such as "AlreadyExists"; may be empty
  std::optional<double> retry_after_seconds() const { return retry_after_seconds_; }

  bool is_unauthorized() const { return status_ == 401; }
  bool is_forbidden() const { return status_ == 403; }
  bool is_not_found() const { return status_ == 404; }
  /// The object was there before create().
  bool already_exists() const { return status_ == 409 && reason_ == "AlreadyExists"; }
  /// The object has changed (or another manager has fields that apply() gives): read it again.
  bool is_conflict() const { return status_ == 409 && reason_ != "AlreadyExists"; }
  /// The resource version, or the page, is too old: list again.
  bool is_gone() const { return status_ == 410; }
  bool is_invalid() const { return status_ == 422; }
  /// The server is busy, or a PodDisruptionBudget allows no eviction now.
  bool is_too_many_requests() const { return status_ == 429; }
  bool is_from_disruption_budget() const { return status_ == 429 && cause_ == "DisruptionBudget"; }
  /// The namespace is being deleted: nothing can be created there any more.
  bool is_namespace_terminating() const { return status_ == 403 && cause_ == "NamespaceTerminating"; }

 private:
  int status_;
  std::string reason_;
  std::optional<double> retry_after_seconds_;
  std::string cause_;  // the first of details.causes
};

/// No answer: no server is there, the certificate does not fit, too slow, cut off, or not an API server's words.
class ConnectionError : public Error {
 public:
  using Error::Error;
};

/// The connection may be dead, or nothing has happened: no byte came for as long as was allowed.
class SilenceError : public ConnectionError {
 public:
  using ConnectionError::ConnectionError;
};

/// The error that `body`, which came with `http_status`, reports. `asked` names the request: "GET https://...". `body`
/// may be no Status at all.
ApiError api_error(const std::string& asked, int http_status, std::string_view body,
                   std::optional<double> retry_after_seconds = {}, const std::string& advice = "");

/// The same of a Status, as in the ERROR event of a watch, with the status that it names.
ApiError api_error(const std::string& asked, const Json& status);

}  // namespace podere::kube
