// libFuzzer program of kubeconfig files and of what credential programs print. Each gives what it says or a refusal of
// one line. Anything else that is thrown ends the program.
#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "podere/base/error.h"
#include "podere/kube/credential_program.h"
#include "podere/kube/expiry.h"
#include "podere/kube/kubeconfig.h"

namespace {

namespace kube = podere::kube;

template <typename Read>
void check(const Read& read) {
  try {
    read();
  } catch (const podere::InputError& error) {
    const std::string_view message = error.what();
    if (!message.empty() && message.find_first_of("\n\r\x1b") == std::string_view::npos) return;
    fmt::print(stderr, "no line: {}\n", message);
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::string text(reinterpret_cast<const char*>(bytes), n);
  check([&] {
    kube::Kubeconfig config = kube::parse_kubeconfig(text, "/nowhere/config");
    for (auto& [name, user] : config.users) user.files = {};  // fuzzing reads no files
    for (auto& [name, cluster] : config.clusters) cluster.authority_file.clear();
    for (const auto& context : config.contexts) {
      check([&] { kube::access_of(config, context.first, ""); });
    }
    kube::access_of(config, "", "");
  });
  check([&] { kube::read_exec_credential(text, "client.authentication.k8s.io/v1"); });
  static_cast<void>(kube::expiry_of_token(text));
  return 0;
}
