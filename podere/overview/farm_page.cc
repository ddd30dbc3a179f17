#include "podere/overview/farm_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/printable.h"
#include "podere/farm/cluster_json.h"
#include "podere/overview/farm_list.h"
#include "podere/report/page.h"

namespace podere::overview {
namespace {

constexpr auto kBetweenReads = std::chrono::seconds(2);
constexpr std::size_t kMostPoints = 300;         // of a farm
constexpr std::size_t kMostPointsOfAll = 15000;  // which browsers get whenever one has changed
constexpr std::size_t kMostProblemBytes = 500;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::optional<int> executors_in(const std::string& text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && n >= 0 && n <= farm::kMostExecutors ? std::optional(n) : std::nullopt;
}

}  // namespace

FarmPage::FarmPage(kube::Client& client, std::string in_namespace, Json farms, const std::string& address)
    : client_(client),
      in_namespace_(std::move(in_namespace)),
      farms_(Json::array()),
      server_({.address = address,
               .html = report::served_page("farms"),
               .refusal = "the token of this page is missing or wrong: open the link that podere farm status --page "
                          "printed",
               .n_threads = 0},
              [this](const http::Request& request) { return answer(request); }) {
  keep(std::move(farms));
  reader_ = std::jthread([this](const std::stop_token& stop) { read_on(stop); });
}

FarmPage::~FarmPage() {
  client_.stop();
  reader_.request_stop();
  reader_.join();
}

/// Takes in what was read, and adds a point to the history of each farm that has changed.
void FarmPage::keep(Json farms) {
  const std::lock_guard lock(mutex_);
  const std::size_t most_points = std::min(kMostPoints, kMostPointsOfAll / std::max<std::size_t>(1, farms.size()) + 1);
  std::map<std::pair<std::string, std::string>, std::deque<Point>> history;
  for (const Json& farm : farms) {
    auto node = history_.extract({farm.at("namespace"), farm.at("name")});
    std::deque<Point>& points =
        node ? history.insert(std::move(node)).position->second : history[{farm.at("namespace"), farm.at("name")}];
    const Json& status = farm.at("status");
    if (status.is_null()) continue;
    const Point point = {seconds_now(), status.at("running"), status.at("pending"), status.at("terminating")};
    if (!points.empty() && std::equal(point.begin() + 1, point.end(), points.back().begin() + 1)) continue;
    points.push_back(point);
    while (points.size() > most_points) points.pop_front();
  }
  history_ = std::move(history);  // of those that are there
  farms_ = std::move(farms);
  problem_.clear();
}

void FarmPage::read_on(const std::stop_token& stop) {
  while (true) {
    {
      std::unique_lock lock(waiting_);
      until_next_.wait_for(lock, stop, kBetweenReads, [] { return false; });
    }
    if (stop.stop_requested()) return;
    try {
      keep(list_farms(client_, in_namespace_, stop));
    } catch (const Interrupted&) {
      return;
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      problem_ = fmt::format("The farms cannot be read: {}.", printable_line(error.what(), kMostProblemBytes));
    }
  }
}

Json FarmPage::state() const {
  const std::lock_guard lock(mutex_);
  Json farms = farms_;
  for (Json& farm : farms) {
    Json& points = farm["history"] = Json::array();
    for (const Point& point : history_.at({farm.at("namespace"), farm.at("name")})) points.push_back(point);
  }
  return {{"podere_farms", 1},
          {"version", PODERE_VERSION},
          {"id", server_.id()},
          {"server", client_.access().server},
          {"namespace", in_namespace_.empty() ? Json() : Json(in_namespace_)},
          {"problem", problem_.empty() ? Json() : Json(problem_)},
          {"farms", std::move(farms)}};
}

http::Answer FarmPage::answer(const http::Request& request) {
  if (request.path == "/api/farms") return http::tagged(request, {.body = to_text(state()), .type = http::kJsonType});
  if (request.path == "/api/what-if") return answer_what_if(request);
  if (request.path == "/api/openapi.json") return http::tagged(request, {.body = farm_api(), .type = http::kJsonType});
  return http::failure(404, "there are /, /api/farms, /api/what-if and /api/openapi.json");
}

http::Answer FarmPage::answer_what_if(const http::Request& request) {
  if (!server_.is_from_page(request)) {
    return http::failure(403,
                         "what-if is answered to programs that give the token, and to this page, where the "
                         "browser says that it is this page: by https, or on this machine");
  }
  const auto value = [&](const char* name) {
    const auto found = request.query.find(name);
    return found == request.query.end() ? "" : found->second;
  };
  const std::string farm = value("farm");
  const auto slash = farm.find('/');
  const auto executors = executors_in(value("executors"));
  if (slash == std::string::npos || slash == 0 || slash + 1 == farm.size())
    return http::failure(400, "farm is missing: NAMESPACE/NAME is needed");
  if (!executors)
    return http::failure(400, "executors is no whole number from 0 to " + std::to_string(farm::kMostExecutors));
  try {
    const kube::ObjectKey key{farm.substr(0, slash), farm.substr(slash + 1)};
    return {.body = to_text(ask_what_if(client_, {.farm = key, .executors = *executors})), .type = http::kJsonType};
  } catch (const Interrupted&) {
    return http::failure(503, "podere farm status ends");
  } catch (const InputError& error) {
    return http::failure(400, printable_line(error.what(), kMostProblemBytes));
  } catch (const Error& error) {
    return http::failure(503, printable_line(error.what(), kMostProblemBytes));
  }
}

}  // namespace podere::overview
