// Telling users of farms and managers how they stand.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "podere/controller/farm_status.h"
#include "podere/controller/pass.h"
#include "podere/kube/event_recorder.h"

namespace podere::controller {

/// Writes statuses when there is more to tell, and events when something begins or ends.
class Reporter {
 public:
  Reporter(Writer& writer, kube::EventRecorder& events, Metrics& metrics, std::function<void(const std::string&)> log)
      : writer_(writer), events_(events), metrics_(metrics), log_(std::move(log)) {}

  /// After a decision was carried out. Throws as Writer, but for objects that have gone.
  void report(Pass& pass);

 private:
  /// What was told of an object, by its UID.
  struct Told {
    Json status = {};  ///< as it was written; null: not by this process
    double status_at = 0;
    std::string trouble = {};  ///< of which there is an event
    double below_since = 0;    ///< its guarantee; 0: it is not
    bool had_to_wait = false;  ///< for more than a start, while it was
  };

  void report_farm(Pass& pass, std::size_t farm, const std::string& sentence);
  void report_manager(Pass& pass);
  void note_trouble(const Pass& pass, std::size_t farm, const std::string& reason, const std::string& message);
  void note_guarantee(const Pass& pass, std::size_t farm, const Condition& condition);
  /// `make` gives the status as JSON from the one before.
  void write(Pass& pass, const kube::Resource& resource, const kube::ObjectKey& key, const std::string& uid,
             const Json& on_server, const std::function<Json(const Json& before)>& make);
  void forget_gone(const ClusterView& view);

  Writer& writer_;
  kube::EventRecorder& events_;
  Metrics& metrics_;
  const std::function<void(const std::string&)> log_;
  std::map<std::string, Told> told_;
};

}  // namespace podere::controller
