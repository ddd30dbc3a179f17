#include "podere/cli/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "podere/base/printable.h"
#include "podere/cli/print.h"

namespace podere::cli {
namespace {

/// What of their settings all trials share.
Json shared_setting(const std::vector<Json>& trials) {
  Json shared = Json::object();
  if (trials.size() < 2) return shared;
  for (const auto& [name, value] : trials.front().at("setting").items()) {
    const bool is_same = std::ranges::all_of(trials, [&name = name, &value = value](const Json& trial) {
      return trial.at("setting").value(name, Json()) == value;
    });
    if (is_same) shared[name] = value;
  }
  return shared;
}

bool has_standard_error(const Json& trial) { return trial.at("facts").contains("standard_error"); }

/// Two digits of it: "0.0052".
std::string standard_error_text(const Json& trial) {
  return has_standard_error(trial) ? fmt::format("{:.2g}", trial.at("facts").at("standard_error").get<double>()) : "";
}

}  // namespace

std::string setting_text(const Json& setting, const Json& but) {
  std::string text;
  for (const auto& [name, value] : setting.items()) {
    if (but.contains(name)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", in_words(name), value_text(value));
  }
  return text;
}

void sort_trials(std::vector<Json>& trials, bool is_maximized) {
  const double sign = is_maximized ? -1 : 1;
  std::ranges::stable_sort(trials, {}, [&](const Json& trial) {
    const Json& value = trial.at("score");
    return std::pair(value.is_null(), value.is_null() ? 0 : sign * value.get<double>());
  });
}

std::string trials_text(const std::vector<Json>& trials, const std::string& score, std::size_t n_shown) {
  if (trials.empty()) return "no trial was measured\n";
  const Json shared = shared_setting(trials);
  const bool has_errors = std::ranges::any_of(trials, &has_standard_error);
  std::vector<std::string> head = {"trial", measure_in_words(score), "after", "state", "setting"};
  if (has_errors) head.insert(head.begin() + 2, "±");
  TextTable table(std::move(head), true);
  for (std::size_t i = 0; i < std::min(trials.size(), n_shown); ++i) {
    const Json& trial = trials[i];
    std::vector<std::string> line = {number(trial.at("trial")), number(trial.at("score")), number(trial.at("budget")),
                                     trial.at("state").get<std::string>(), setting_text(trial.at("setting"), shared)};
    if (has_errors) line.insert(line.begin() + 2, standard_error_text(trial));
    table.add(std::move(line));
  }
  std::string text = table.text();
  if (trials.size() > n_shown) text += fmt::format("... and {} more\n", trials.size() - n_shown);
  constexpr std::size_t kMostCauses = 3;
  std::size_t n_failed = 0;
  for (const Json& trial : trials) {
    if (trial.at("state") != "failed" || ++n_failed > kMostCauses) continue;
    text += fmt::format("Trial {} failed: {}\n", trial.at("trial").get<int>(),
                        printable_line(trial.at("facts").value("error", "its cause was not kept"), 300));
  }
  if (n_failed > kMostCauses) text += fmt::format("... and {} more failed\n", n_failed - kMostCauses);
  if (!shared.empty()) text += fmt::format("All have {}.\n", setting_text(shared));
  return text;
}

}  // namespace podere::cli
