// libcurl, with one owner a handle.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>
#include <vector>

#include "podere/base/error.h"

namespace podere {

/// One transfer of libcurl after another, over connections that stay. It raises no signals. Not thread-safe; different
/// threads may have one each.
class CurlHandle {
 public:
  /// Starts libcurl with the first of the process. Throws Error if that fails.
  CurlHandle();

  CURL* get() const { return handle_.get(); }

  /// curl_easy_setopt(). Throws Error if this libcurl does not know the option or has no memory.
  template <typename Value>
  void set(CURLoption option, Value value) {
    check(curl_easy_setopt(handle_.get(), option, value));
  }
  /// Headers of the next requests, such as "Accept: text/plain", in place of those set before.
  void set_headers(const std::vector<std::string>& headers);

  /// Forgets what cause() returns. Before each transfer.
  void forget_cause() { cause_[0] = '\0'; }
  /// Why a transfer that returned `code` failed, in libcurl's words.
  std::string cause(CURLcode code) const { return cause_[0] != '\0' ? cause_.get() : curl_easy_strerror(code); }

 private:
  static void check(CURLcode code) {
    if (code != CURLE_OK) throw_error("libcurl: {}", curl_easy_strerror(code));
  }
  struct Cleanup {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  // The handle, which points to the others, goes first.
  std::unique_ptr<char[]> cause_ = std::make_unique<char[]>(CURL_ERROR_SIZE);
  std::unique_ptr<curl_slist, Cleanup> headers_;
  std::unique_ptr<CURL, Cleanup> handle_;
};

}  // namespace podere
