// Questions of users: what would happen if a farm wanted another number of executors?
#pragma once

#include <functional>
#include <string>

#include "podere/controller/reconciler.h"

namespace podere::controller {

/// As the object WhatIf has it, in the farm's namespace.
struct Question {
  std::string uid;
  std::string farm;
  int executors = 0;
  std::string mode = {};  ///< empty: that of the farm's manager
  double created = 0;
  bool is_answered = false;
};
Question question_of(const Json& what_if);

/// Answers in the status, so that users who ask need not see others' pods, and deletes what was asked a minute ago. A
/// few at a time: farms come first. Not thread-safe.
class WhatIfs {
 public:
  WhatIfs(Writer& writer, const Stores& stores, std::function<void(const std::string&)> log)
      : writer_(writer), stores_(stores), log_(std::move(log)) {}

  /// Seconds until there is more to do; kNever: until there is another question.
  double answer(const Objects<Question>& questions, double now);

 private:
  void answer(const kube::ObjectKey& key, const Question& question);

  Writer& writer_;
  const Stores& stores_;
  const std::function<void(const std::string&)> log_;
};

}  // namespace podere::controller
