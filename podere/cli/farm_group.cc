#include "podere/cli/farm_group.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/printable.h"
#include "podere/kube/access.h"
#include "podere/launch/hosts.h"

namespace podere::cli {
namespace {

constexpr double kSettleSeconds = 10;     // pods that come together are taken together
constexpr double kAskSeconds = 2;         // between two looks at what the farm says
constexpr std::size_t kMostBytes = 1000;  // of what it says
constexpr auto kBetweenLooks = std::chrono::milliseconds(100);

/// "astro", or "stars/astro" for one in another namespace than the user's.
kube::Access access_to(const std::string& farm) {
  kube::AccessOptions options;
  if (const auto slash = farm.find('/'); slash != std::string::npos) options.in_namespace = farm.substr(0, slash);
  return kube::find_access(options);
}

std::string name_of(const std::string& farm) { return farm.substr(farm.find('/') + 1); }

bool contains(const std::vector<launch::Host>& hosts, const launch::Host& host) {
  return std::ranges::find(hosts, host) != hosts.end();
}

}  // namespace

FarmGroup::FarmGroup(const GroupOptions& group, const std::filesystem::path& folder)
    : name_(name_of(group.farm)),
      folder_(folder),
      pods_(access_to(group.farm), name_, folder),
      wanted_{group.executors, group.least_executors} {}

void FarmGroup::await_room(Progress& progress) {
  const bool is_first = used_.empty();
  const int n = is_first ? wanted_.n_executors : wanted_.least;
  std::string told;
  for (Stopwatch since_asked; room() < n; std::this_thread::sleep_for(kBetweenLooks)) {
    look();
    if (is_first && room() >= wanted_.least && since_change_.seconds() >= kSettleSeconds) return;
    if (progress.stop_requested()) throw Interrupted();
    if (since_asked.seconds() < kAskSeconds) continue;
    since_asked.restart();
    const std::string message = fmt::format("farm {} has {} of {} executors ready; {}", name_, room(), n,
                                            printable_line(pods_.message(), kMostBytes));
    if (message != told) progress.warn(message);
    told = message;
  }
}

CommandLine FarmGroup::launch(int n, const std::vector<std::string>& program) {
  used_ = launch::answering(pods_.hosts(), pods_.ssh());
  has_told_of_leaving_ = false;
  if (static_cast<int>(used_.size()) < n) {
    throw session::GroupLost("an executor", fmt::format("farm {} has {} that answer", name_, used_.size()));
  }
  used_.resize(static_cast<std::size_t>(n));
  return launch::on_hosts(n, program, used_, pods_.ssh(), folder_, "farm " + name_);
}

void FarmGroup::look() {
  std::vector<launch::Host> hosts = pods_.hosts();
  if (hosts == seen_) return;
  seen_ = std::move(hosts);
  since_change_.restart();
  may_grow_ = true;
}

session::Wanted FarmGroup::wanted() {
  look();
  const bool all_stay = std::ranges::all_of(used_, [&](const auto& host) { return contains(seen_, host); });
  if (!all_stay && !std::exchange(has_told_of_leaving_, true)) ++wanted_.moves;
  const auto n_wanted = static_cast<std::size_t>(wanted_.n_executors);
  const bool is_settled = seen_.size() >= n_wanted || since_change_.seconds() >= kSettleSeconds;
  if (may_grow_ && !used_.empty() && used_.size() < std::min(seen_.size(), n_wanted) && is_settled) {
    may_grow_ = false;
    ++wanted_.request;
  }
  return wanted_;
}

}  // namespace podere::cli
