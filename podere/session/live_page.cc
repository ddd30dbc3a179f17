#include "podere/session/live_page.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "podere/jobs/event_stream.h"
#include "podere/report/page.h"
#include "podere/session/page_api.h"

namespace podere::session {
namespace {

constexpr std::size_t kMostShownJobs = 200;
constexpr double kHeartbeatsSeconds = 5;  // so long an executor is not yet silent
constexpr double kFollowsSeconds = 12;    // a page asks again after 10 s at most
constexpr double kPageFarewellSeconds = 2;
constexpr double kLastRequestsSeconds = 0.3;
constexpr auto kFarewellPoll = std::chrono::milliseconds(20);
constexpr std::string_view kRuns = "/api/runs/";

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
      server_(std::make_unique<http::PageServer>(
          http::PageServer::Options{
              .address = options_.address,
              .html = report::served_page("live"),
              .refusal = "the token of this page is missing or wrong: open the link that podere printed when it "
                         "started; of a session, podere session status NAME prints it again"},
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
          {"id", server_->id()},
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
  if (request.path == "/api/session") {
    note_request(true);
    return http::tagged(request, {.body = to_text(state()), .type = http::kJsonType});
  }
  if (request.path == "/api/openapi.json") return http::tagged(request, {.body = page_api(), .type = http::kJsonType});
  if (request.path == "/metrics" && options_.metrics) {
    return http::metrics_answer(options_.metrics(), request);
  }
  if (request.path.starts_with(kRuns)) {
    note_request(false);
    const auto job = job_in(std::string_view(request.path).substr(kRuns.size()));
    if (auto text = job ? runs_.text(*job) : std::nullopt) {
      return http::tagged(request, {.body = std::move(*text), .type = http::kJsonType});
    }
    return http::failure(404, "there is no such job, or it has not begun, or it is no longer kept");
  }
  return http::failure(404, "there are /, /api/session, /api/runs/JOB, /api/openapi.json and /metrics");
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
