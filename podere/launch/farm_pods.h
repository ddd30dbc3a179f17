// The pods of a farm on Kubernetes in which executors can be started.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "podere/kube/client.h"
#include "podere/kube/store.h"
#include "podere/launch/host_file.h"
#include "podere/launch/launcher.h"

namespace podere::launch {

/// What is kept of a pod.
struct FarmPod {
  std::string address;
  bool can_be_used = false;  ///< it is ready, not ending or reclaimed, and an executor
};
FarmPod read_farm_pod(const kube::Json& pod);

/// Throws InputError if there is none, or nothing in it.
std::vector<std::byte> read_secret_field(const kube::Json& secret, const char* field);

/// Pods of one farm, as a watch reports them, and how to reach them over ssh. Thread-safe.
class FarmPods {
 public:
  /// Writes the keys of the farm's executors into `folder`. Throws InputError if there is no such farm in the namespace
  /// of `access`, no operator manages it, the user may not see it, its pods or its keys, or others than the operator
  /// made the keys.
  FarmPods(const kube::Access& access, const std::string& farm, const std::filesystem::path& folder);

  /// A host of one slot for each pod that can be used, by the names of pods.
  std::vector<Host> hosts() const;
  /// The command that reaches them.
  const std::string& ssh() const { return ssh_; }
  /// What the operator says of the farm; empty if that cannot be had now.
  std::string message();

 private:
  kube::Client client_;
  kube::ObjectKey farm_;
  std::string ssh_;
  kube::Store<FarmPod> pods_;
  std::unique_ptr<kube::Reflector> reflector_;  // goes first
};

/// In the pods of a farm. Throws InputError as FarmPods.
std::unique_ptr<Launcher> farm_launcher(const Place& place);

}  // namespace podere::launch
