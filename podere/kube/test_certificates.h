// Certificates of tests, made by the program openssl.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "podere/base/subprocess.h"
#include "podere/base/temporary_folder.h"
#include "podere/kube/files.h"

namespace podere::kube {

/// An authority, ca.crt and ca.key, and what it signs, in a folder that goes with this.
class TestCertificates {
 public:
  struct Options {
    std::string subject = "/CN=localhost";
    std::string alternative_name = {};  ///< such as "IP:127.0.0.1"
    std::string begin = {};             ///< and end, such as "20200101000000Z"; empty: a day from now on
    std::string end = {};
  };

  TestCertificates() : folder_(testing::TempDir()) {
    run({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj",
         "/CN=test-ca", "-keyout", path("ca.key"), "-out", path("ca.crt")});
  }

  std::string folder() const { return folder_.path().string(); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string pem(const std::string& name) const { return read_small_file(path(name)); }

  /// NAME.crt and NAME.key; the PEM of the former.
  std::string make(const std::string& name, const Options& options) {
    std::vector<std::string> request = {"req",
                                        "-newkey",
                                        "ec",
                                        "-pkeyopt",
                                        "ec_paramgen_curve:prime256v1",
                                        "-nodes",
                                        "-subj",
                                        options.subject,
                                        "-keyout",
                                        path(name + ".key"),
                                        "-out",
                                        path(name + ".csr")};
    if (!options.alternative_name.empty()) {
      request.insert(request.end(), {"-addext", "subjectAltName=" + options.alternative_name});
    }
    run(request);
    std::vector<std::string> sign = {"x509",
                                     "-req",
                                     "-in",
                                     path(name + ".csr"),
                                     "-CA",
                                     path("ca.crt"),
                                     "-CAkey",
                                     path("ca.key"),
                                     "-CAcreateserial",
                                     "-copy_extensions",
                                     "copyall",
                                     "-out",
                                     path(name + ".crt")};
    if (options.end.empty()) {
      sign.insert(sign.end(), {"-days", "1"});
      run(sign);
    } else {
      sign_between(name, options);
    }
    return pem(name + ".crt");
  }

 private:
  /// "openssl x509" of OpenSSL 3.0 knows days from now only.
  void sign_between(const std::string& name, const Options& options) {
    const std::string config = path("ca.conf");
    std::FILE* const file = std::fopen(config.c_str(), "w");
    fmt::print(file,
               "[ca]\ndefault_ca=d\n[d]\ndatabase={0}/index\nnew_certs_dir={0}\nrand_serial=yes\ndefault_md=sha256\n"
               "policy=p\ncopy_extensions=copyall\n[p]\ncommonName=supplied\n",
               folder());
    std::fclose(file);
    std::fclose(std::fopen(path("index").c_str(), "a"));
    run({"ca", "-batch", "-notext", "-config", config, "-in", path(name + ".csr"), "-cert", path("ca.crt"), "-keyfile",
         path("ca.key"), "-startdate", options.begin, "-enddate", options.end, "-out", path(name + ".crt")});
  }

  static void run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "openssl");
    Subprocess process({arguments});
    std::string message;
    while (!process.streams_ended()) {
      if (const auto line = process.next_line(1000)) message += line->text + "\n";
    }
    if (process.wait(10000) != 0) ADD_FAILURE() << message;
  }

  const TemporaryFolder folder_;
};

}  // namespace podere::kube
