#include "podere/controller/farm_keys.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "podere/base/error.h"
#include "podere/base/subprocess.h"
#include "podere/base/temporary_folder.h"
#include "podere/controller/executor_security.h"
#include "podere/controller/json.h"

namespace podere::controller {
namespace {

constexpr double kRetrySeconds = 5;
constexpr std::size_t kKeptHostKeys = 4;  // as deploy/chart/crds/farms.yaml has it
constexpr int kKeygenMs = 10000;

struct KeyPair {
  std::string secret;
  std::string shown;  // a line: type, key, comment
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || text.empty()) throw_error("ssh-keygen made no {}", path.filename().string());
  return text;
}

KeyPair make_pair(const std::string& comment) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const std::filesystem::path path = folder.path() / "key";
  Subprocess keygen(CommandLine{{"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path.string()}});
  if (const auto code = keygen.wait(kKeygenMs); code != 0) {
    throw_error("ssh-keygen (Debian: openssh-client) ended with {}", code.value_or(-1));
  }
  return {text_of(path), text_of(path.string() + ".pub")};
}

/// With nothing in it.
Json empty_secret(const kube::ObjectKey& farm, const std::string& uid) {
  Json secret = kube::object_of(kube::kSecrets, {farm.in_namespace, key_secret_name(farm)});
  secret["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", kFarms.api_version()},
                                                        {"kind", kFarms.kind},
                                                        {"name", farm.name},
                                                        {"uid", uid},
                                                        {"controller", true}}});
  secret["type"] = "Opaque";
  secret["immutable"] = true;
  return secret;
}

/// Type and key, without the comment.
std::string without_comment(const std::string& line) {
  const auto key = line.find(' ');
  return key == std::string::npos ? line : line.substr(0, line.find_first_of(" \n", key + 1));
}

std::vector<std::string> host_keys_of(const Json& status) {
  std::vector<std::string> keys;
  for (const Json& key : array_at(status, "hostKeys")) {
    if (key.is_string()) keys.push_back(key);
  }
  return keys;
}

}  // namespace

bool wants_keys(const kube::ObjectKey& key, const FarmObject& farm) {
  return farm.has_template() && mounts_keys(object_at(*farm.pod, {"spec"}), key_secret_name(key));
}

void FarmKeys::prepare(Pass& pass) {
  forget_gone(pass.view);
  for (const std::int32_t f : pass.scope.farms) {
    const auto& [key, farm] = pass.view.farms[static_cast<std::size_t>(f)];
    if (farm->is_ending || !wants_keys(key, *farm)) continue;
    Keys& keys = keys_[farm->uid];
    if (keys.due <= pass.now) look_for(key, *farm, keys, pass.now);
    pass.look_again_at(keys.due);
    if (keys.refusal.empty()) continue;
    pass.scope.blocked.insert(farm->uid);
    pass.blocked_because[farm->uid] = keys.refusal;
  }
}

void FarmKeys::look_for(const kube::ObjectKey& key, const FarmObject& farm, Keys& keys, double now) {
  keys.due = now + kRetrySeconds;
  keys.refusal.clear();
  try {
    if (keys.written.empty()) keys.written = host_keys_of(*farm.status);
    if (!is_there(key, farm.uid)) {
      make(key, farm, keys);
    } else if (keys.written.empty()) {
      keys.refusal = fmt::format(
          "the secret {0} was not made by the operator, so others may know its keys: kubectl -n {1} delete secret {0}, "
          "and the operator makes it",
          key_secret_name(key), key.in_namespace);
      return log_(fmt::format("farm {}: {}", key.text(), keys.refusal));
    }
    keys.due = kNever;
  } catch (const Error& error) {
    log_(fmt::format("farm {}: {}", key.text(), error.what()));
  }
}

void FarmKeys::make(const kube::ObjectKey& key, const FarmObject& farm, Keys& keys) {
  const KeyPair driver = make_pair("podere driver of farm " + key.name);
  const KeyPair host = make_pair("podere farm " + key.name);
  const std::string host_key = without_comment(host.shown);
  keys.written.push_back(host_key);
  if (keys.written.size() > kKeptHostKeys) keys.written.erase(keys.written.begin());
  writer_.write_status(kFarms, key, farm.uid, {{"hostKeys", keys.written}});
  Json secret = empty_secret(key, farm.uid);
  secret["stringData"] = {{"ssh-privatekey", driver.secret},
                          {kPublicKeyField, driver.shown},
                          {kHostKeyField, host.secret},
                          {"known_hosts", fmt::format("podere-farm {}\n", host_key)}};
  try {
    writer_.create_secret(secret);
  } catch (const kube::ApiError& error) {
    if (!error.already_exists()) throw;  // else the answer to the first try was lost
  }
  log_(fmt::format("farm {}: made the secret {}", key.text(), key_secret_name(key)));
}

/// Whether a secret of that name is there, which needs no right to read it.
bool FarmKeys::is_there(const kube::ObjectKey& key, const std::string& uid) {
  try {
    writer_.check_secret(empty_secret(key, uid));
    return false;
  } catch (const kube::ApiError& error) {
    if (!error.already_exists()) throw;
    return true;
  }
}

void FarmKeys::forget_gone(const ClusterView& view) {
  if (keys_.size() <= 2 * view.farms.size() + 64) return;
  std::set<std::string> there;
  for (const auto& [key, farm] : view.farms) there.insert(farm->uid);
  std::erase_if(keys_, [&](const auto& entry) { return !there.contains(entry.first); });
}

}  // namespace podere::controller
