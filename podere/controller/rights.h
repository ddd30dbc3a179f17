// Whether whoever asks may do what is to be done, asked before it begins.
#pragma once

#include <string>

#include "podere/kube/client.h"

namespace podere::controller {

/// Of the operator. Throws InputError, in words for the user, if the cluster does not know farms, or if whoever asks
/// lacks a right that is needed: all that are lacking, on one line.
void check_operator(kube::Client& client, const std::string& lease_namespace);

/// Of whoever only looks at all farms and what they share. Throws as check_operator().
void check_reader(kube::Client& client);

}  // namespace podere::controller
