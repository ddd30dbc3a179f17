#include "podere/kube/kubeconfig.h"

#include <fmt/format.h>

#include <span>

#include "podere/base/base64.h"
#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/kube/expiry.h"
#include "podere/kube/files.h"
#include "podere/kube/object.h"

namespace podere::kube {
namespace {

/// "user 'me' in FILE".
std::string entry_name(const char* kind, const std::string& name, const std::string& file) {
  return fmt::format("{} {} in {}", kind, printable(name), file);
}

/// The entry of a name that the user or another entry gave.
template <typename Entry>
const Entry& find(const std::map<std::string, Entry>& entries, const char* kind, const std::string& name,
                  const std::string& where) {
  const auto found = entries.find(name);
  if (found != entries.end()) return found->second;
  std::string names;
  for (const auto& [other, entry] : entries) names += (names.empty() ? "" : ", ") + printable_line(other, 80);
  throw_input_error("{}: there is no {} {}; there {}", where, kind, printable(name),
                    names.empty() ? "is none" : "are: " + printable_line(names, 300));
}

std::string decoded(const std::string& base64) {
  std::string text = base64;
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  const auto bytes = from_base64(text);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What `read` returns, whose InputErrors name the file.
template <typename Read>
std::string read_of(const std::string& entry, const char* field, const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw_input_error("{}: {}: {}", entry, field, error.what());
  }
}

std::string certificate_of(const std::string& entry, const char* field, const std::string& base64,
                           const std::string& file) {
  const std::string name = base64.empty() ? field : field + std::string("-data");
  return read_of(entry, name.c_str(), [&] {
    std::string pem = base64.empty() ? read_small_file(file) : decoded(base64);
    expiry_of_certificate(pem);
    return pem;
  });
}

std::string server_of(const Kubeconfig::Cluster& cluster, const std::string& entry) {
  std::string server = cluster.server;
  while (server.ends_with('/')) server.pop_back();
  const bool is_url = server.starts_with("https://") || server.starts_with("http://");
  if (server.empty()) throw_input_error("{}: names no server", entry);
  if (!is_url || server.find_first_of(" \t\r\n?#@") != std::string::npos) {
    throw_input_error("{}: {} is no server such as https://host:6443", entry, printable(cluster.server));
  }
  return server;
}

/// What a credential program may ask for: ExecCredential, spec.cluster.
std::string cluster_json(const Access& access) {
  Json cluster{{"server", access.server}};
  if (!access.tls_server_name.empty()) cluster["tls-server-name"] = access.tls_server_name;
  if (!access.proxy.empty()) cluster["proxy-url"] = access.proxy;
  if (access.is_unchecked) cluster["insecure-skip-tls-verify"] = true;
  if (!access.authority.empty()) {
    cluster["certificate-authority-data"] = to_base64(std::as_bytes(std::span(access.authority)));
  }
  return cluster.dump();
}

/// An access whose server is known gets credentials.
void identify(Access& access, const Kubeconfig::User& user, const std::string& entry) {
  if (!user.not_understood.empty()) {
    throw_input_error("{}: '{}' is not supported; allowed are client certificates, token, tokenFile and exec", entry,
                      user.not_understood.front());
  }
  access.impersonation = user.impersonation;
  if (!user.program.command.empty()) {
    CredentialProgram program = user.program;
    program.name = entry;
    if (user.provides_cluster) program.cluster = cluster_json(access);
    access.credentials = make_credentials(std::move(program));
    return;
  }
  const bool has_certificate = !user.certificate_base64.empty() || !user.files.certificate.empty();
  const bool has_key = !user.key_base64.empty() || !user.files.key.empty();
  if (has_certificate != has_key) {
    throw_input_error("{}: has a client {} without a client {}", entry, has_key ? "key" : "certificate",
                      has_key ? "certificate" : "key");
  }
  // What the kubeconfig itself has comes before files, but for tokens.
  CredentialFiles files = user.files;
  Credentials fixed{.token = trimmed(user.token)};
  if (has_certificate) {
    certificate_of(entry, "client-certificate", user.certificate_base64, user.files.certificate);
    if (!user.certificate_base64.empty()) {
      fixed.certificate = decoded(user.certificate_base64);
      files.certificate.clear();
    }
    if (!user.key_base64.empty()) {
      fixed.key = read_of(entry, "client-key-data", [&] { return decoded(user.key_base64); });
      files.key.clear();
    }
  }
  read_of(entry, "credentials", [&] {
    access.credentials = make_credentials(std::move(fixed), std::move(files));
    return "";
  });
}

}  // namespace

void Kubeconfig::add(Kubeconfig other) {
  files.insert(files.end(), other.files.begin(), other.files.end());
  if (current_context.empty()) current_context = std::move(other.current_context);
  clusters.merge(other.clusters);
  users.merge(other.users);
  contexts.merge(other.contexts);
}

Access access_of(const Kubeconfig& config, const std::string& context, const std::string& in_namespace) {
  const std::string where = fmt::format("{}", fmt::join(config.files, ":"));
  const std::string name = context.empty() ? config.current_context : context;
  if (name.empty()) {
    throw_input_error("{}: has no current-context; name one with --context or kubectl config use-context", where);
  }
  const auto& chosen = find(config.contexts, "context", name, where);
  const std::string chosen_name = entry_name("context", name, chosen.file);
  const auto& cluster = find(config.clusters, "cluster", chosen.cluster, chosen_name);
  const std::string cluster_name = entry_name("cluster", chosen.cluster, cluster.file);

  Access access{.server = server_of(cluster, cluster_name),
                .is_unchecked = cluster.is_unchecked,
                .tls_server_name = cluster.tls_server_name,
                .proxy = cluster.proxy,
                .origin = fmt::format("context {} of {}", printable(name), chosen.file)};
  if (!cluster.authority_base64.empty() || !cluster.authority_file.empty()) {
    if (access.is_unchecked) {
      throw_input_error("{}: has a certificate-authority and insecure-skip-tls-verify; allowed is one of them",
                        cluster_name);
    }
    access.authority =
        certificate_of(cluster_name, "certificate-authority", cluster.authority_base64, cluster.authority_file);
  }
  if (!chosen.in_namespace.empty()) access.in_namespace = chosen.in_namespace;
  if (!in_namespace.empty()) access.in_namespace = in_namespace;
  if (chosen.user.empty()) {
    access.credentials = make_credentials(Credentials{});
  } else {
    const auto& user = find(config.users, "user", chosen.user, chosen_name);
    identify(access, user, entry_name("user", chosen.user, user.file));
  }
  return access;
}

}  // namespace podere::kube
