// The page of farms: docs/page.md.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "podere/base/json.h"
#include "podere/http/page_server.h"
#include "podere/kube/client.h"

namespace podere::overview {

/// Serves a page that shows farms as they are, with the rights of the user who runs it, to browsers that know the
/// token. It reads the farms every two seconds, and answers what-if by asking the operator. Its end stops the client.
class FarmPage {
 public:
  /// Of the farms of a namespace; empty: of all. It begins with `farms`, as list_farms() gave them. `client` must live
  /// longer. Throws InputError if it cannot listen at `address`.
  FarmPage(kube::Client& client, std::string in_namespace, Json farms, const std::string& address);
  ~FarmPage();
  FarmPage(const FarmPage&) = delete;
  FarmPage& operator=(const FarmPage&) = delete;

  std::string link() const { return server_.link(); }
  bool has_moved() const { return server_.has_moved(); }

 private:
  /// Seconds since 1970, and how many executors run, are pending, are ending.
  using Point = std::array<double, 4>;

  void keep(Json farms);
  void read_on(const std::stop_token& stop);
  Json state() const;
  http::Answer answer(const http::Request& request);
  http::Answer answer_what_if(const http::Request& request);

  kube::Client& client_;
  const std::string in_namespace_;
  mutable std::mutex mutex_;  // guards the next three
  Json farms_;
  std::map<std::pair<std::string, std::string>, std::deque<Point>> history_;  // by namespace and name
  std::string problem_;                                                       // why they could not be read; or empty
  std::mutex waiting_;
  std::condition_variable_any until_next_;
  http::PageServer server_;  // goes before what it shows
  std::jthread reader_;
};

/// The API of the page, as OpenAPI.
const std::string& farm_api();

}  // namespace podere::overview
