// How long certificates and tokens hold.
#pragma once

#include <optional>
#include <string>

#include "podere/kube/time.h"

namespace podere::kube {

/// When the first certificate of a PEM text ends to hold. Throws InputError, such as "holds no certificate (PEM)", if
/// there is none.
Time expiry_of_certificate(const std::string& pem);

/// When a token expires, if it says so (JSON Web Token, RFC 7519, "exp").
std::optional<Time> expiry_of_token(const std::string& token);

}  // namespace podere::kube
