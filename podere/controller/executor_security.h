// What executors may do, which a template need not spell out, and what they must never hold.
#pragma once

#include <string>

#include "podere/controller/json.h"

namespace podere::controller {

/// What executors get of the key secret: sshd's own key, and the public key of drivers.
inline constexpr const char* kHostKeyField = "ssh-hostkey";
inline constexpr const char* kPublicKeyField = "ssh-publickey";

/// Completes the spec of an executor pod. Where it says nothing: no service-account token, no root, no privilege
/// escalation, no capabilities, the runtime's seccomp profile. Volumes of `key_secret` hold the two fields above,
/// whatever the spec says, readable by the pod's fsGroup if it has one.
void secure_executor(Json& spec, const std::string& key_secret);

/// Why a template would give executors the drivers' private key in a way that secure_executor() cannot narrow (an
/// environment variable, a projected volume); empty: it does not.
std::string misused_keys(const Json& spec, const std::string& key_secret);

/// Whether a volume of the spec is of `key_secret`.
bool mounts_keys(const Json& spec, const std::string& key_secret);

}  // namespace podere::controller
