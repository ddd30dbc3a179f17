// The operator: carries the farm policy out on a Kubernetes cluster.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "podere/kube/access.h"

namespace podere::controller {

struct OperatorOptions {
  std::string lease_namespace = "default";
  std::string lease = "podere-operator";  ///< of several operators that name the same one is at work
  double lease_seconds = 15;              ///< after which another takes over from one that does not renew it
  std::string listen = "127.0.0.1:8080";  ///< /livez, /readyz, /metrics; port 0: any that is free
  std::string guaranteed_priority_class = {};
  std::vector<std::string> namespaces = {};     ///< whose farms it looks after; empty: all
  std::function<bool()> stop;                   ///< asked several times a second; may become true in a signal handler
  std::function<void(const std::string&)> log;  ///< a line: what happened, and why. From any thread
  std::function<void(const std::string&)> on_listening = [](const std::string&) {};  ///< "http://..."
};

/// Works until it is stopped, as leader or waiting to be one, and releases the lease. When the lease is lost the
/// process ends at once, with one line and exit code 1: nothing that it knows can be trusted from then on. Throws
/// InputError if the cluster cannot be used.
void run_operator(const kube::Access& access, const OperatorOptions& options);

}  // namespace podere::controller
