// The pods of a farm, which come and go.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/printable.h"
#include "podere/kube/access.h"
#include "podere/launch/farm_pods.h"
#include "podere/launch/hosts.h"
#include "podere/launch/local.h"

namespace podere::launch {
namespace {

constexpr double kSettleSeconds = 10;            // pods that come together are used together
constexpr double kAskSeconds = 2;                // between two looks at what the farm says
constexpr std::size_t kMostMessageBytes = 1000;  // of what it says
constexpr auto kBetweenLooksAtFarm = std::chrono::milliseconds(100);

/// "astro", or "stars/astro" for one in another namespace than the user's.
kube::Access access_to(const std::string& farm) {
  kube::AccessOptions options;
  if (const auto slash = farm.find('/'); slash != std::string::npos) options.in_namespace = farm.substr(0, slash);
  return kube::find_access(options);
}

std::string name_of(const std::string& farm) { return farm.substr(farm.find('/') + 1); }

bool contains(const std::vector<Host>& hosts, const Host& host) {
  return std::ranges::find(hosts, host) != hosts.end();
}

/// Chooses pods for a group, and notices when it should choose again.
class FarmLauncher final : public Launcher {
 public:
  explicit FarmLauncher(const Place& place)
      : name_(name_of(place.farm)),
        place_(checked(place)),
        pods_(access_to(place.farm), name_, place.folder),
        wanted_(place.wanted) {}

  /// In `n_executors` pods.
  CommandLine command(int n_executors) override;
  /// How many pods can be used.
  std::optional<int> room() override { return n_usable(); }
  /// Asks again for as many as at first when more pods have come to stay, and to move when one in use is to go.
  std::optional<Wanted> wanted() override;
  bool makes_wait() const override { return true; }
  /// Before the first start, until the farm has the executors that are wanted, or enough of them and no more come; then
  /// while there are fewer than are enough.
  void await_room(Progress& progress) override;

 private:
  static const Place& checked(const Place& place) {
    find_mpirun();
    check_ssh("ssh");
    check_open_files(place.wanted.n_executors);
    check_session_folder(place.folder, place.wanted.n_executors);
    return place;
  }
  int n_usable() const { return static_cast<int>(pods_.hosts().size()); }
  void look();

  const std::string name_;
  const Place place_;
  FarmPods pods_;
  Wanted wanted_;
  std::vector<Host> seen_;
  Stopwatch since_change_;  // of what was seen
  std::vector<Host> used_;
  bool has_warned_of_leaving_ = false;  // of one in use
  bool may_grow_ = true;                // with what was seen
};

void FarmLauncher::await_room(Progress& progress) {
  const bool is_first = used_.empty();
  const int n = is_first ? wanted_.n_executors : wanted_.least;
  std::string last_warning;
  for (Stopwatch since_asked; n_usable() < n; std::this_thread::sleep_for(kBetweenLooksAtFarm)) {
    look();
    if (is_first && n_usable() >= wanted_.least && since_change_.seconds() >= kSettleSeconds) return;
    if (progress.stop_requested()) throw Interrupted();
    if (since_asked.seconds() < kAskSeconds) continue;
    since_asked.restart();
    const std::string message = fmt::format("farm {} has {} of {} executors ready; {}", name_, n_usable(), n,
                                            printable_line(pods_.message(), kMostMessageBytes));
    if (message != last_warning) progress.warn(message);
    last_warning = message;
  }
}

CommandLine FarmLauncher::command(int n_executors) {
  used_ = answering(pods_.hosts(), pods_.ssh());
  has_warned_of_leaving_ = false;
  if (static_cast<int>(used_.size()) < n_executors) {
    throw TooFew("an executor", fmt::format("farm {} has {} that answer", name_, used_.size()));
  }
  used_.resize(static_cast<std::size_t>(n_executors));
  return on_hosts(n_executors, place_.program, used_, pods_.ssh(), place_.folder, "farm " + name_);
}

void FarmLauncher::look() {
  std::vector<Host> hosts = pods_.hosts();
  if (hosts == seen_) return;
  seen_ = std::move(hosts);
  since_change_.restart();
  may_grow_ = true;
}

std::optional<Wanted> FarmLauncher::wanted() {
  look();
  const bool all_stay = std::ranges::all_of(used_, [&](const auto& host) { return contains(seen_, host); });
  if (!all_stay && !std::exchange(has_warned_of_leaving_, true)) ++wanted_.moves;
  const auto n_wanted = static_cast<std::size_t>(wanted_.n_executors);
  const bool is_settled = seen_.size() >= n_wanted || since_change_.seconds() >= kSettleSeconds;
  if (may_grow_ && !used_.empty() && used_.size() < std::min(seen_.size(), n_wanted) && is_settled) {
    may_grow_ = false;
    ++wanted_.request;
  }
  return wanted_;
}

}  // namespace

std::unique_ptr<Launcher> farm_launcher(const Place& place) { return std::make_unique<FarmLauncher>(place); }

}  // namespace podere::launch
