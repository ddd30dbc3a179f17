#include "podere/base/curl.h"

namespace podere {
namespace {

/// Once in a process, before any thread may use it.
void start_curl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) throw_error("libcurl does not start: {}", curl_easy_strerror(code));
}

}  // namespace

CurlHandle::CurlHandle() {
  start_curl();
  handle_.reset(curl_easy_init());
  if (handle_ == nullptr) throw_error("libcurl has no memory");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, cause_.get());
}

void CurlHandle::set_headers(const std::vector<std::string>& headers) {
  std::unique_ptr<curl_slist, Cleanup> list;
  for (const auto& header : headers) {
    curl_slist* const longer = curl_slist_append(list.get(), header.c_str());
    if (longer == nullptr) throw_error("libcurl has no memory");
    static_cast<void>(list.release());  // it is part of the longer one
    list.reset(longer);
  }
  set(CURLOPT_HTTPHEADER, list.get());
  headers_ = std::move(list);
}

}  // namespace podere
