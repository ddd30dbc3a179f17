#include "podere/launch/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <sstream>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/launch/local.h"

namespace podere::launch {
namespace {

constexpr int kStartConnectSeconds = 10;
constexpr int kProbeConnectSeconds = 5;
constexpr int kProbeSeconds = 10;
constexpr std::size_t kProbesAtOnce = 64;

/// `ssh` with options after the user's own, of which it uses the first: no question, no endless waiting.
std::string quiet(const std::string& ssh, int connect_seconds) {
  return fmt::format("{} -o BatchMode=yes -o ConnectTimeout={}", ssh, connect_seconds);
}

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool is_this_machine(const std::string& name) {
  std::array<char, 256> own = {};
  gethostname(own.data(), own.size() - 1);
  return name == "localhost" || name == own.data();
}

/// Asks a few hosts; appends those that answer.
void probe(std::span<const Host> hosts, const std::string& ssh, std::vector<Host>& there) {
  std::vector<Subprocess> probes;
  for (const Host& host : hosts) {
    auto argv = is_this_machine(host.name) ? std::vector<std::string>{} : words_of(quiet(ssh, kProbeConnectSeconds));
    if (!argv.empty()) argv.push_back(host.name);
    argv.emplace_back("true");
    probes.emplace_back(CommandLine{argv});
  }
  const Stopwatch watch;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto left_ms = static_cast<int>(std::max(0.0, 1000 * (kProbeSeconds - watch.seconds())));
    if (probes[i].wait(left_ms) == 0) there.push_back(hosts[i]);
  }
}

}  // namespace

CommandLine on_hosts(int n_executors, const std::vector<std::string>& program, const std::vector<Host>& hosts,
                     const std::string& ssh, const std::filesystem::path& folder, const std::string& host_file) {
  if (n_executors < 1) throw_input_error("{} executors: at least 1 is needed", n_executors);
  if (n_executors > n_slots(hosts)) {
    throw_input_error("{} executors: the hosts of {} have {} slots in all", n_executors, host_file, n_slots(hosts));
  }
  std::string names;
  for (const Host& host : hosts) names += fmt::format("{}{}:{}", names.empty() ? "" : ",", host.name, host.slots);
  CommandLine command{
      .argv = {"mpirun", "-n", std::to_string(n_executors), "--map-by", "node", "--host", names},
      .environment =
          {
              {"OMPI_MCA_plm", "rsh"},
              {"OMPI_MCA_plm_rsh_agent", quiet(ssh, kStartConnectSeconds)},
              // Hosts need not reach each other by ssh, of which the user may have the only key.
              {"OMPI_MCA_plm_rsh_no_tree_spawn", "1"},
              {"OMPI_MCA_orte_keep_fqdn_hostnames", "1"},  // ssh is to get names as they are in the file
              // A host that lost its power is noticed after 10 + 5 x 2 s, not after 8 minutes.
              {"OMPI_MCA_oob_tcp_keepalive_time", "10"},
              {"OMPI_MCA_oob_tcp_keepalive_intvl", "2"},
              {"OMPI_MCA_oob_tcp_keepalive_probes", "5"},
              {"OMPI_MCA_pml", "ob1"},
              {"OMPI_MCA_btl", "tcp,vader,self"},
              {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
              {"PMIX_MCA_gds", "hash"},  // as for executors here
              // Executors share cores: none is bound to one, and who waits sleeps (comm/patience.h).
              {"OMPI_MCA_mpi_yield_when_idle", "0"},
              {"OMPI_MCA_hwloc_base_binding_policy", "none"},
              // Open MPI's own variable for this would hold on the hosts too, where there is no such folder.
              {"TMPDIR", folder.string()},
              {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
              {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          },
      // Podere may itself run inside a job. Of OMPI_MCA_ variables those stay that users may need, such as
      // OMPI_MCA_btl_tcp_if_include.
      .without = {"OMPI_COMM_", "OMPI_UNIVERSE", "OMPI_APP_", "OMPI_FIRST_", "OMPI_NUM_", "OMPI_FILE_", "OMPI_ARGV",
                  "OMPI_COMMAND", "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_MCA_ras", "OMPI_MCA_rmaps",
                  "ORTE_", "PMIX_", "PMI_", "SLURM_"},
  };
  command.argv.insert(command.argv.end(), program.begin(), program.end());
  return command;
}

std::vector<Host> answering(const std::vector<Host>& hosts, const std::string& ssh) {
  std::vector<Host> there;
  for (std::size_t i = 0; i < hosts.size(); i += kProbesAtOnce) {
    probe(std::span(hosts).subspan(i, std::min(kProbesAtOnce, hosts.size() - i)), ssh, there);
  }
  return there;
}

namespace {

class HostsLauncher final : public Launcher {
 public:
  explicit HostsLauncher(const Place& place) : place_(place), hosts_(read_hosts(place.hosts)) {
    const int n_executors = place.wanted.n_executors;
    find_mpirun();
    check_ssh(place.ssh);
    check_open_files(n_executors);
    check_session_folder(place.folder, n_executors);
    on(n_executors);  // more than there are slots are refused now
  }
  CommandLine command(int n_executors) override {
    if (n_executors <= n_slots(hosts_)) return on(n_executors);
    throw_error("the hosts that still answer have {} slots, {} executors are too many", n_slots(hosts_), n_executors);
  }
  /// Hosts that do not answer are not asked again.
  std::optional<int> room() override {
    hosts_ = answering(hosts_, place_.ssh);
    return n_slots(hosts_);
  }

 private:
  CommandLine on(int n_executors) const {
    return on_hosts(n_executors, place_.program, hosts_, place_.ssh, place_.folder, place_.hosts);
  }
  const Place place_;
  std::vector<Host> hosts_;
};

}  // namespace

std::unique_ptr<Launcher> hosts_launcher(const Place& place) { return std::make_unique<HostsLauncher>(place); }

void check_ssh(const std::string& ssh) {
  const auto words = words_of(ssh);
  if (words.empty()) throw_input_error("--ssh: a command is needed");
  if (find_program(words[0])) return;
  throw_input_error(
      "{} was not found in PATH: executors on other hosts are started by ssh (Debian and Ubuntu: apt "
      "install openssh-client)",
      words[0]);
}

}  // namespace podere::launch
