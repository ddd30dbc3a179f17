#include "podere/launch/farm_pods.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "podere/base/atomic_file.h"
#include "podere/base/base64.h"
#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/kube/farm_kinds.h"

namespace podere::launch {
namespace {

constexpr double kFirstListSeconds = 30;
constexpr double kOperatorSeconds = 10;  // from a new farm to its first status
constexpr auto kBetweenLooks = std::chrono::milliseconds(200);

bool is_ready(const kube::Json& pod) {
  const kube::Json conditions = pod.value(kube::Json::json_pointer("/status/conditions"), kube::Json::array());
  return std::ranges::any_of(conditions, [](const kube::Json& condition) {
    return kube::text_at(condition, {"type"}) == "Ready" && kube::text_at(condition, {"status"}) == "True";
  });
}

/// Words of an annotation of the farm, which go into a file of options.
std::string option_of(const kube::Json& farm, const char* name, const char* otherwise) {
  const std::string_view text = kube::text_at(farm, {"metadata", "annotations", name});
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (text.find_first_not_of(kAllowed) != std::string_view::npos) {
    throw_input_error("--farm: the annotation {} of the farm is '{}', allowed are letters, digits, . _ and -", name,
                      text);
  }
  return std::string(text.empty() ? otherwise : text);
}

/// What the user asks for, or one line on why it cannot be had.
kube::Json find(kube::Client& client, const kube::Resource& resource, const kube::ObjectKey& key) {
  try {
    std::optional<kube::Json> object = client.find(resource, key);
    if (object) return *std::move(object);
  } catch (const kube::ApiError& error) {
    if (!error.is_forbidden()) throw;
    throw_input_error("--farm: you may not see it: {}; deploy/farm-user.sh NAMESPACE/FARM USER gives the rights",
                      error.what());
  }
  throw_input_error("--farm: there is no {} {} ({})", resource.kind, key.text(), client.access().origin);
}

/// The farm, once the operator has seen it.
kube::Json find_looked_after(kube::Client& client, const kube::ObjectKey& farm) {
  for (const Stopwatch watch; watch.seconds() < kOperatorSeconds; std::this_thread::sleep_for(kBetweenLooks)) {
    kube::Json object = find(client, kube::kFarms, farm);
    if (!kube::text_at(object, {"status", "selector"}).empty()) return object;
  }
  throw_input_error("--farm: no operator looks after farm {} ({}): podere operator has to run in the cluster",
                    farm.text(), client.access().origin);
}

/// The secret of the farm's keys, if the operator made it: it wrote the host key to the farm's status before, which
/// no other user may write. The keys of any other secret may be known to its maker.
kube::Json find_keys(kube::Client& client, const kube::ObjectKey& farm) {
  const kube::ObjectKey key{farm.in_namespace, kube::key_secret_name(farm)};
  kube::Json secret = find(client, kube::kSecrets, key);
  const std::vector<std::byte> bytes = read_secret_field(secret, "known_hosts");
  const std::string_view known{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const kube::Json farm_now = find(client, kube::kFarms, farm);
  const kube::Json written = farm_now.value(kube::Json::json_pointer("/status/hostKeys"), kube::Json::array());
  const bool is_made_by_operator = std::ranges::any_of(written, [&](const kube::Json& host_key) {
    return host_key.is_string() && known == fmt::format("podere-farm {}\n", host_key.get<std::string>());
  });
  if (is_made_by_operator) return secret;
  throw_input_error(
      "--farm: the secret {0} was not made by the operator, so others may know its keys: kubectl -n {1} delete secret "
      "{0}, and the operator makes it",
      key.name, key.in_namespace);
}

void write_private(const std::filesystem::path& path, const kube::Json& secret, const char* name) {
  const std::vector<std::byte> bytes = read_secret_field(secret, name);
  AtomicFile file(path);
  std::filesystem::permissions(file.temporary_path(),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  file.commit_unflushed();
}

/// The command for all pods of a farm, which share one host key as they share the other.
std::string write_ssh_options(const kube::Json& farm, const kube::Json& secret, const std::filesystem::path& folder) {
  write_private(folder / "farm-key", secret, "ssh-privatekey");
  write_private(folder / "farm-hosts", secret, "known_hosts");
  AtomicFile file(folder / "farm-ssh");
  file.write(
      fmt::format("User {}\nPort {}\nIdentityFile {}\nIdentitiesOnly yes\nForwardAgent no\nUserKnownHostsFile "
                  "{}\nGlobalKnownHostsFile /dev/null\n"
                  "HostKeyAlias podere-farm\nStrictHostKeyChecking yes\nLogLevel ERROR\n",
                  option_of(farm, "podere.dev/ssh-user", "podere"), option_of(farm, "podere.dev/ssh-port", "2222"),
                  (folder / "farm-key").string(), (folder / "farm-hosts").string()));
  file.commit_unflushed();
  return fmt::format("ssh -F {}", (folder / "farm-ssh").string());
}

}  // namespace

std::vector<std::byte> read_secret_field(const kube::Json& secret, const char* field) {
  std::vector<std::byte> bytes;
  try {
    bytes = from_base64(std::string(kube::text_at(secret, {"data", field})));
  } catch (const Error&) {
    // as if there were nothing
  }
  if (bytes.empty()) {
    throw_input_error("--farm: secret {} has no {}; podere operator makes one that has, when there is none",
                      kube::key_of(secret).text(), field);
  }
  return bytes;
}

FarmPod read_farm_pod(const kube::Json& pod) {
  const std::string_view address = kube::text_at(pod, {"status", "podIP"});
  const auto has_role = [&](const char* label) {
    return kube::text_at(pod, {"metadata", "labels", label}) == "driver";
  };
  const bool is_driver = has_role(kube::kRoleLabel) || has_role("spark-role");
  const bool is_asked_to_go = !kube::text_at(pod, {"metadata", "deletionTimestamp"}).empty() ||
                              !kube::text_at(pod, {"metadata", "annotations", kube::kReclaimDeadline}).empty();
  return {std::string(address), !address.empty() && is_ready(pod) && !is_asked_to_go && !is_driver};
}

FarmPods::FarmPods(const kube::Access& access, const std::string& farm, const std::filesystem::path& folder)
    : client_(access), farm_{access.in_namespace, farm}, pods_(read_farm_pod) {
  kube::check_access(client_);
  const kube::Json object = find_looked_after(client_, farm_);
  const std::string_view selector = kube::text_at(object, {"status", "selector"});
  ssh_ = write_ssh_options(object, find_keys(client_, farm_), folder);
  reflector_ = std::make_unique<kube::Reflector>(
      client_,
      kube::ReflectorOptions{.resource = kube::kPods,
                             .query = {.in_namespace = access.in_namespace, .labels = std::string(selector)}},
      pods_);
  if (!reflector_->wait_until_synced(kFirstListSeconds)) {
    client_.list(kube::kPods, {.in_namespace = access.in_namespace, .labels = std::string(selector)});  // says why
    throw_error("--farm: the pods of farm {} could not be listed within {:g} s", farm_.text(), kFirstListSeconds);
  }
}

std::vector<Host> FarmPods::hosts() const {
  std::vector<Host> hosts;
  for (const auto& [key, pod] : pods_.all()) {
    if (pod->can_be_used) hosts.push_back({pod->address, 1});
  }
  return hosts;
}

std::string FarmPods::message() {
  try {
    const auto farm = client_.find(kube::kFarms, farm_);
    return farm ? std::string(kube::text_at(*farm, {"status", "message"})) : "it is no longer there";
  } catch (const Error&) {
    return "";  // of use to people only: asked again soon
  }
}

}  // namespace podere::launch
