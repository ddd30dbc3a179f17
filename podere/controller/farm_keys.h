// The keys by which drivers reach a farm's executors.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "podere/controller/pass.h"
#include "podere/controller/writer.h"

namespace podere::controller {

using kube::key_secret_name;

/// Whether the farm's template mounts it.
bool wants_keys(const kube::ObjectKey& key, const FarmObject& farm);

/// Makes the secret of each farm whose template mounts it: two ed25519 keys by ssh-keygen, one of drivers and one of
/// the hosts, which are all of the farm's. It goes with the farm, and cannot be changed. Before it is made, its host
/// key is written to status.hostKeys, which only the operator may write: a secret of that name that is there while
/// none is written was made by others, who know its keys. Of such a farm no pods are made. Not thread-safe.
class FarmKeys {
 public:
  FarmKeys(Writer& writer, std::function<void(const std::string&)> log) : writer_(writer), log_(std::move(log)) {}

  /// For the farms of a pass, before it decides; what fails is logged, and tried again some seconds later.
  void prepare(Pass& pass);

 private:
  struct Keys {
    double due = 0;                         ///< when to try; kNever: it has them
    std::vector<std::string> written = {};  ///< of status.hostKeys, where the watch does not show it by now
    std::string refusal = {};               ///< why the secret is not used
  };
  void look_for(const kube::ObjectKey& key, const FarmObject& farm, Keys& keys, double now);
  void make(const kube::ObjectKey& key, const FarmObject& farm, Keys& keys);
  bool is_there(const kube::ObjectKey& key, const std::string& uid);
  void forget_gone(const ClusterView& view);

  Writer& writer_;
  const std::function<void(const std::string&)> log_;
  std::map<std::string, Keys> keys_;  // by UID of the farm
};

}  // namespace podere::controller
