// Whether the operator can work at all, asked before it begins.
#pragma once

#include <string>

#include "podere/kube/client.h"

namespace podere::controller {

/// Throws InputError, in words for the user, if the cluster does not know farms, or if whoever asks lacks a right that
/// the operator needs: all that are lacking, on one line.
void check_cluster(kube::Client& client, const std::string& lease_namespace);

}  // namespace podere::controller
