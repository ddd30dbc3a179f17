#include "podere/session/live_page.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "podere/base/sha256.h"
#include "podere/jobs/event_stream.h"
#include "podere/report/page.h"
#include "podere/session/page_api.h"

namespace podere::session {
namespace {

constexpr int kPagePorts = 50;  // tried, before any that is free
constexpr std::size_t kMostShownJobs = 200;
constexpr double kHeartbeatsSeconds = 5;  // so long an executor is not yet silent
constexpr double kFollowsSeconds = 12;    // a page asks again after 10 s at most
constexpr double kPageFarewellSeconds = 2;
constexpr double kLastRequestsSeconds = 0.3;
constexpr auto kFarewellPoll = std::chrono::milliseconds(20);
constexpr std::string_view kRuns = "/api/runs/";
constexpr const char* kJson = "application/json; charset=utf-8";

http::Answer failure(int status, const std::string& message) {
  return {.status = status, .body = to_text({{"error", message}}) + "\n", .type = kJson};
}

std::string value_of(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? "" : found->second;
}

/// With a tag, by which a browser that has it already gets it no second time.
http::Answer tagged(const http::Request& request, http::Answer answer) {
  const std::string tag = '"' + sha256_of(answer.body).substr(0, 32) + '"';
  answer.headers.emplace_back("ETag", tag);
  if (request.if_none_match == tag) {
    answer.status = 304;
    answer.body.clear();
  }
  return answer;
}

std::optional<std::int64_t> job_in(std::string_view text) {
  std::int64_t job = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), job);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return job;
}

}  // namespace

LivePage::LivePage(Options options, const report::LiveRuns& runs)
    : options_(std::move(options)),
      runs_(runs),
      token_(http::random_token()),
      id_(http::random_token().substr(0, 16)),
      html_(report::live_html()),
      server_(std::make_unique<http::Server>(http::Server::Options{.address = options_.address, .n_ports = kPagePorts},
                                             [this](const http::Request& request) { return answer(request); })) {}

LivePage::~LivePage() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    if (!since_request_ || since_request_->seconds() > kFollowsSeconds) return;
  }
  const Stopwatch farewell;
  const auto has_asked_all = [&] {
    const std::lock_guard lock(mutex_);
    return end_was_seen_ && since_request_->seconds() > kLastRequestsSeconds;  // also for runs that have just ended
  };
  while (farewell.seconds() < kPageFarewellSeconds && !has_asked_all()) std::this_thread::sleep_for(kFarewellPoll);
}

bool LivePage::has_moved() const {
  return !options_.address.ends_with(":0") && !options_.address.ends_with(':' + std::to_string(server_->port()));
}

std::string LivePage::cookie_name() const { return "podere-" + id_; }

bool LivePage::is_allowed(const http::Request& request) const {
  return http::is_same_secret(value_of(request.query, "token"), token_) ||
         http::is_same_secret(request.bearer, token_) ||
         http::is_same_secret(value_of(request.cookies, cookie_name()), token_);
}

void LivePage::note_request(bool is_of_session) {
  const std::lock_guard lock(mutex_);
  if (is_of_session || since_request_) since_request_.emplace();
}

Json LivePage::state() {
  const Json status = options_.status();
  Json jobs = Json::array();
  const Json& all = status.at("jobs");
  for (std::size_t i = all.size() - std::min(all.size(), kMostShownJobs); i < all.size(); ++i) {
    Json job = all[i];
    const Json run = runs_.state(job.at("job").get<std::int64_t>());
    job["seconds_left"] = run.is_null() ? Json() : run.at("seconds_left");
    job["revision"] = run.is_null() ? Json(0) : run.at("revision");
    jobs.push_back(std::move(job));
  }
  Json tables = Json::array();
  for (const Json& table : status.at("tables")) {
    tables.push_back(
        {{"name", table.at("name")}, {"rows", table.at("rows")}, {"columns", table.at("features").size()}});
  }
  bool has_ended = false;
  {
    const std::lock_guard lock(mutex_);
    has_ended = has_ended_;
    end_was_seen_ = has_ended_;
  }
  return {{"podere_live", 1},
          {"version", PODERE_VERSION},
          {"id", id_},
          {"session", status.value("session", Json())},
          {"host", jobs::host_name()},
          {"process", getpid()},
          {"executors",
           {{"wanted", status.at("wanted")},
            {"least", status.at("least")},
            {"ready", status.at("each").size()},
            {"cores", status.at("cores")},
            {"each", status.at("each")}}},
          {"tables", std::move(tables)},
          {"waits_for", status.value("waits_for", Json())},
          {"jobs", std::move(jobs)},
          {"ended", has_ended}};
}

http::Answer LivePage::answer(const http::Request& request) {
  if (!is_allowed(request)) {
    return failure(403,
                   "the token of this page is missing or wrong: open the link that podere printed when it "
                   "started; of a session, podere session status NAME prints it again");
  }
  if (request.path != "/") return answer_api(request);
  if (request.query.contains("token")) {  // which is not to stay in the browser's history
    // Relative, and for the folder of this address: the page may be behind a proxy.
    return {.status = 302,
            .headers = {{"Location", "./"}, {"Set-Cookie", cookie_name() + "=" + token_ + "; HttpOnly; SameSite=Lax"}}};
  }
  return tagged(request, {.body = html_,
                          .type = "text/html; charset=utf-8",
                          .headers = {{"Content-Security-Policy", "frame-ancestors 'none'"}}});
}

http::Answer LivePage::answer_api(const http::Request& request) {
  if (request.path == "/api/session") {
    note_request(true);
    return tagged(request, {.body = to_text(state()), .type = kJson});
  }
  if (request.path == "/api/openapi.json") return tagged(request, {.body = kPageApi, .type = kJson});
  if (request.path == "/metrics" && options_.metrics) {
    return http::metrics_answer(options_.metrics(), request);
  }
  if (request.path.starts_with(kRuns)) {
    note_request(false);
    const auto job = job_in(std::string_view(request.path).substr(kRuns.size()));
    if (auto text = job ? runs_.text(*job) : std::nullopt) {
      return tagged(request, {.body = std::move(*text), .type = kJson});
    }
    return failure(404, "there is no such job, or it has not begun, or it is no longer kept");
  }
  return failure(404, "there are /, /api/session, /api/runs/JOB, /api/openapi.json and /metrics");
}

Json shown_of(const Json& result) {
  Json facts = result.contains("facts") ? result.at("facts") : result;
  for (const char* name : {"losses", "metrics"}) facts[name] = result.at(name);
  return facts;
}

Json to_json(const std::vector<ExecutorSign>& executors) {
  Json all = Json::array();
  for (const ExecutorSign& sign : executors) {
    Json one = {{"executor", all.size()}};
    if (!sign.host.empty()) {
      one["host"] = sign.host;
      one["process"] = sign.process;
      one["memory_bytes"] = sign.memory_bytes;
      one["phase"] = sign.phase;
      one["silent_seconds"] = sign.silent_seconds < kHeartbeatsSeconds ? 0.0 : sign.silent_seconds;
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace podere::session
