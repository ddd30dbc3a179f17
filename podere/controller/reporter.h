// Reports the state of farms and managers to users.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "podere/controller/farm_status.h"
#include "podere/controller/pass.h"
#include "podere/controller/status_writer.h"
#include "podere/kube/event_recorder.h"

namespace podere::controller {

/// Submits statuses when there is something new to report, and events when something begins or ends.
class Reporter {
 public:
  Reporter(StatusWriter& statuses, kube::EventRecorder& events, Metrics& metrics)
      : statuses_(statuses), events_(events), metrics_(metrics) {}

  /// After a decision was carried out.
  void report(const Pass& pass);

 private:
  /// What was reported of an object, by its UID.
  struct Reported {
    Json status = {};          ///< as it was submitted; null: not by this process
    std::string trouble = {};  ///< of which there is an event
    double below_since = 0;    ///< its guarantee; 0: it is not
    bool had_to_wait = false;  ///< for more than a start, while it was
  };

  /// Whether it has what it is guaranteed.
  bool report_farm(const Pass& pass, std::size_t farm, const std::string& sentence);
  void report_manager(const Pass& pass, std::int64_t n_content);
  void note_trouble(const Pass& pass, std::size_t farm, const std::string& reason, const std::string& message);
  void note_guarantee(const Pass& pass, std::size_t farm, const Condition& condition);
  /// `make` makes the status as JSON from the one before.
  void submit(const StatusSubject& subject, const Json& on_server, const std::function<Json(const Json& before)>& make);
  void forget_gone(const ClusterView& view);

  StatusWriter& statuses_;
  kube::EventRecorder& events_;
  Metrics& metrics_;
  std::map<std::string, Reported> reported_;
};

}  // namespace podere::controller
