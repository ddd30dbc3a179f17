#include "podere/session/server.h"

#include <prometheus/exposer.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/session/doorman.h"
#include "podere/session/prometheus.h"

namespace podere::session {
namespace {

constexpr int kPollMs = 100;
constexpr double kPatienceSeconds = 3;  // with a cancelled job that cannot stop by itself

/// Tells how a job goes, and whether to stop.
class JobEvents : public Progress {
 public:
  /// `refresh` is called with each report.
  JobEvents(Doorman& doorman, const JobQueue::Ordered& order, const ServerOptions& options,
            const std::function<void()>& refresh)
      : doorman_(doorman), order_(order), options_(options), refresh_(refresh) {}

  void report(const ProgressStep& step) override {
    phase_ = step.phase;
    refresh_();
    Json metrics = Json::object();
    for (const auto& [name, value] : step.metrics) metrics[name] = value;
    doorman_.jobs().note_step(order_.number, step);
    doorman_.tell(order_, {{"event", "progress"},
                           {"phase", step.phase},
                           {"done", step.done},
                           {"total", step.total},
                           {"metrics", std::move(metrics)}});
  }
  void warn(const std::string& message) override {
    options_.log(fmt::format("job {}: {}", order_.number, message));
    doorman_.jobs().note_line(order_.number, message);
    doorman_.tell(order_, {{"event", "warning"}, {"message", message}});
  }
  /// Training stops by itself; what does not is ended with its executors.
  bool stop_requested() override {
    const bool is_wanted = options_.stop() || doorman_.is_stopped() || doorman_.jobs().is_cancelled(order_.number);
    if (!is_wanted) return false;
    if (!since_wanted_) since_wanted_.emplace();
    if (phase_ != "train" && since_wanted_->seconds() > kPatienceSeconds) throw Interrupted();
    return true;
  }

 private:
  Doorman& doorman_;
  const JobQueue::Ordered& order_;
  const ServerOptions& options_;
  const std::function<void()>& refresh_;
  std::string phase_;
  std::optional<Stopwatch> since_wanted_;
};

/// While there is nothing to do.
class IdleEvents : public Progress {
 public:
  explicit IdleEvents(const ServerOptions& options) : options_(options) {}
  void warn(const std::string& message) override { options_.log(message); }
  bool stop_requested() override {
    if (options_.stop()) throw Interrupted();
    return false;
  }

 private:
  const ServerOptions& options_;
};

void do_job(Session& session, const JobQueue::Ordered& order, Doorman& doorman, SessionCounters& counters,
            const ServerOptions& options, const std::function<void()>& refresh) {
  using State = JobQueue::State;
  JobEvents events(doorman, order, options, refresh);
  std::string kind = "unknown";  // until it is known to be one: labels must stay few
  const auto finish = [&](State state, const std::string& message, const Json& metrics) {
    doorman.jobs().finish(order.number, state, message, metrics);
    counters.add_job(kind, JobQueue::word_of(state), metrics);
  };
  const auto fail = [&](State state, const char* failure, const std::string& message) {
    options.log(fmt::format("job {}: {}", order.number, message));
    finish(state, message, nullptr);
    doorman.tell(order, {{"event", "failed"}, {"kind", failure}, {"message", message}});
  };
  const std::string checkpoint = fmt::format("{}/{}.json", options.checkpoints, order.number);
  try {
    Job job = job_from_json(order.job);
    kind = to_json(job).at("kind").get<std::string>();
    auto* train = std::get_if<TrainJob>(&job);
    if (train != nullptr && train->checkpoint.empty()) train->checkpoint = checkpoint;
    Json result = session.run(job, events);
    finish(doorman.jobs().is_cancelled(order.number) ? State::kCancelled : State::kDone, "", result.at("metrics"));
    refresh();  // before the answer: its table is there
    doorman.tell(order, {{"event", "result"}, {"result", std::move(result)}});
  } catch (const InputError& error) {
    fail(State::kFailed, "input", error.what());
  } catch (const Error& error) {
    fail(State::kFailed, "internal", error.what());
  } catch (const Interrupted&) {
    fail(State::kCancelled, "cancelled", "cancelled");
  } catch (const std::exception& error) {  // of the libraries: no memory, a file system that fails
    fail(State::kFailed, "internal", error.what());
  }
  std::error_code ignored;
  std::filesystem::remove(checkpoint, ignored);
}

/// Counters that Prometheus scrapes by HTTP.
class Endpoint {
 public:
  Endpoint(const std::string& address, const SessionCounters& counters) try : exposer_(address, 1) {
    exposer_.RegisterCollectable(counters.all());
    url_ =
        fmt::format("http://{}:{}/metrics", address.substr(0, address.rfind(':')), exposer_.GetListeningPorts().at(0));
  } catch (const std::exception&) {  // of the HTTP library, without a cause
    throw_input_error("{} cannot be listened on: it is no address of this machine, or its port is taken", address);
  }
  const std::string& url() const { return url_; }

 private:
  prometheus::Exposer exposer_;
  std::string url_;
};

Json status_of(const Session& session, const SessionPlace& place, const std::optional<Endpoint>& endpoint) {
  Json tables = Json::array();
  for (const auto& [name, facts] : session.tables()) tables.push_back(facts);
  return {{"session", place.name()},
          {"process", getpid()},
          {"executors", session.n_executors()},
          {"cores", session.n_cores()},
          {"prometheus", endpoint ? Json(endpoint->url()) : Json()},
          {"tables", std::move(tables)}};
}

}  // namespace

void serve_session(SessionPlace& place, ServerOptions options) {
  place.take();
  SessionCounters counters;
  std::optional<Endpoint> endpoint;
  if (!options.prometheus.empty()) endpoint.emplace(options.prometheus, counters);
  IdleEvents idle(options);
  Doorman* at_the_door = nullptr;
  Session::Options wishes = options.session;
  wishes.wanted = [&] {
    return at_the_door == nullptr ? Wanted{wishes.n_executors, wishes.least} : at_the_door->wanted();
  };
  wishes.notice = [&] {
    const bool is_told = options.session.notice && options.session.notice();
    return (at_the_door != nullptr && at_the_door->take_notice()) || is_told;
  };
  Session session(wishes, idle);
  Doorman doorman(place, options.session.n_executors, options.session.least);
  at_the_door = &doorman;
  const std::function<void()> refresh = [&] {
    doorman.set_status(status_of(session, place, endpoint));
    counters.set_executors(session.n_executors());
  };
  options.log("ready");
  try {
    while (!doorman.is_stopped() && !options.stop()) {
      refresh();
      if (const auto order = doorman.jobs().next(kPollMs)) {
        do_job(session, *order, doorman, counters, options, refresh);
      } else {
        session.idle(idle);
      }
    }
  } catch (const Interrupted&) {
    // while a group was starting
  }
  session.end();
  options.log("ended");
}

}  // namespace podere::session
