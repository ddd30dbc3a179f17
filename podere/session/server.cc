#include "podere/session/server.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/http/metrics.h"
#include "podere/jobs/cross_validation.h"
#include "podere/jobs/event.h"
#include "podere/session/job_listener.h"
#include "podere/session/live_page.h"
#include "podere/session/prometheus.h"

namespace podere::session {
namespace {

constexpr double kRefreshSeconds = 0.5;
constexpr double kPatienceSeconds = 3;  // with a cancelled job that cannot stop by itself

/// Counters that Prometheus scrapes by HTTP.
class Endpoint {
 public:
  Endpoint(const std::string& address, const SessionCounters& counters)
      : server_({.address = address}, [&counters](const http::Request& request) {
          if (request.path != "/metrics") return http::Answer{.status = 404, .body = "there is /metrics\n"};
          return http::metrics_answer(counters.all()->Collect(), request);
        }) {}
  std::string url() const { return server_.url() + "/metrics"; }

 private:
  http::Server server_;
};

class Server {
 public:
  Server(const SessionPlace& place, ServerOptions options);
  /// The page goes first: it shows what the others have.
  ~Server() { page_.reset(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  void serve();

 private:
  class JobEvents;
  /// While there is nothing to do.
  class IdleEvents : public Progress {
   public:
    explicit IdleEvents(Server& server) : server_(server) {}
    void warn(const std::string& message) override { server_.log(message); }
    bool stop_requested() override {
      if (server_.shown_ != nullptr) server_.refresh_at_times();
      if (server_.options_.stop() || (server_.listener_ && server_.listener_->is_stopped())) throw Interrupted();
      return false;
    }

   private:
    Server& server_;
  };

  Session::Options session_options();
  void do_job(const JobQueue::Ordered& order);
  void log(const std::string& line);
  /// The status of the session has changed.
  void refresh();
  /// The same, but not more often than a page is looked at.
  void refresh_at_times();
  std::unique_ptr<LivePage> open_page();
  /// What the page shows. Called on its threads.
  Json status() const;

  const SessionPlace& place_;
  const ServerOptions options_;
  SessionCounters counters_;
  std::unique_ptr<Endpoint> endpoint_;  // if it was asked for
  report::LiveRuns runs_;
  std::string last_words_;                           // of what was logged
  std::optional<Stopwatch> since_refresh_;           // of the status
  std::atomic<const JobListener*> shown_ = nullptr;  // the listener, once it has a status
  std::unique_ptr<LivePage> page_;       // if it was asked for; before the executors, which may take long to start
  std::optional<JobListener> listener_;  // once the executors are there
  IdleEvents idle_;
  Session session_;
};

/// Reports the progress of a job, and whether to stop.
class Server::JobEvents : public Progress {
 public:
  JobEvents(Server& server, const JobQueue::Ordered& order)
      : server_(server), listener_(*server.listener_), order_(order) {}

  void report(const ProgressStep& step) override {
    phase_ = step.phase;
    server_.refresh_at_times();
    server_.runs_.report(order_.number, step);
    listener_.jobs().note_step(order_.number, step);
    listener_.report(order_, jobs::progress_event(step));
  }
  void warn(const std::string& message) override {
    server_.log(fmt::format("job {}: {}", order_.number, message));
    server_.runs_.warn(order_.number, message);
    listener_.jobs().note_line(order_.number, message);
    listener_.report(order_, {{"event", "warning"}, {"message", message}});
  }
  /// Training stops by itself; what does not is ended with its executors.
  bool stop_requested() override {
    server_.refresh_at_times();
    const bool is_wanted =
        server_.options_.stop() || listener_.is_stopped() || listener_.jobs().is_cancelled(order_.number);
    if (!is_wanted) return false;
    if (!since_wanted_) since_wanted_.emplace();
    if (phase_ != "train" && phase_ != "folds" && phase_ != "tune" && since_wanted_->seconds() > kPatienceSeconds)
      throw Interrupted();
    return true;
  }

 private:
  Server& server_;
  JobListener& listener_;
  const JobQueue::Ordered& order_;
  std::string phase_;
  std::optional<Stopwatch> since_wanted_;
};

Server::Server(const SessionPlace& place, ServerOptions options)
    : place_(place),
      options_(std::move(options)),
      endpoint_(options_.prometheus.empty() ? nullptr : std::make_unique<Endpoint>(options_.prometheus, counters_)),
      page_(open_page()),
      idle_(*this),
      session_(session_options(), idle_) {
  listener_.emplace(place, options_.session.n_executors, options_.session.least, runs_);
  refresh();
  shown_ = &*listener_;
  listener_->listen();
}

std::unique_ptr<LivePage> Server::open_page() {
  if (options_.page.empty()) return nullptr;
  try {
    auto page = std::make_unique<LivePage>(LivePage::Options{.address = options_.page,
                                                             .status = [this] { return status(); },
                                                             .metrics = [this] { return counters_.all()->Collect(); }},
                                           runs_);
    if (page->has_moved()) log(fmt::format("{} is in use: the page has another port", options_.page));
    return page;
  } catch (const InputError& error) {
    if (options_.page != kPageAddress) throw;
    log(fmt::format("there is no page: {}", error.what()));  // which was not asked for
    return nullptr;
  }
}

Json Server::status() const {
  if (const JobListener* const listener = shown_) return listener->status();
  return {{"session", place_.name()},
          {"wanted", options_.session.n_executors},
          {"least", options_.session.least},
          {"cores", 0},
          {"each", Json::array()},
          {"tables", Json::array()},
          {"waits_for", "the executors are starting"},
          {"jobs", Json::array()}};
}

void Server::log(const std::string& line) {
  last_words_ = line;
  options_.log(line);
}

void Server::refresh_at_times() {
  if (!since_refresh_ || since_refresh_->seconds() > kRefreshSeconds) refresh();
}

Session::Options Server::session_options() {
  Session::Options session = options_.session;
  session.wanted = [this] {
    Wanted wanted = listener_ ? listener_->wanted() : Wanted{options_.session.n_executors, options_.session.least};
    if (const auto by_place = options_.session.launcher->wanted()) {
      wanted.request += by_place->request;
      wanted.moves = by_place->moves;
    }
    return wanted;
  };
  session.notice = [this] {
    const bool has_notice = options_.session.notice && options_.session.notice();
    return listener_->take_notice() || has_notice;
  };
  return session;
}

void Server::refresh() {
  since_refresh_.emplace();
  const Wanted wanted = listener_->wanted();
  Json each = to_json(session_.executors());
  Json tables = Json::array();
  for (const auto& [name, facts] : session_.tables()) tables.push_back(facts);
  listener_->set_status({{"session", place_.name()},
                         {"process", getpid()},
                         {"executors", session_.n_executors()},
                         {"cores", session_.n_cores()},
                         {"wanted", wanted.n_executors},
                         {"least", wanted.least},
                         {"waits_for", each.empty() && !last_words_.empty() ? Json(last_words_) : Json()},
                         {"each", std::move(each)},
                         {"page", page_ ? Json(page_->link()) : Json()},
                         {"shared_folder", options_.is_elsewhere ? Json(options_.checkpoints) : Json()},
                         {"prometheus", endpoint_ ? Json(endpoint_->url()) : Json()},
                         {"tables", std::move(tables)}});
  counters_.set_executors(session_.n_executors());
}

void Server::do_job(const JobQueue::Ordered& order) {
  using State = JobQueue::State;
  runs_.begin(order.number, order.title);
  JobEvents events(*this, order);
  std::string kind = "unknown";  // until it is known to be one: labels must stay few
  const auto finish = [&](State state, const std::string& message, const Json& metrics) {
    listener_->jobs().finish(order.number, state, message, metrics);
    counters_.add_job(kind, JobQueue::word_of(state), metrics);
  };
  const auto fail = [&](State state, const char* failure, const std::string& message) {
    log(fmt::format("job {}: {}", order.number, message));
    runs_.end(order.number, nullptr, state == State::kFailed ? "failed" : "interrupted");
    finish(state, message, nullptr);
    listener_->report(order, {{"event", "failed"}, {"kind", failure}, {"message", message}});
  };
  const std::string checkpoint = fmt::format("{}/{}.json", options_.checkpoints, order.number);
  try {
    const jobs::Job job = jobs::job_from_json(order.job);
    kind = job.kind();
    Json result = session_.run(jobs::with_checkpoint(job, checkpoint), events);
    runs_.end(order.number, shown_of(result));
    const bool is_cancelled = listener_->jobs().is_cancelled(order.number);
    finish(is_cancelled ? State::kCancelled : State::kDone, "", result.at("metrics"));
    refresh();  // before the answer: its table is there
    listener_->report(order, {{"event", "result"}, {"result", std::move(result)}});
  } catch (const InputError& error) {
    fail(State::kFailed, "input", error.what());
  } catch (const Interrupted&) {
    fail(State::kCancelled, "cancelled", "cancelled");
  } catch (const std::exception& error) {  // also of the libraries: no memory, a file system that fails
    fail(State::kFailed, "internal", error.what());
  }
  std::error_code ignored;
  std::filesystem::remove(checkpoint, ignored);
  std::filesystem::remove(jobs::folds_file(checkpoint), ignored);
}

void Server::serve() {
  options_.log("ready");
  try {
    while (!listener_->is_stopped() && !options_.stop()) {
      refresh_at_times();
      if (const auto order = listener_->jobs().next(jobs::kPollMs)) {
        do_job(*order);
      } else {
        session_.idle(idle_);
      }
    }
  } catch (const Interrupted&) {
    // while a group was starting
  }
  session_.end();
  options_.log("ended");
}

}  // namespace

void serve_session(SessionPlace& place, ServerOptions options) {
  place.take();
  Server(place, std::move(options)).serve();
}

}  // namespace podere::session
