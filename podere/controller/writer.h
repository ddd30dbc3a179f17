// All that the operator writes, by who leads only.
#pragma once

#include <functional>
#include <string>

#include "podere/controller/metrics.h"
#include "podere/kube/client.h"
#include "podere/kube/farm_kinds.h"

namespace podere::controller {

using kube::Json;

/// Each write asks first whether this process may write, and throws Interrupted if not; then as kube::Client. Objects
/// are named with their UIDs: one of the same name that came after is left alone. Thread-safe.
class Writer {
 public:
  Writer(kube::Client& client, std::function<bool()> may_write, Metrics& metrics)
      : client_(client), may_write_(std::move(may_write)), metrics_(metrics) {}

  Json create_pod(const Json& pod);
  /// Throws what create_pod() would, and makes nothing.
  void check_pod(const Json& pod);
  void create_secret(const Json& secret);
  /// Throws what create_secret() would, and makes nothing.
  void check_secret(const Json& secret);
  void annotate_pod(const kube::ObjectKey& pod, const std::string& uid, const Json& annotations);
  /// SIGTERM now, SIGKILL after `grace_seconds`, 1 at least: 0 would forget the pod while it runs.
  void delete_pod(const kube::ObjectKey& pod, const std::string& uid, double grace_seconds);
  void delete_what_if(const kube::ObjectKey& what_if, const std::string& uid);
  void write_status(const kube::Resource& resource, const kube::ObjectKey& key, const std::string& uid,
                    const Json& status);

 private:
  Json counted(const char* what, const std::function<Json()>& write);

  kube::Client& client_;
  const std::function<bool()> may_write_;
  Metrics& metrics_;
};

}  // namespace podere::controller
