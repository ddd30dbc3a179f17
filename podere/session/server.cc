#include "podere/session/server.h"

#include <prometheus/exposer.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/jobs/event.h"
#include "podere/session/job_listener.h"
#include "podere/session/prometheus.h"

namespace podere::session {
namespace {

constexpr double kPatienceSeconds = 3;  // with a cancelled job that cannot stop by itself

/// Counters that Prometheus scrapes by HTTP.
class Endpoint {
 public:
  Endpoint(const std::string& address, const SessionCounters& counters) try : exposer_(address, 1) {
    exposer_.RegisterCollectable(counters.all());
    url_ =
        fmt::format("http://{}:{}/metrics", address.substr(0, address.rfind(':')), exposer_.GetListeningPorts().at(0));
  } catch (const std::exception&) {  // of the HTTP library, without a cause
    throw_input_error("{} cannot be listened on: it is no address of this machine, or its port is in use", address);
  }
  const std::string& url() const { return url_; }

 private:
  prometheus::Exposer exposer_;
  std::string url_;
};

class Server {
 public:
  Server(const SessionPlace& place, ServerOptions options);
  void serve();

 private:
  class JobEvents;
  /// While there is nothing to do.
  class IdleEvents : public Progress {
   public:
    explicit IdleEvents(const Server& server) : server_(server) {}
    void warn(const std::string& message) override { server_.options_.log(message); }
    bool stop_requested() override {
      if (server_.options_.stop() || (server_.listener_ && server_.listener_->is_stopped())) throw Interrupted();
      return false;
    }

   private:
    const Server& server_;
  };

  Session::Options session_options();
  void do_job(const JobQueue::Ordered& order);
  /// The status of the session has changed.
  void refresh();

  const SessionPlace& place_;
  const ServerOptions options_;
  SessionCounters counters_;
  std::unique_ptr<Endpoint> endpoint_;   // if it was asked for
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
    server_.refresh();
    listener_.jobs().note_step(order_.number, step);
    listener_.report(order_, jobs::progress_event(step));
  }
  void warn(const std::string& message) override {
    server_.options_.log(fmt::format("job {}: {}", order_.number, message));
    listener_.jobs().note_line(order_.number, message);
    listener_.report(order_, {{"event", "warning"}, {"message", message}});
  }
  /// Training stops by itself; what does not is ended with its executors.
  bool stop_requested() override {
    const bool is_wanted =
        server_.options_.stop() || listener_.is_stopped() || listener_.jobs().is_cancelled(order_.number);
    if (!is_wanted) return false;
    if (!since_wanted_) since_wanted_.emplace();
    if (phase_ != "train" && since_wanted_->seconds() > kPatienceSeconds) throw Interrupted();
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
      idle_(*this),
      session_(session_options(), idle_) {
  listener_.emplace(place, options_.session.n_executors, options_.session.least);
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
  Json tables = Json::array();
  for (const auto& [name, facts] : session_.tables()) tables.push_back(facts);
  listener_->set_status({{"session", place_.name()},
                         {"process", getpid()},
                         {"executors", session_.n_executors()},
                         {"cores", session_.n_cores()},
                         {"shared_folder", options_.is_elsewhere ? Json(options_.checkpoints) : Json()},
                         {"prometheus", endpoint_ ? Json(endpoint_->url()) : Json()},
                         {"tables", std::move(tables)}});
  counters_.set_executors(session_.n_executors());
}

void Server::do_job(const JobQueue::Ordered& order) {
  using State = JobQueue::State;
  JobEvents events(*this, order);
  std::string kind = "unknown";  // until it is known to be one: labels must stay few
  const auto finish = [&](State state, const std::string& message, const Json& metrics) {
    listener_->jobs().finish(order.number, state, message, metrics);
    counters_.add_job(kind, JobQueue::word_of(state), metrics);
  };
  const auto fail = [&](State state, const char* failure, const std::string& message) {
    options_.log(fmt::format("job {}: {}", order.number, message));
    finish(state, message, nullptr);
    listener_->report(order, {{"event", "failed"}, {"kind", failure}, {"message", message}});
  };
  const std::string checkpoint = fmt::format("{}/{}.json", options_.checkpoints, order.number);
  try {
    const jobs::Job job = jobs::job_from_json(order.job);
    kind = job.kind();
    Json result = session_.run(jobs::with_checkpoint(job, checkpoint), events);
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
}

void Server::serve() {
  options_.log("ready");
  try {
    while (!listener_->is_stopped() && !options_.stop()) {
      refresh();
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
