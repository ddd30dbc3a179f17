// The pods that the operator makes.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "podere/controller/farm_object.h"

namespace podere::controller {

struct ExecutorPodOptions {
  std::string name;
  std::string preferred_node = {};  ///< empty: any
  std::string priority_class = {};  ///< unless the template names one; empty: none
  bool shows_missing = false;       ///< as the pod then says
  double most_drain_seconds = 1e9;  ///< whatever the farm and its template say
};

/// From the template of the farm, which owns it, secured by secure_executor(). Precondition: the farm has a template.
Json executor_pod(const kube::ObjectKey& farm_key, const FarmObject& farm, const ExecutorPodOptions& options);

/// Names FARM-0, FARM-1 and so on, the first that is free. An operator that creates the same executor again, as it
/// does not know that it was replaced, creates nothing.
class ExecutorNames {
 public:
  ExecutorNames(const kube::ObjectKey& farm, std::function<bool(const kube::ObjectKey&)> name_exists)
      : farm_(farm), name_exists_(std::move(name_exists)) {}
  std::string next();

 private:
  const kube::ObjectKey farm_;
  const std::function<bool(const kube::ObjectKey&)> name_exists_;
  int next_ = 0;
};

}  // namespace podere::controller
