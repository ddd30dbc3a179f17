#include "podere/controller/farm_keys.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/subprocess.h"
#include "podere/base/temporary_folder.h"
#include "podere/controller/json.h"

namespace podere::controller {
namespace {

constexpr double kRetrySeconds = 15;
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

Json secret_of(const kube::ObjectKey& farm, const std::string& uid) {
  const KeyPair driver = make_pair("podere driver of farm " + farm.name);
  const KeyPair host = make_pair("podere farm " + farm.name);
  Json secret = kube::object_of(kube::kSecrets, {farm.in_namespace, key_secret_name(farm)});
  secret["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", kFarms.api_version()},
                                                        {"kind", kFarms.kind},
                                                        {"name", farm.name},
                                                        {"uid", uid},
                                                        {"controller", true}}});
  secret["type"] = "Opaque";
  secret["stringData"] = {{"ssh-privatekey", driver.secret},
                          {"ssh-publickey", driver.shown},
                          {"ssh-hostkey", host.secret},
                          {"known_hosts", "podere-farm " + host.shown}};
  return secret;
}

}  // namespace

bool wants_keys(const kube::ObjectKey& key, const FarmObject& farm) {
  if (!farm.has_template()) return false;
  for (const Json& volume : array_at(object_at(*farm.pod, {"spec"}), "volumes")) {
    if (kube::text_at(volume, {"secret", "secretName"}) == key_secret_name(key)) return true;
  }
  return false;
}

void FarmKeys::make(Pass& pass) {
  std::map<std::string, double> due_before = std::exchange(due_, {});
  for (std::size_t f = 0; f < pass.cluster.farms.size(); ++f) {
    const kube::ObjectKey& key = pass.farm_key(f);
    const FarmObject& farm = pass.farm(f);
    if (farm.is_ending || !wants_keys(key, farm)) continue;
    double& due = due_[farm.uid] = due_before[farm.uid];
    if (due <= pass.now) due = make(key, farm.uid) ? kNever : pass.now + kRetrySeconds;
    pass.look_again_at(due);
  }
}

/// Whether the farm has them.
bool FarmKeys::make(const kube::ObjectKey& key, const std::string& uid) {
  try {
    writer_.create_secret(secret_of(key, uid));
    log_(fmt::format("farm {}: made the secret {}", key.text(), key_secret_name(key)));
    return true;
  } catch (const kube::ApiError& error) {
    if (error.already_exists()) return true;
    log_(fmt::format("farm {}: {}", key.text(), error.what()));
  } catch (const Error& error) {
    log_(fmt::format("farm {}: {}", key.text(), error.what()));
  }
  return false;
}

}  // namespace podere::controller
