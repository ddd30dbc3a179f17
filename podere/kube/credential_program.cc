#include "podere/kube/credential_program.h"

#include <fmt/format.h>

#include <mutex>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/base/subprocess.h"
#include "podere/kube/expiry.h"
#include "podere/kube/object.h"

namespace podere::kube {
namespace {

constexpr double kTimeoutSeconds = 60;
constexpr std::size_t kMaxOutputBytes = 1U << 20;
/// A request that is on its way when credentials expire is refused.
constexpr std::chrono::seconds kRenewBeforeExpiry(10);

struct Output {
  std::string text;
  std::string last_error_line;
  int exit_code = 0;
};

Output run(const CredentialProgram& program) {
  Json info{{"apiVersion", program.api_version}, {"kind", "ExecCredential"}, {"spec", {{"interactive", false}}}};
  if (!program.cluster.empty()) info["spec"]["cluster"] = parse_object(program.cluster);
  CommandLine command{.argv = {program.command}, .environment = program.environment};
  command.argv.insert(command.argv.end(), program.arguments.begin(), program.arguments.end());
  command.environment.emplace_back("KUBERNETES_EXEC_INFO", info.dump());

  Subprocess process(command);
  process.close_input();
  Output output;
  const Stopwatch watch;
  while (!process.streams_ended() && watch.seconds() < kTimeoutSeconds) {
    const auto line = process.next_line(100);
    if (!line) continue;
    if (line->stream == Subprocess::Stream::kError) {
      output.last_error_line = line->text;
    } else if (output.text.size() + line->text.size() < kMaxOutputBytes) {
      output.text += line->text + "\n";
    } else {
      throw InputError("prints too much for credentials");
    }
  }
  const auto exit_code = process.wait(process.streams_ended() ? 1000 : 0);
  if (!exit_code) throw_input_error("does not end within {} s", kTimeoutSeconds);
  output.exit_code = *exit_code;
  return output;
}

class ProgramSource : public CredentialSource {
 public:
  explicit ProgramSource(CredentialProgram program) : program_(std::move(program)) {}

  Credentials current() override {
    const std::scoped_lock lock(mutex_);
    if (!kept_ || (kept_->expiry && *kept_->expiry < now() + kRenewBeforeExpiry)) kept_ = ask();
    return kept_->credentials;
  }

  bool refuse(const Credentials& refused) override {
    const std::scoped_lock lock(mutex_);
    const auto is_kept = [&] {
      return kept_ && kept_->credentials.token == refused.token &&
             kept_->credentials.certificate == refused.certificate;
    };
    if (is_kept()) kept_ = ask();
    return !is_kept();
  }

 private:
  /// With the lock: others wait for the same credentials.
  ProgramCredentials ask() const {
    const auto refuse_program = [&](const std::string& cause) {
      throw_input_error("{}: the program '{}' that gives credentials {}", program_.name, program_.command, cause);
    };
    if (!find_program(program_.command)) {
      const auto hint = program_.install_hint.empty() ? "" : ": " + printable_line(program_.install_hint, 200);
      refuse_program("is not there" + hint);
    }
    try {
      const Output output = run(program_);
      if (output.exit_code != 0) {
        throw_input_error("ended with exit code {}: {}", output.exit_code, printable_line(output.last_error_line, 200));
      }
      return read_exec_credential(output.text, program_.api_version);
    } catch (const Error& error) {
      refuse_program(error.what());
      throw;
    }
  }

  const CredentialProgram program_;
  std::mutex mutex_;
  std::optional<ProgramCredentials> kept_;
};

}  // namespace

ProgramCredentials read_exec_credential(const std::string& text, const std::string& api_version) {
  Json answer;
  try {
    answer = parse_object(text);
  } catch (const Error& error) {
    throw_input_error("prints what {}", error.what());
  }
  if (text_at(answer, {"kind"}) != "ExecCredential" || text_at(answer, {"apiVersion"}) != api_version) {
    throw_input_error("prints {} {} in place of ExecCredential {}", printable(text_at(answer, {"kind"})),
                      printable(text_at(answer, {"apiVersion"})), api_version);
  }
  const auto status = [&](const char* name) { return std::string(text_at(answer, {"status", name})); };
  ProgramCredentials given{{status("token"), status("clientCertificateData"), status("clientKeyData")}, {}};
  const auto& [token, certificate, key] = given.credentials;
  if (certificate.empty() != key.empty()) throw InputError("prints a certificate without its key, or a key alone");
  if (token.empty() && certificate.empty()) throw InputError("prints neither a token nor a certificate");
  if (token.find_first_of("\r\n") != std::string::npos) throw InputError("prints a token of several lines");
  if (!certificate.empty()) expiry_of_certificate(certificate);
  if (const std::string expiry = status("expirationTimestamp"); !expiry.empty()) {
    given.expiry = time_from_text(expiry);
    if (!given.expiry) throw_input_error("prints an expirationTimestamp that is no time: {}", printable(expiry));
  }
  return given;
}

std::shared_ptr<CredentialSource> make_credentials(CredentialProgram program) {
  return std::make_shared<ProgramSource>(std::move(program));
}

}  // namespace podere::kube
