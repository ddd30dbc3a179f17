// Credentials that another program gives. Source: Kubernetes, "client-go credential plugins".
#pragma once

#include <optional>
#include <string>

#include "podere/kube/credentials.h"
#include "podere/kube/time.h"

namespace podere::kube {

struct ProgramCredentials {
  Credentials credentials;
  std::optional<Time> expiry;
};

/// What such a program printed. Throws InputError that says what is wrong with it.
ProgramCredentials read_exec_credential(const std::string& text, const std::string& api_version);

}  // namespace podere::kube
