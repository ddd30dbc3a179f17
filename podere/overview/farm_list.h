// The farms that a user may see, as they are now.
#pragma once

#include <string>

#include "podere/base/json.h"
#include "podere/kube/client.h"

namespace podere::overview {

/// farm_facts of the farms of a namespace, or, if that is empty, of all namespaces, by namespace and name. Of what the
/// API server has at hand. Throws InputError where the user may not see them, or where the cluster has no such kind;
/// ApiError and ConnectionError otherwise.
Json list_farms(kube::Client& client, const std::string& in_namespace, const std::stop_token& stop = {});

struct Question {
  kube::ObjectKey farm;
  int executors = 0;             ///< that it would want
  std::string mode = {};         ///< of its manager, such as "FairShare"; empty: that which it has
  double patience_seconds = 20;  ///< another operator may have to take over
};

/// What the operator answers: {"text": lines, "answer": as podere farm what-if --json}. Makes an object WhatIf, waits
/// for its status and deletes it. Throws InputError where the user may not ask, no operator answers in time, or the
/// operator refuses the question.
Json ask_what_if(kube::Client& client, const Question& question);

}  // namespace podere::overview
