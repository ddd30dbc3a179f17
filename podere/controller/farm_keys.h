// The keys by which drivers reach a farm's executors.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "podere/controller/pass.h"
#include "podere/controller/writer.h"

namespace podere::controller {

using kube::key_secret_name;

/// Whether the farm's template mounts it.
bool wants_keys(const kube::ObjectKey& key, const FarmObject& farm);

/// Makes the secret of each farm whose template mounts it: two ed25519 keys by ssh-keygen, one of drivers and one of
/// the hosts, which are all of the farm's. It goes with the farm. Not thread-safe.
class FarmKeys {
 public:
  FarmKeys(Writer& writer, std::function<void(const std::string&)> log) : writer_(writer), log_(std::move(log)) {}

  /// For the farms of a pass; what fails is logged, and tried again some seconds later.
  void make(Pass& pass);

 private:
  bool make(const kube::ObjectKey& key, const std::string& uid);

  Writer& writer_;
  const std::function<void(const std::string&)> log_;
  std::map<std::string, double> due_;  // when to try, by UID of the farm; kNever: it has them
};

}  // namespace podere::controller
