// Where a cluster is, and who asks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podere/kube/credentials.h"

namespace podere::kube {

/// All that is needed to talk to an API server. Copies share their credentials.
struct Access {
  std::string server;           ///< "https://host:port", perhaps with a path; no slash at the end
  std::string authority;        ///< who may sign the server's certificate, PEM; empty: whom this machine trusts
  bool is_unchecked = false;    ///< the server's certificate is not verified
  std::string tls_server_name;  ///< name in the server's certificate; empty: the host
  std::string proxy;            ///< empty: as the environment says
  std::vector<std::string> impersonation;  ///< headers "Impersonate-...", to act as another user
  std::string in_namespace = "default";    ///< where the user works
  std::string origin;                      ///< for messages: "context 'kind' of ~/.kube/config"
  std::shared_ptr<CredentialSource> credentials;
};

struct AccessOptions {
  std::string kubeconfig = {};    ///< file, which has to be there; empty: as find_access() finds it
  std::string context = {};       ///< empty: the current one
  std::string in_namespace = {};  ///< empty: the context's, or "default"
};

/// What kubectl would use: the file named, else the files of KUBECONFIG (the first that says a thing is right; some
/// may be missing), else ~/.kube/config; in a pod without any of these its service account. Throws InputError: what is
/// wrong, where, and what to do.
Access find_access(const AccessOptions& options = {});

/// The service account of the pod in which this process runs. `folder` holds token, ca.crt and namespace.
Access pod_access(const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace podere::kube
