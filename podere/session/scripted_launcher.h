// A launcher whose executors are a few lines of shell, for tests.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "podere/session/session.h"

namespace podere::session {

/// What is unset does as Launcher does.
struct ScriptedLauncher final : launch::Launcher {
  CommandLine command(int n_executors) override { return launch(n_executors); }
  std::optional<int> room() override { return there ? std::optional(there()) : std::nullopt; }
  bool makes_wait() const override { return static_cast<bool>(await); }
  void await_room(Progress& progress) override {
    if (await) await(progress);
  }

  std::function<CommandLine(int n_executors)> launch;
  std::function<int()> there;
  std::function<void(Progress& progress)> await;
};

/// That of `options`, which has no other.
inline ScriptedLauncher& scripted(Session::Options& options) {
  if (!options.launcher) options.launcher = std::make_shared<ScriptedLauncher>();
  return static_cast<ScriptedLauncher&>(*options.launcher);
}

}  // namespace podere::session
