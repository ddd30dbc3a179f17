#include "podere/kube/credentials.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/kube/expiry.h"
#include "podere/kube/files.h"

namespace podere::kube {
namespace {

constexpr double kReadAgainSeconds = 60;

class KeptCredentials : public CredentialSource {
 public:
  KeptCredentials(Credentials fixed, CredentialFiles files) : files_(std::move(files)), kept_(std::move(fixed)) {
    kept_ = read();
  }

  Credentials current() override {
    const std::scoped_lock lock(mutex_);
    if (has_files() && since_read_.seconds() > kReadAgainSeconds) read_again();
    return kept_;
  }

  bool refuse(const Credentials& refused) override {
    const std::scoped_lock lock(mutex_);
    if (has_files() && kept_.token == refused.token && kept_.certificate == refused.certificate) read_again();
    return kept_.token != refused.token || kept_.certificate != refused.certificate;
  }

 private:
  bool has_files() const { return !files_.token.empty() || !files_.certificate.empty() || !files_.key.empty(); }

  Credentials read() const {
    Credentials credentials = kept_;
    if (!files_.token.empty()) {
      credentials.token = trimmed(read_small_file(files_.token));
      if (credentials.token.empty()) throw_input_error("{}: holds no token", files_.token);
    }
    if (!files_.certificate.empty()) credentials.certificate = read_small_file(files_.certificate);
    if (!files_.key.empty()) credentials.key = read_small_file(files_.key);
    return credentials;
  }

  /// What was read last may hold still when the files are just being changed.
  void read_again() {
    since_read_.restart();
    try {
      kept_ = read();
    } catch (const InputError&) {
      // the server will say so if they do not
    }
  }

  const CredentialFiles files_;
  std::mutex mutex_;  // guards what follows
  Credentials kept_;
  Stopwatch since_read_;
};

}  // namespace

std::shared_ptr<CredentialSource> make_credentials(Credentials fixed, CredentialFiles files) {
  return std::make_shared<KeptCredentials>(std::move(fixed), std::move(files));
}

std::string fault_of(const Credentials& credentials) {
  const auto expired = [](const char* what, Time expiry) {
    return expiry < now() ? fmt::format("the {} expired on {}", what, to_text(expiry)) : std::string();
  };
  if (credentials.token.empty() && credentials.certificate.empty()) return "there is neither a token nor a certificate";
  if (!credentials.token.empty()) {
    const auto expiry = expiry_of_token(credentials.token);
    return expiry ? expired("token", *expiry) : "";
  }
  try {
    return expired("client certificate", expiry_of_certificate(credentials.certificate));
  } catch (const InputError& error) {
    return fmt::format("the client certificate {}", error.what());
  }
}

}  // namespace podere::kube
