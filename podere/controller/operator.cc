#include "podere/controller/operator.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include "podere/base/clock.h"
#include "podere/base/interrupt.h"
#include "podere/controller/health_server.h"
#include "podere/controller/json.h"
#include "podere/controller/reconciler.h"
#include "podere/controller/rights.h"
#include "podere/controller/what_ifs.h"
#include "podere/kube/leader_election.h"

namespace podere::controller {
namespace {

using kube::ObjectKey;

// Changes that come together are looked at together, those of a large cluster more of them.
constexpr double kShortestBatchSeconds = 0.1;
constexpr double kLongestBatchSeconds = 1;
constexpr double kBatchPasses = 5;               // in the processor time of which one is made
constexpr double kLongestPassRetrySeconds = 15;  // of a pass that failed: guarantees wait for it
constexpr double kSilentWorkerSeconds = 600;
const ObjectKey kQuestions{"questions", ""};  // no manager's: these have no namespace
constexpr auto kPoll = std::chrono::milliseconds(100);
const kube::ClientOptions kClient = {
    .requests_per_second = 400, .burst = 800, .timeout_seconds = 10, .max_retries = 2, .manager = "podere-operator"};

/// That this thread has had a processor.
double processor_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// All that a leader does. It begins with lists that hold whatever the leader before has written.
class Leadership {
 public:
  Leadership(const kube::Access& access, const OperatorOptions& options, const std::string& identity,
             const kube::LeaderElection& election, Metrics& metrics, bool watches_quotas)
      : options_(options),
        client_(access, kClient),
        metrics_(metrics),
        stores_(
            needs_, [this] { look_at_all(); }, options.namespaces),
        questions_(question_of, [this](const auto&) { queue_.add(kQuestions); }),
        events_(client_, {.component = "podere-operator", .instance = identity, .log = options.log}),
        writer_(
            client_, [this, &election] { return !is_stopping_ && election.is_leader(); }, metrics),
        reconciler_({client_, stores_, needs_, writer_, events_, metrics, options.log},
                    {.guaranteed_priority_class = options.guaranteed_priority_class}),
        what_ifs_(writer_, stores_, options.log),
        managers_(client_, watch_of(kFarmManagers), stores_.managers),
        farms_(client_, watch_of(kFarms), stores_.farms),
        nodes_(client_, watch_of(kube::kNodes), stores_.nodes),
        pods_(client_, watch_of(kube::kPods), stores_.pods),
        asked_(client_, watch_of(kube::kWhatIfs), questions_),
        quotas_(watches_quotas
                    ? std::make_unique<kube::Reflector>(client_, watch_of(kube::kResourceQuotas), stores_.quotas)
                    : nullptr),
        worker_([this](const std::stop_token& stop) { work(stop); }) {}

  /// Writes that were begun are finished: a request or two.
  ~Leadership() {
    is_stopping_ = true;
    queue_.shut_down();
    worker_.request_stop();
    worker_.join();
  }

  bool has_synced() const {
    return managers_.has_synced() && farms_.has_synced() && nodes_.has_synced() && pods_.has_synced() &&
           asked_.has_synced() && (quotas_ == nullptr || quotas_->has_synced());
  }
  /// Of the worker, since it came round last.
  double silent_seconds() const { return is_working_ ? clock_.seconds() - began_at_ : 0; }

  void show_counts() const {
    metrics_.set_queue(queue_.counts());
    metrics_.set_watches(kFarmManagers.plural, managers_.counts());
    metrics_.set_watches(kFarms.plural, farms_.counts());
    metrics_.set_watches(kube::kNodes.plural, nodes_.counts());
    metrics_.set_watches(kube::kPods.plural, pods_.counts());
    if (quotas_ != nullptr) metrics_.set_watches(kube::kResourceQuotas.plural, quotas_->counts());
  }

 private:
  kube::ReflectorOptions watch_of(const kube::Resource& resource) const {
    return {.resource = resource, .begins_with_newest = true, .log = options_.log};
  }

  void look_at_all() {
    if (!has_begun_) return;
    const double seconds = std::clamp(kBatchPasses * pass_seconds_, kShortestBatchSeconds, kLongestBatchSeconds);
    for (const ObjectKey& key : reconciler_.keys()) queue_.add_after(key, seconds);
  }

  void work(const std::stop_token& stop) {
    while (!has_synced()) {
      if (stop.stop_requested()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    options_.log(fmt::format("knows {} farms, {} farm managers, {} pods, {} nodes", stores_.farms.size(),
                             stores_.managers.size(), stores_.pods.size(), stores_.nodes.size()));
    has_begun_ = true;
    look_at_all();
    while (const auto work = queue_.take()) {
      const double spent = processor_seconds();
      began_at_ = clock_.seconds();
      is_working_ = true;
      work_on(work->key());
      is_working_ = false;
      pass_seconds_ = processor_seconds() - spent;
    }
  }

  void work_on(const ObjectKey& key) {
    try {
      const double next_seconds =
          key == kQuestions ? what_ifs_.answer(questions_.all(), seconds_now()) : reconciler_.reconcile(key);
      queue_.forget(key);
      if (std::isfinite(next_seconds)) queue_.add_after(key, next_seconds);
    } catch (const Interrupted&) {
      // it may write no longer, and ends
    } catch (const std::exception& error) {
      metrics_.pass_failed();
      options_.log(fmt::format("{}: {}; tries again", key == kQuestions ? "what-ifs" : in_words(key), error.what()));
      queue_.retry(key);
    }
  }

  const OperatorOptions& options_;
  kube::Client client_;
  Metrics& metrics_;
  NeedsTable needs_;
  kube::WorkQueue queue_{{.longest_seconds = kLongestPassRetrySeconds}};
  std::atomic<bool> is_stopping_ = false;
  std::atomic<bool> has_begun_ = false;
  std::atomic<double> pass_seconds_ = 0;  // of the processor: waits for the API server delay no other pass
  Stores stores_;
  kube::Store<Question> questions_;
  kube::EventRecorder events_;
  Writer writer_;
  Reconciler reconciler_;
  WhatIfs what_ifs_;
  kube::Reflector managers_;
  kube::Reflector farms_;
  kube::Reflector nodes_;
  kube::Reflector pods_;
  kube::Reflector asked_;
  std::unique_ptr<kube::Reflector> quotas_;  // null: it may not see them
  const Stopwatch clock_;
  std::atomic<double> began_at_ = 0;
  std::atomic<bool> is_working_ = false;
  std::jthread worker_;
};

class OperatorProcess {
 public:
  OperatorProcess(const kube::Access& access, const OperatorOptions& options, bool watches_quotas)
      : access_(access),
        options_(options),
        watches_quotas_(watches_quotas),
        identity_(kube::unique_identity()),
        server_({.address = options.listen,
                 .fault_of_life = [this] { return fault_of_life(); },
                 .fault_of_readiness = [this] { return fault_of_readiness(); },
                 .metrics = [this] { return metrics_families(); }}) {
    options_.on_listening(server_.url());
  }

  void run() {
    kube::LeaderElection election(access_, {.lease = {options_.lease_namespace, options_.lease},
                                            .identity = identity_,
                                            .lease_seconds = options_.lease_seconds,
                                            .renew_seconds = options_.lease_seconds * 2 / 3,
                                            .retry_seconds = options_.lease_seconds * 2 / 15,
                                            .on_start = [this] { leads_ = true; },
                                            .on_lost = [this] { end_at_once(); },
                                            .log = options_.log});
    wait_while([this] { return !leads_; });
    if (options_.stop()) return;
    options_.log("leads");
    set_leadership(std::make_unique<Leadership>(access_, options_, identity_, election, metrics_, watches_quotas_));
    wait_while([] { return true; });
    options_.log("ends, and releases the lease");
    set_leadership(nullptr);
  }

 private:
  void wait_while(const std::function<bool()>& condition) {
    while (condition() && !options_.stop()) std::this_thread::sleep_for(kPoll);
  }

  /// Another may lead by now: not even destructors may write anything.
  [[noreturn]] void end_at_once() const {
    options_.log("the lease is lost: another may lead; ends at once");
    std::_Exit(1);
  }

  /// The server's threads look at it with the lock. What was there ends on this thread and without the lock, so that it
  /// has ended before the lease is released.
  void set_leadership(std::unique_ptr<Leadership> leadership) {
    const std::scoped_lock lock(mutex_);
    leadership_.swap(leadership);
  }

  std::string fault_of_life() const {
    const std::scoped_lock lock(mutex_);
    if (!leadership_ || leadership_->silent_seconds() < kSilentWorkerSeconds) return "";
    return fmt::format("one pass has run for {:.0f} s so far", leadership_->silent_seconds());
  }
  /// A candidate that waits to lead is as ready as it can be.
  std::string fault_of_readiness() const {
    const std::scoped_lock lock(mutex_);
    if (leadership_) return leadership_->has_synced() ? "" : "has not got all lists yet";
    return leads_ ? "begins to lead" : "";
  }
  std::vector<prometheus::MetricFamily> metrics_families() {
    {
      const std::scoped_lock lock(mutex_);
      metrics_.set_leading(leadership_ != nullptr);
      if (leadership_) leadership_->show_counts();
    }
    return metrics_.families();
  }

  const kube::Access access_;
  const OperatorOptions& options_;
  const bool watches_quotas_;
  const std::string identity_;
  Metrics metrics_;
  std::atomic<bool> leads_ = false;
  mutable std::mutex mutex_;
  std::unique_ptr<Leadership> leadership_;
  HealthServer server_;
};

}  // namespace

void run_operator(const kube::Access& access, const OperatorOptions& options) {
  bool watches_quotas = false;
  {
    kube::Client client(access, kClient);
    options.log(fmt::format("{}: Kubernetes {}", access.origin, kube::check_access(client)));
    check_operator(client, {{options.lease_namespace, options.lease}, options.namespaces});
    watches_quotas = may_watch_quotas(client);
  }
  if (!watches_quotas) {
    options.log(
        "may not list and watch resourcequotas: a quota that admits some of a farm's executors is seen too late");
  }
  OperatorProcess(access, options, watches_quotas).run();
}

}  // namespace podere::controller
