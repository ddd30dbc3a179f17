// A client, for tests of servers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podere/base/curl.h"

namespace podere::http {

struct Got {
  long status = 0;
  std::string body;
  std::string head;
};

/// What a server answers; its paths and redirections are not touched. Throws Error if it does not answer in 30 s.
inline Got get(const std::string& url, const std::vector<std::string>& headers = {},
               const std::string& method = "GET") {
  CurlHandle curl;
  Got got;
  const auto append = +[](char* data, std::size_t size, std::size_t n, std::string* text) {
    text->append(data, size * n);
    return size * n;
  };
  curl.set(CURLOPT_URL, url.c_str());
  curl.set(CURLOPT_WRITEFUNCTION, append);
  curl.set(CURLOPT_WRITEDATA, &got.body);
  curl.set(CURLOPT_HEADERFUNCTION, append);
  curl.set(CURLOPT_HEADERDATA, &got.head);
  curl.set(CURLOPT_TIMEOUT, 30L);
  curl.set(CURLOPT_PATH_AS_IS, 1L);
  if (method == "HEAD") {
    curl.set(CURLOPT_NOBODY, 1L);
  } else {
    curl.set(CURLOPT_CUSTOMREQUEST, method.c_str());
  }
  curl.set_headers(headers);
  if (const CURLcode code = curl_easy_perform(curl.get()); code != CURLE_OK)
    throw_error("{}: {}", url, curl.cause(code));
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &got.status);
  return got;
}

}  // namespace podere::http
